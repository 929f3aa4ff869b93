//! The two kinds of device code that a device crate is compiled to.

use std::fmt;

/// A kind of device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// PTX text, which the CUDA driver compiles for its GPU.
    Ptx,
    /// A SPIR-V module for Vulkan 1.2.
    Spirv,
}

impl Format {
    /// Both formats.
    pub const ALL: [Format; 2] = [Format::Ptx, Format::Spirv];

    /// The file extension of an image, without the dot; also its key in `prebuilt/manifest.json`.
    pub const fn extension(self) -> &'static str {
        match self {
            Format::Ptx => "ptx",
            Format::Spirv => "spv",
        }
    }

    /// The cargo feature of a device crate that asks for this format.
    pub const fn feature(self) -> &'static str {
        match self {
            Format::Ptx => "cuda",
            Format::Spirv => "vulkan",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::Ptx => "PTX",
            Format::Spirv => "SPIR-V",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn names_stand_in_columns() {
        assert_eq!(format!("{:<6}|", Format::Ptx), "PTX   |");
        assert_eq!(format!("{:<6}|", Format::Spirv), "SPIR-V|");
    }
}
