//! Dynamic memory allocation for code that runs on a GPU.
