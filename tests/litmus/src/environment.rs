//! How the launches of a test differ from each other: shapes of blocks, who tests, where words lie, what stress there is.
//!
//! No single environment shows all that a device can do, and which one shows most is not known before, so each launch has
//! another one.

use litmus_common::crew::Crew;
use warpheap::LaunchConfig;

/// Numbers as if by chance (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Dice(seed)
    }

    /// The next number.
    pub fn roll(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 32) as u32
    }

    /// One of these.
    pub fn one_of(&mut self, choices: &[u32]) -> u32 {
        choices[self.roll() as usize % choices.len()]
    }

    /// A factor and an addend that shuffle the numbers below `count`, and do not overflow for 2^20 of them.
    pub fn shuffle(&mut self, count: u32) -> (u32, u32) {
        let mut factor = self.roll() % 2039 + 1;
        while gcd(factor, count) != 1 {
            factor += 1;
        }
        (factor, self.roll() % count)
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The environment of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Environment {
    /// Blocks and their lanes.
    pub config: LaunchConfig,
    /// Who tests, and what the others do.
    pub crew: Crew,
}

/// The most steps of a lane that makes stress, for each round of those that test.
const STEPS: u32 = 64;

impl Environment {
    /// One in which so many lanes test, for about so many rounds. Testing blocks are whole.
    pub fn any(dice: &mut Dice, lanes: u32, rounds: u32, largest_block: u32) -> Self {
        let block_dim = dice.one_of(&[32, 64, 128, 256]).min(largest_block);
        let testers = lanes / block_dim;
        let stressers = testers * dice.one_of(&[0, 1, 2, 4, 8]) / 8;
        let grid_dim = testers + stressers;
        let (factor, shift) = dice.shuffle(grid_dim);
        Environment {
            config: LaunchConfig {
                grid_dim,
                block_dim,
            },
            crew: Crew {
                factor,
                shift,
                testers,
                lines: dice.one_of(&[1, 2, 4, 16, 64]),
                spacing: dice.one_of(&[32, 64, 128, 512, 1024]),
                pattern: dice.roll() % 8,
                bound: rounds.saturating_mul(STEPS),
                seed: dice.roll(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_one_place() {
        let mut dice = Dice::new(3);
        for _ in 0..200 {
            let environment = Environment::any(&mut dice, 4096, 8, 1024);
            let (grid, crew) = (environment.config.grid_dim, environment.crew);
            let mut places: Vec<u32> = (0..grid)
                .map(|block| (block * crew.factor + crew.shift) % grid)
                .collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..grid));
            assert_eq!(crew.testers * environment.config.block_dim, 4096);
        }
    }
}
