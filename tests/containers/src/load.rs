//! What the examples that measure maps ask of them.

use rand::{Rng, rngs::SmallRng};

/// The logarithm of the number of keys, from the first argument, 24 without one; a complaint if it is none from 6 to 24.
///
/// # Errors
/// The argument is something else.
pub fn bits_of_keys() -> Result<u32, String> {
    let argument = std::env::args().nth(1);
    let bits = argument.map_or(Ok(24), |text| text.parse());
    let bits = bits.ok().filter(|bits| (6..=24).contains(bits));
    bits.ok_or_else(|| "give the log2 of the number of keys, 6 to 24".to_owned())
}

/// A number below `n`, number `k` with a probability in proportion to `1 / (k + 1)`: Zipf's law with exponent 1.
pub fn zipf(random: &mut SmallRng, n: usize) -> usize {
    const GAMMA: f64 = 0.577_215_664_901_532_9;
    let all = (n as f64).ln() + GAMMA;
    let sum = random.random::<f64>() * all;
    // The sum of 1/k is close to ln k + GAMMA from the first on: 1.0 against 0.98.
    let rank = (sum - GAMMA).exp().ceil() as usize;
    rank.clamp(1, n) - 1
}
