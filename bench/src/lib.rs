//! Scenarios and timing of warpheap.
