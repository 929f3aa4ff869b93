//! Something that can lie in a folder `prebuilt`.

use warpheap_build::Format;
use warpheap_build::stored::spirv::MAGIC;

/// An image without kernels, as it is stored.
pub fn stored_image(format: Format) -> Vec<u8> {
    match format {
        Format::Ptx => b".version 6.0\n".to_vec(),
        Format::Spirv => [MAGIC, &[0, 0, 0]].concat(),
    }
}
