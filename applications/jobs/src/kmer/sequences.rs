//! DNA sequences as the kernel reads them.

use std::ops::Range;

/// Letters of the bases 0 to 3.
pub const LETTERS: [char; 4] = ['A', 'C', 'G', 'T'];

/// Sequences, one after the other, two bits for each base.
#[derive(Debug, Default)]
pub struct Sequences {
    /// Sixteen bases to a word, the first one in the lowest bits; with two words of padding.
    pub bases: Vec<u32>,
    /// A bit for each base that follows a break; with two words of padding, too.
    pub breaks: Vec<u32>,
    /// Number of bases.
    pub len: u32,
    /// Number of sequences.
    pub records: u32,
    /// Letters that stand for several bases, or for none that is known.
    pub unknown: u64,
}

/// Words behind the last that is needed: the kernel looks that far.
const PADDING: usize = 2;

/// What a letter stands for that is no base for certain; all above stands for none.
const UNKNOWN: u8 = 4;
/// What each letter of a file stands for.
const CODES: [u8; 256] = {
    let mut codes = [UNKNOWN + 1; 256];
    let known: [&[u8]; 5] = [b"A", b"C", b"G", b"TU", b"NRYSWKMBDHV"];
    let mut code = 0;
    while code < known.len() {
        let mut at = 0;
        while at < known[code].len() {
            let letter = known[code][at];
            codes[letter as usize] = code as u8;
            codes[letter.to_ascii_lowercase() as usize] = code as u8;
            at += 1;
        }
        code += 1;
    }
    codes
};

impl Sequences {
    /// Base `at`, 0 to 3.
    pub fn base(&self, at: u32) -> u32 {
        self.bases[at as usize / 16] >> (at % 16 * 2) & 3
    }

    /// Whether base `at` follows a break.
    pub fn follows_break(&self, at: u32) -> bool {
        self.breaks[at as usize / 32] >> (at % 32) & 1 != 0
    }

    /// Tells of the k-mers that begin at these places, in their order: the last base in the lowest bits. If they are `canonical`, a
    /// k-mer stands for its reverse complement, too.
    pub fn kmers(&self, k: u32, canonical: bool, places: Range<u32>, mut found: impl FnMut(u64)) {
        let mask = (1u64 << (2 * k)) - 1;
        let (mut forward, mut backward, mut run) = (0, 0, 0);
        let end = places.end.saturating_add(k - 1).min(self.len);
        for at in places.start..end {
            let base = u64::from(self.base(at));
            if self.follows_break(at) {
                run = 0;
            }
            run += 1;
            forward = (forward << 2 | base) & mask;
            backward = backward >> 2 | (3 - base) << (2 * (k - 1));
            if run >= k {
                found(match canonical {
                    true => forward.min(backward),
                    false => forward,
                });
            }
        }
    }

    /// Places at which a k-mer may begin.
    pub fn places(&self, k: u32) -> u32 {
        (self.len + 1).saturating_sub(k)
    }
}

/// Puts sequences together.
#[derive(Debug, Default)]
pub struct Builder {
    made: Sequences,
    /// Whether the next base follows a break.
    broken: bool,
}

impl Builder {
    /// Begins a sequence.
    pub fn begin(&mut self) {
        self.made.records += 1;
        self.broken = true;
    }

    /// Appends a base, 0 to 3.
    pub fn push(&mut self, base: u32) {
        let made = &mut self.made;
        let at = made.len;
        if at % 16 == 0 {
            made.bases.push(0);
        }
        if at % 32 == 0 {
            made.breaks.push(0);
        }
        made.bases[at as usize / 16] |= base << (at % 16 * 2);
        made.breaks[at as usize / 32] |= u32::from(self.broken) << (at % 32);
        made.len += 1;
        self.broken = false;
    }

    /// Appends a letter that is no base for certain.
    #[cfg(test)]
    pub fn unknown(&mut self) {
        self.made.unknown += 1;
        self.broken = true;
    }

    /// Number of bases so far.
    pub fn len(&self) -> u32 {
        self.made.len
    }

    /// Appends letters, of which those of several bases are unknown.
    ///
    /// # Errors
    /// The place of the first letter that stands for no base; those in front of it are there then.
    pub fn letters(&mut self, letters: &[u8]) -> Result<(), usize> {
        let made = &mut self.made;
        let mut len = made.len;
        // The last word, until it is full.
        let mut word = match len % 16 {
            0 => 0,
            _ => made.bases.pop().unwrap_or(0),
        };
        let mut wrong = None;
        for (at, letter) in letters.iter().enumerate() {
            let code = CODES[usize::from(*letter)];
            if code < UNKNOWN {
                if self.broken {
                    made.breaks.resize(len as usize / 32 + 1, 0);
                    made.breaks[len as usize / 32] |= 1 << (len % 32);
                    self.broken = false;
                }
                word |= u32::from(code) << (len % 16 * 2);
                len += 1;
                if len % 16 == 0 {
                    made.bases.push(word);
                    word = 0;
                }
            } else if code == UNKNOWN {
                made.unknown += 1;
                self.broken = true;
            } else {
                wrong = Some(at);
                break;
            }
        }
        if len % 16 != 0 {
            made.bases.push(word);
        }
        made.breaks.resize(len.div_ceil(32) as usize, 0);
        made.len = len;
        wrong.map_or(Ok(()), Err)
    }

