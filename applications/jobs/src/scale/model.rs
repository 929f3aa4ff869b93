//! Times of a rank: rates that were measured on one device, and assumptions about what is between devices.
//!
//! The rank with most work and the one with most bytes decide, since all wait for all.

use super::Shares;

/// What a device does in a second, as it was measured, and what a job of ranks needs besides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// What it is.
    pub name: &'static str,
    /// Pieces of work that a device does in a second.
    pub rate: f64,
    /// Pieces of work of each device, where each device has as many.
    pub weak: f64,
    /// Pieces of work of all devices, where they share them.
    pub strong: f64,
    /// Seconds of a device for a piece of work that it cuts, if there are several ranks.
    pub cut: f64,
    /// Whether the exchange is in rounds.
    pub rounds: bool,
    /// Whether the device works beside the exchange, and not behind it.
    pub beside: bool,
}

/// K-mers, k = 31: 173 million in 18.4 ms on one H200 (`docs/results/programs.md`, k = 21).
pub const KMERS: Job = Job {
    name: "k-mers",
    rate: 173.3e6 / 18.4e-3,
    weak: 2e9,
    strong: 64e9,
    // 200 million by each of four ranks in 9.9 ms (`docs/results/several.md`).
    cut: 9.9e-3 / 200e6,
    rounds: true,
    beside: true,
};

/// Rows of both tables: 2 x 10,485,760 in 1.59 + 0.30 + 0.97 ms on one H200: partition and build (`docs/results/applications.md`), probe
/// with `WarpHeap` (`docs/results/programs.md`).
pub const JOIN: Job = Job {
    name: "join",
    rate: 2.0 * 10_485_760.0 / (1.59e-3 + 0.30e-3 + 0.969e-3),
    weak: 400e6,
    strong: 12.8e9,
    // 200 million by each of four ranks in 3.9 ms (`docs/results/several.md`).
    cut: 3.9e-3 / 200e6,
    rounds: true,
    beside: false,
};

/// An iteration of PageRank: 16,083,804 edges 20 times in 6.81 ms on one H200 (`docs/results/applications.md`).
pub const PAGE_RANK: Job = Job {
    name: "PageRank",
    rate: 20.0 * 16_083_804.0 / 6.81e-3,
    weak: 1e9,
    strong: 32e9,
    cut: 0.0,
    rounds: false,
    beside: false,
};

/// How bytes go from device to device. None of it was measured here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Way {
    /// What it is.
    pub name: &'static str,
    /// Bytes in a second from one device to others: 400 Gb/s a device.
    pub network: f64,
    /// Bytes in a second between a device and its host, in either direction; infinite if bytes do not go there.
    pub host: f64,
    /// Bytes in a second that the host packs and unpacks; infinite if it does not.
    pub packs: f64,
    /// Seconds for a message, beside its bytes.
    pub message: f64,
    /// Pieces of work of a round.
    pub round: f64,
}

/// As it is without NCCL: bytes go through the host's memory, which is not pinned, and the host packs and unpacks them.
pub const STAGED: Way = Way {
    name: "through the host",
    network: 50e9,
    host: 12e9,
    packs: 10e9,
    message: 2e-6,
    round: (1 << 20) as f64,
};

/// Through pinned memory of the host, into which the device packs, in the longest rounds that there are.
pub const PINNED: Way = Way {
    name: "through pinned memory",
    host: 50e9,
    packs: f64::INFINITY,
    round: (1 << 24) as f64,
    ..STAGED
};

/// From device to device, as it is with NCCL.
pub const DIRECT: Way = Way {
    name: "direct",
    host: f64::INFINITY,
    ..PINNED
};

/// All ways.
pub const WAYS: [Way; 3] = [STAGED, PINNED, DIRECT];

/// Seconds of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// Of the device with most work, which also cuts.
    pub work: f64,
    /// To exchange, of the rank with most bytes.
    pub exchange: f64,
    /// Both: the longer of the two if they are done at the same time, and otherwise their sum.
    pub both: f64,
}

impl Job {
    /// Seconds where each rank has `work` pieces on average, shared out in the manner of `shares`.
    pub fn times(&self, shares: &Shares, work: f64, way: &Way) -> Times {
        let ranks = shares.work.len() as f64;
        let bytes = work * shares.bytes_each();
        let each = 1.0 / way.network + 2.0 / way.host + 2.0 / way.packs;
        let rounds = if self.rounds {
            (work / way.round).ceil()
        } else {
            1.0
        };
        let exchange = bytes * each + rounds * (ranks - 1.0) * way.message;
        let cut = if ranks > 1.0 { work * self.cut } else { 0.0 };
        let work = cut + work * shares.balance() / self.rate;
        let both = match self.beside {
            true => work.max(exchange),
            false => work + exchange,
        };
        Times {
            work,
            exchange,
            both,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_busiest() {
        let mut shares = Shares::of(2);
        shares.work = vec![30, 10];
        shares.send(0, 1, 80);
        let job = Job {
            rate: 1e9,
            cut: 1e-10,
            ..KMERS
        };
        let way = |of: Way| Way { round: 1e6, ..of };
        let times = job.times(&shares, 4e6, &way(DIRECT));
        // Four million are cut.
        assert!((times.work - 6.4e-3).abs() < 1e-9, "{times:?}");
        // Four bytes for a piece of work, four rounds of a message each.
        assert!((times.exchange - (16e6 / 50e9 + 8e-6)).abs() < 1e-9);
        let slower = job.times(&shares, 4e6, &way(STAGED)).exchange;
        assert!((slower - (16e6 * (0.02e-9 + 2.0 / 12e9 + 0.2e-9) + 8e-6)).abs() < 1e-9);
        assert_eq!(times.both, times.work.max(times.exchange));
        let in_turn = Job {
            beside: false,
            ..job
        }
        .times(&shares, 4e6, &way(DIRECT));
        assert_eq!(in_turn.both, times.work + times.exchange);
        let alone = Shares {
            work: vec![5],
            ..Shares::of(1)
        };
        let times = job.times(&alone, 4e6, &STAGED);
        assert_eq!((times.exchange, times.work), (0.0, 4e-3));
    }
}
