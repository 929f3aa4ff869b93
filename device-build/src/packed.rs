//! Images as programs embed them: compressed with gzip, since they are text or repeat themselves.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Compresses an image. The same bytes give the same bytes: no time, no file name. In a build script, which is not optimised, the
/// best compression takes nine times as long and saves a fifth.
pub fn pack(image: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let packed = encoder.write_all(image).and_then(|()| encoder.finish());
    // Writing into a vector cannot fail; an empty image would be refused by whoever loads it.
    packed.unwrap_or_default()
}

/// What [`pack`] compressed.
///
/// # Errors
/// The bytes are not of that form, or damaged.
pub fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut image = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut image)?;
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::{pack, unpack};

    #[test]
    fn images_survive_and_damage_is_noticed() {
        let image = b".version 6.2\n".repeat(100);
        let mut packed = pack(&image);
        assert!(packed.len() < image.len() / 4 && packed == pack(&image));
        assert_eq!(unpack(&packed).unwrap(), image);
        let middle = packed.len() / 2;
        packed[middle] ^= 1;
        assert!(unpack(&packed).is_err());
        assert!(unpack(&packed[..middle]).is_err());
    }
}
