//! Chance that can be replayed.

use std::ops::Range;

/// splitmix64: small, and the same on every machine.
pub struct Dice(pub u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.roll() % (range.end - range.start)
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.within(0..from.len() as u64) as usize].clone()
    }

    pub fn one_in(&mut self, many: u64) -> bool {
        self.within(0..many) == 0
    }
}