    /// Appends `len` bases, with their breaks. There are no more than 32 bits count.
    fn append(&mut self, len: u32, bases: &[u32], breaks: &[u32]) {
        let at = u64::from(self.made.len);
        append_bits(&mut self.made.bases, 2 * at, bases, 2 * u64::from(len));
        append_bits(&mut self.made.breaks, at, breaks, len.into());
        if self.broken && len != 0 {
            self.made.breaks[at as usize / 32] |= 1 << (at % 32);
            self.broken = false;
        }
        self.made.len += len;
    }

    /// Appends all that another has put together. There are no more bases than 32 bits count.
    pub fn append_all(&mut self, other: &Builder) {
        let made = &other.made;
        self.append(made.len, &made.bases, &made.breaks);
        self.made.records += made.records;
        self.made.unknown += made.unknown;
        self.broken |= other.broken;
    }

    /// The sequences.
    pub fn finish(mut self) -> Sequences {
        for words in [&mut self.made.bases, &mut self.made.breaks] {
            words.resize(words.len() + PADDING, 0);
        }
        self.made
    }
}

/// Appends the first `count` bits of `more` to the first `len` bits of `words`, behind which there are zeros.
fn append_bits(words: &mut Vec<u32>, len: u64, more: &[u32], count: u64) {
    let (shift, needed) = (len % 32, (len + count).div_ceil(32) as usize);
    words.reserve(needed + 1 - words.len());
    match words.last_mut().filter(|_| shift != 0) {
        Some(last) => {
            let Some(first) = more.first() else {
                return;
            };
            *last |= first << shift;
            let behind = more[1..].iter().chain([&0]);
            let both = more.iter().zip(behind);
            words.extend(both.map(|(word, next)| word >> (32 - shift) | next << shift));
        }
        None => words.extend_from_slice(more),
    }
    words.truncate(needed);
}

/// A k-mer, the last base in the lowest bits, in letters.
pub fn letters(kmer: u64, k: u32) -> String {
    let base = |i: u32| LETTERS[(kmer >> (2 * i) & 3) as usize];
    (0..k).rev().map(base).collect()
}

/// All bases in letters.
#[cfg(test)]
pub fn letters_of(sequences: &Sequences) -> String {
    let letter = |at| LETTERS[sequences.base(at) as usize];
    (0..sequences.len).map(letter).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Sequences of these letters: a `|` begins the next one, other letters than ACGT are unknown.
    pub fn of(text: &str) -> Sequences {
        let mut builder = Builder::default();
        builder.begin();
        for letter in text.chars() {
            match LETTERS.iter().position(|&other| other == letter) {
                Some(base) => builder.push(base as u32),
                None if letter == '|' => builder.begin(),
                None => builder.unknown(),
            }
        }
        builder.finish()
    }

    #[test]
    fn bases_and_breaks_are_where_they_were_put() {
        let text = "ACGTNNTTGCA|".repeat(9);
        let sequences = of(&text);
        let known: Vec<char> = text.chars().filter(|c| LETTERS.contains(c)).collect();
        assert_eq!(sequences.len as usize, known.len());
        for (at, letter) in (0..).zip(known) {
            assert_eq!(LETTERS[sequences.base(at) as usize], letter, "{at}");
            assert_eq!(
                sequences.follows_break(at),
                at % 9 == 0 || at % 9 == 4,
                "{at}"
            );
        }
        assert_eq!((sequences.records, sequences.unknown), (10, 18));
        assert_eq!(sequences.bases.len(), 81usize.div_ceil(16) + PADDING);
        assert_eq!(sequences.breaks.len(), 81usize.div_ceil(32) + PADDING);
    }

    #[test]
    fn letters_begin_with_the_first_base() {
        assert_eq!(letters(0b00_01_10_11, 4), "ACGT");
        assert_eq!(letters(0b11, 3), "AAT");
    }

    #[test]
    fn short_sequences_have_no_places() {
        assert_eq!(of("ACGT").places(3), 2);
        assert_eq!(of("ACGT").places(4), 1);
        assert_eq!(of("ACGT").places(9), 0);
    }
}
