//! Work and bytes of each rank.

/// What each of some ranks does and sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shares {
    /// K-mers, rows or edges of each rank.
    pub work: Vec<u64>,
    /// Bytes that each rank sends to others.
    pub sent: Vec<u64>,
    /// Bytes that each rank receives from others.
    pub received: Vec<u64>,
}

impl Shares {
    /// So many ranks that do nothing.
    pub(super) fn of(ranks: usize) -> Self {
        let nothing = || vec![0; ranks];
        Shares {
            work: nothing(),
            sent: nothing(),
            received: nothing(),
        }
    }

    /// Bytes that one rank sends to another; what it has for itself does not travel.
    pub(super) fn send(&mut self, from: usize, to: usize, bytes: u64) {
        if from != to {
            self.sent[from] += bytes;
            self.received[to] += bytes;
        }
    }

    /// Work of all ranks.
    pub fn all(&self) -> u64 {
        self.work.iter().sum()
    }

    /// The most work of a rank over the mean; 1 without any work.
    pub fn balance(&self) -> f64 {
        over_mean(&self.work)
    }

    /// Bytes that the busiest rank sends or receives, for each piece of work of a mean rank.
    pub fn bytes_each(&self) -> f64 {
        let most = |bytes: &[u64]| bytes.iter().max().copied().unwrap_or(0);
        let most = most(&self.sent).max(most(&self.received));
        most as f64 * self.work.len() as f64 / self.all().max(1) as f64
    }
}

fn over_mean(numbers: &[u64]) -> f64 {
    let (most, sum) = (numbers.iter().max(), numbers.iter().sum::<u64>());
    match (most, sum) {
        (None, _) | (_, 0) => 1.0,
        (Some(&most), sum) => most as f64 * numbers.len() as f64 / sum as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_rank_over_the_mean() {
        let mut shares = Shares::of(4);
        assert_eq!((shares.balance(), shares.bytes_each()), (1.0, 0.0));
        shares.work = vec![1, 1, 4, 2];
        shares.send(1, 2, 30);
        shares.send(0, 2, 10);
        shares.send(2, 2, 1000);
        assert_eq!(shares.balance(), 2.0);
        assert_eq!(shares.received, [0, 0, 40, 0]);
        assert_eq!(shares.bytes_each(), 20.0);
    }
}
