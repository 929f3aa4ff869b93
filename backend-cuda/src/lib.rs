//! The CUDA backend of warpheap.
