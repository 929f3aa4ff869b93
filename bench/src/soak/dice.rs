//! Random numbers that a seed repeats.

/// A sequence of random numbers: SplitMix64.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Dice(seed)
    }

    /// A sequence of its own for whoever has this number.
    pub fn of(seed: u64, number: u64) -> Self {
        Dice(Dice(seed ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93)).number())
    }

    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`; 0 for 0.
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.number() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// A number from `least` to `most`, each doubling as often as the others.
    pub fn skewed(&mut self, least: u32, most: u32) -> u32 {
        let (least, most) = (least.max(1), most.max(least).max(1));
        let doublings = most.ilog2() - least.ilog2() + 1;
        let begin = 1 << (least.ilog2() + self.below(doublings));
        (begin + self.below(begin)).clamp(least, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_numbers_and_others_have_others() {
        let draw = |mut dice: Dice| [(); 20].map(|()| dice.below(1000));
        assert_eq!(draw(Dice::new(7)), draw(Dice::new(7)));
        assert_ne!(draw(Dice::new(7)), draw(Dice::new(8)));
        assert_ne!(draw(Dice::of(7, 0)), draw(Dice::of(7, 1)));
    }

    #[test]
    fn numbers_lie_in_their_range_and_reach_all_of_it() {
        let mut dice = Dice::new(1);
        let mut seen = [0u32; 6];
        (0..600).for_each(|_| seen[dice.below(6) as usize] += 1);
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
        assert_eq!(dice.below(0), 0);
        let skewed: Vec<u32> = (0..2000).map(|_| dice.skewed(10, 5000)).collect();
        assert!(skewed.iter().all(|number| (10..=5000).contains(number)));
        let small = skewed.iter().filter(|&&number| number < 64).count();
        assert!((300..900).contains(&small), "{small} of 2000 are small");
        assert!(skewed.iter().any(|&number| number > 4000));
        assert_eq!(dice.skewed(0, 0), 1);
    }
}
