//! The text whose words are counted.

use std::path::Path;

/// Bytes of a text that is made up.
const MADE_UP: usize = 1 << 20;
/// Bytes that 32-bit indices of the kernel reach with room to spare.
const MOST: usize = 1 << 31;

/// The file that the program was called with, or a text that is made up.
///
/// # Errors
/// A sentence for the user if the arguments or the file are no good.
pub fn from_arguments() -> Result<Vec<u8>, String> {
    let mut arguments = std::env::args_os().skip(1);
    let file = arguments.next();
    if arguments.next().is_some() {
        return Err("at most one file: warpheap-word-count [FILE]".into());
    }
    let Some(file) = file else {
        return Ok(made_up());
    };
    let name = Path::new(&file).display();
    let text = std::fs::read(&file).map_err(|error| format!("cannot read {name}: {error}"))?;
    if let Some(at) = text.iter().position(|&byte| byte == 0) {
        return Err(format!("{name} is no text: byte {at} is zero"));
    }
    if text.len() > MOST {
        return Err(format!(
            "{name} has {} bytes; at most {MOST} can be counted",
            text.len()
        ));
    }
    Ok(text)
}

/// Words of two to four syllables; common ones as common as in a language, the n-th 1/n as often as the first.
fn made_up() -> Vec<u8> {
    const SYLLABLES: [&str; 16] = [
        "wa", "rp", "he", "ap", "lo", "mi", "sun", "te", "ka", "ro", "ne", "is", "du", "vi", "go",
        "el",
    ];
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize
    };
    let mut text = Vec::with_capacity(MADE_UP + 64);
    while text.len() < MADE_UP {
        // A power of two, then a number below it: that falls off as 1/n.
        let mut rank = (1 << (random() % 16)) + 15;
        rank += random() % rank;
        while rank > 0 {
            text.extend(SYLLABLES[rank % 16].bytes());
            rank /= 16;
        }
        text.extend(if random() % 10 == 0 { ". " } else { " " }.bytes());
    }
    text
}
