//! Images as they lie beside their sources: so that git can store a new version as its difference from the old one.
//!
//! Git stores what it knows byte by byte from another file once. A compressed file has no byte in common with its next
//! version, so each of them weighs as much as the first. PTX therefore lies there as the text that it is. SPIR-V has a form
//! of its own ([`spirv`]), since a module numbers its values from its beginning to its end: one instruction more, and every
//! number behind it is another.
//!
//! Builds take images from there, and embed them [packed](crate::pack).

pub mod spirv;

use std::io;

use crate::format::Format;

/// What follows the name of an image in the name of its file.
pub const fn extension(format: Format) -> &'static str {
    match format {
        Format::Ptx => "ptx",
        Format::Spirv => "spv.rel",
    }
}

/// The image that was stored as these bytes.
///
/// # Errors
/// They are not of the form in which images of this format are stored.
pub fn restore(format: Format, stored: Vec<u8>) -> io::Result<Vec<u8>> {
    match format {
        Format::Ptx => Ok(stored),
        Format::Spirv => spirv::restore(&stored),
    }
}
