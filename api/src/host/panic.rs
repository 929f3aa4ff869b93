//! Lanes of a kernel that panicked.

use crate::abi;
use std::fmt;
use std::string::{String, ToString};
use std::vec::Vec;

/// Lanes of a kernel panicked. They ended; the others went on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelPanic {
    /// Entry point of the kernel; of launches that ran together and could not be told apart all of them.
    pub kernel: String,
    /// What the lane that panicked first said.
    pub message: String,
    /// The source file; empty if it is not known.
    pub file: String,
    /// Line in the file, from 1; 0 if it is not known.
    pub line: u32,
    /// Column in the line, from 1; 0 if it is not known.
    pub column: u32,
    /// Block index of that lane.
    pub block: u32,
    /// Index of that lane inside its block.
    pub lane: u32,
    /// Number of lanes that panicked. The emulator stops at the first.
    pub lanes: u32,
    /// How to see the same again, if a backend knows; else empty.
    pub replay: String,
}

impl KernelPanic {
    /// What the words of a panic report tell, if they tell of a panic. See [`abi::PANIC_REPORT`].
    pub fn from_words(kernel: &str, words: &[u32; abi::PANIC_WORDS]) -> Option<Self> {
        let text = |first: usize, room: usize, len: u32| {
            let bytes: Vec<u8> = words[first..first + room / 4]
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .take(len as usize)
                .collect();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let message_len = words[abi::PANIC_TEXT_LEN];
        let mut message = text(abi::PANIC_TEXT, abi::PANIC_TEXT_BYTES, message_len);
        if message_len as usize > abi::PANIC_TEXT_BYTES {
            message.push_str(" ...");
        }
        (words[abi::PANIC_LANES] != 0).then(|| KernelPanic {
            kernel: kernel.to_string(),
            message,
            file: text(
                abi::PANIC_FILE,
                abi::PANIC_FILE_BYTES,
                words[abi::PANIC_FILE_LEN],
            ),
            line: words[abi::PANIC_LINE],
            column: words[abi::PANIC_LINE + 1],
            block: words[abi::PANIC_BLOCK],
            lane: words[abi::PANIC_LANE],
            lanes: words[abi::PANIC_LANES],
            replay: String::new(),
        })
    }
}

impl fmt::Display for KernelPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KernelPanic {
            kernel,
            message,
            file,
            line,
            column,
            block,
            lane,
            lanes,
            replay,
        } = self;
        write!(
            f,
            "kernel {kernel}, block {block}, lane {lane}: panic in device code: {message}"
        )?;
        if !file.is_empty() {
            write!(f, " ({file}:{line}:{column})")?;
        }
        if *lanes > 1 {
            write!(f, "; {lanes} lanes panicked")?;
        }
        f.write_str(replay)
    }
}

impl std::error::Error for KernelPanic {}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(words: &mut [u32], first: usize, text: &str) {
        for (i, byte) in text.bytes().enumerate() {
            words[first + i / 4] |= (byte as u32) << (i % 4 * 8);
        }
    }

    #[test]
    fn words_become_the_panic_that_they_tell_of() {
        let mut words = [0; abi::PANIC_WORDS];
        assert_eq!(KernelPanic::from_words("k", &words), None);
        words[abi::PANIC_LANES] = 3;
        words[abi::PANIC_BLOCK] = 7;
        words[abi::PANIC_LANE] = 99;
        words[abi::PANIC_LINE] = 12;
        words[abi::PANIC_LINE + 1] = 5;
        words[abi::PANIC_FILE_LEN] = 10;
        put(&mut words, abi::PANIC_FILE, "src/lib.rs");
        words[abi::PANIC_TEXT_LEN] = 7;
        put(&mut words, abi::PANIC_TEXT, "no luck");
        let panic = KernelPanic::from_words("k", &words).expect("a panic");
        assert_eq!(
            panic.to_string(),
            "kernel k, block 7, lane 99: panic in device code: no luck (src/lib.rs:12:5); 3 lanes panicked"
        );
    }

    #[test]
    fn long_messages_are_cut_and_say_so() {
        let mut words = [0x6161_6161; abi::PANIC_WORDS];
        words[abi::PANIC_LANES] = 1;
        words[abi::PANIC_FILE_LEN] = 0;
        words[abi::PANIC_TEXT_LEN] = abi::PANIC_TEXT_BYTES as u32 + 1;
        let text = KernelPanic::from_words("k", &words)
            .expect("a panic")
            .to_string();
        assert!(text.ends_with("aaaa ..."), "{text}");
        assert_eq!(
            text.matches('a').count(),
            abi::PANIC_TEXT_BYTES + "lane panic".matches('a').count()
        );
        words[abi::PANIC_TEXT_LEN] = abi::PANIC_TEXT_BYTES as u32;
        let whole = KernelPanic::from_words("k", &words).expect("a panic");
        assert!(whole.message.ends_with("aaaa"), "{}", whole.message);
    }
}
