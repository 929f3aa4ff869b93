//! One image, compiled in its format.

use crate::device_crate::DeviceCrate;
use crate::error::BuildError;
use crate::format::Format;
use crate::ptx::compile_ptx;
use crate::spirv::compile_spirv;
use crate::toolchain::Toolchain;

/// Compiles `krate` to an image of this format.
pub(crate) fn compile(
    krate: &DeviceCrate,
    format: Format,
    toolchain: &Toolchain,
) -> Result<Vec<u8>, BuildError> {
    match format {
        Format::Ptx => compile_ptx(krate, toolchain).map(String::into_bytes),
        Format::Spirv => compile_spirv(krate, toolchain),
    }
}
