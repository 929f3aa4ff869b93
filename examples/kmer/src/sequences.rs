//! The sequences whose k-mers are counted: a base for each byte, 0 to 3, and [`GAP`] between.

use warpheap_kmer::GAP;

/// Bases that are made up.
const MADE_UP: usize = 1 << 19;
/// Bytes that 32-bit indices of the kernel reach with room to spare.
const MOST: usize = 1 << 31;

/// Reads a FASTA file: lines that begin with `>` begin a sequence, all others hold letters. Those other than A,
/// C, G and T (or U) are gaps.
///
/// # Errors
/// A sentence for the user if the file cannot be read or is no FASTA.
pub fn read(file: &str) -> Result<Vec<u8>, String> {
    let text = std::fs::read(file).map_err(|error| format!("cannot read {file}: {error}"))?;
    if text.first() != Some(&b'>') {
        return Err(format!(
            "{file} is no FASTA file: it does not begin with `>`"
        ));
    }
    if text.len() > MOST {
        return Err(format!(
            "{file} has {} bytes; at most {MOST} can be read",
            text.len()
        ));
    }
    let mut bases = Vec::with_capacity(text.len());
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        if line.starts_with(b">") {
            bases.push(GAP as u8);
            continue;
        }
        for letter in line.trim_ascii_end() {
            bases.push(match letter.to_ascii_uppercase() {
                b'A' => 0,
                b'C' => 1,
                b'G' => 2,
                b'T' | b'U' => 3,
                b'B'..=b'Y' => GAP as u8,
                _ => {
                    let letter = letter.escape_ascii();
                    return Err(format!("{file}:{number}: `{letter}` stands for no base"));
                }
            });
        }
    }
    Ok(bases)
}

/// A random sequence in which a short piece comes again and again, like the repeats of a genome.
pub fn made_up() -> Vec<u8> {
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize
    };
    let repeat: Vec<u8> = (0..300).map(|_| (random() % 4) as u8).collect();
    let mut bases = Vec::with_capacity(MADE_UP + repeat.len());
    while bases.len() < MADE_UP {
        for _ in 0..random() % 6000 {
            bases.push((random() % 4) as u8);
        }
        match random() % 8 {
            0 => bases.push(GAP as u8),
            _ => bases.extend(&repeat),
        }
    }
    bases
}
