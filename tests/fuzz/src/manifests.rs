//! Manifests of prebuilt images.

use super::file::Temporary;
use warpheap_build::{Format, Manifest, prebuilt};

/// The bytes are a `manifest.json`.
pub fn run(bytes: &[u8]) {
    let file = Temporary::new("manifest.json", bytes);
    let folder = file.folder();
    let manifest = match Manifest::read(folder) {
        Ok(manifest) => manifest,
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains("manifest.json"), "no file: {message}");
            return;
        }
    };
    // What is not there is said, whatever the manifest calls it.
    for format in Format::ALL {
        let taken = prebuilt::take(folder, "a", format, "s");
        let taken = taken.expect("the manifest can be read");
        assert!(manifest.get("a", format).is_some() || taken.is_err());
    }
    manifest.write(folder).expect("it can be written");
    let again = Manifest::read(folder).expect("what was written");
    assert_eq!(again, manifest);
    let written = std::fs::read(&file.path).expect("it was written");
    again.write(folder).expect("it can be written");
    assert_eq!(std::fs::read(&file.path).expect("it was written"), written);
}
