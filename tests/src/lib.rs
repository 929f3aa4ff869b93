//! The conformance suite of warpheap.
