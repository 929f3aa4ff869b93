//! The hash that names contents: SHA-256, in hex.

use hmac_sha256::Hash;

/// The hash of some bytes.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut hasher = Hasher::default();
    hasher.0.update(bytes);
    hasher.finish()
}

/// The hash of a list of parts.
#[derive(Default)]
pub(crate) struct Hasher(Hash);

impl Hasher {
    /// Adds a part with its length, so that no two lists of parts run together to the same bytes.
    pub(crate) fn add(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// The hash of what was added.
    pub(crate) fn finish(self) -> String {
        let digest = self.0.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        let of = |parts: &[&str]| {
            let mut hasher = Hasher::default();
            parts.iter().for_each(|part| hasher.add(part.as_bytes()));
            hasher.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(
            sha256(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
