//! What the kernels of the litmus tests share.
//!
//! | module | what |
//! |---|---|
//! | [`numbers`] | numbers as if by chance |
//! | [`crew`] | which lanes test and which make stress |
//! | [`stress`] | lanes that hammer other lines |
//! | [`example`] | the first forbidden outcome of a launch |
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

pub mod crew;
pub mod example;
pub mod numbers;
pub mod stress;
