//! Counts the words of a text in a hash map on the best device that is there, and shows the most common
//! ones: `cargo run --release -p warpheap-word-count -- FILE`; without a file, of a text that is made up.
//! `--features cuda` or `--features vulkan` for a GPU; `WARPHEAP_BACKEND=host` chooses another device.
//!
//! A word is a run of ASCII letters, digits, apostrophes, and bytes of letters beyond ASCII; capital letters of
//! ASCII count as small ones. Words of more than 32 bytes are left out, and it is said how many.

mod text;

use std::collections::HashMap;
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;
use warpheap::{Device, DeviceHashMap, DeviceVec, LaunchConfig, Pool};
use warpheap_word_count::{LONGEST, Word, in_word};

/// Words that are shown.
const SHOWN: usize = 10;
/// Lanes of the launch, if there are as many bytes.
const LANES: usize = 1 << 20;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let text = text::from_arguments()?;
    let device = Device::open()?;
    println!("device: {} ({})", device.info().name, device.info().backend);

    // Half of the bytes could begin a word, but not all of these words differ.
    let pool: Pool = device.reserve((16 << 20) + 32 * text.len() as u64)?;
    let map = DeviceHashMap::<Word, u32, _>::new(&pool, 12)?; // a root for 4096 words; it grows
    let too_long = DeviceVec::<u32>::zeroed(&device, 1)?;
    let packed = DeviceVec::from_slice(&device, &packed(&text))?;
    let kernels = warpheap_word_count::load(&device)?;
    let shape = LaunchConfig::for_num_elems(text.len().min(LANES) as u32);

    let started = Instant::now();
    kernels.count_words(&pool, shape, map.map(), &packed, &too_long)?;
    println!("counted: {} bytes in {:.1?}", text.len(), started.elapsed());
    println!("{}", pool.stats()?);

    let counts: HashMap<String, u32> = map
        .to_vec()?
        .into_iter()
        .map(|(word, count)| (readable(word), count))
        .collect();
    drop(map); // frees what it had in the heap
    let left = pool.stats()?.usage.used_bytes;
    if left != 0 {
        return Err(format!("{left} bytes are still in use").into());
    }

    check(&counts, too_long.to_vec()?[0], &text)?;
    show(&counts);
    Ok(())
}

/// Four bytes to a word, and at least one zero behind the last.
fn packed(text: &[u8]) -> Vec<u32> {
    let mut bytes = text.to_vec();
    bytes.resize((text.len() + 1).next_multiple_of(4), 0);
    let word = |four: &[u8]| {
        four.iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u32::from(byte))
    };
    bytes.chunks(4).map(word).collect()
}

/// A key of the map as text.
fn readable(word: Word) -> String {
    let bytes: Vec<u8> = word
        .packed
        .iter()
        .flat_map(|four| four.to_le_bytes())
        .collect();
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Compares with a map of `std` that the CPU fills.
fn check(counts: &HashMap<String, u32>, too_long: u32, text: &[u8]) -> Result<(), String> {
    let mut expected = HashMap::new();
    let mut left_out = 0;
    for word in text.split(|&byte| !in_word(byte.into())) {
        if word.len() > LONGEST as usize {
            left_out += 1;
        } else if !word.is_empty() {
            let word = String::from_utf8_lossy(&word.to_ascii_lowercase()).into_owned();
            *expected.entry(word).or_insert(0) += 1;
        }
    }
    if too_long != left_out {
        return Err(format!("{too_long} words are too long, not {left_out}"));
    }
    if too_long != 0 {
        println!("left out: {too_long} words of more than {LONGEST} bytes");
    }
    for (word, &count) in &expected {
        let got = counts.get(word).copied().unwrap_or(0);
        if got != count {
            return Err(format!("`{word}` was counted {got} times, not {count}"));
        }
    }
    if counts.len() != expected.len() {
        return Err(format!(
            "{} different words, not {}",
            counts.len(),
            expected.len()
        ));
    }
    let words: u64 = counts.values().map(|&count| u64::from(count)).sum();
    println!(
        "all {words} words, {} different ones, are counted right",
        counts.len()
    );
    Ok(())
}

/// Shows the most common words, equal ones in the order of the alphabet.
fn show(counts: &HashMap<String, u32>) {
    let mut order: Vec<(&String, &u32)> = counts.iter().collect();
    order.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    for (word, count) in order.iter().take(SHOWN) {
        println!("{count:>10}  {word}");
    }
}
