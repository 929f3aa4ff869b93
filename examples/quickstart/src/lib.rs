//! The smallest program that allocates in a kernel.
