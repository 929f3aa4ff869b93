//! The Vulkan backend of warpheap.
