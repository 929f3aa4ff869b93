//! A trace as tables: what was asked for by each kernel, and in each size.

use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use warpheap::{Trace, TraceCall};

/// What a trace tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Name of the allocator.
    pub allocator: String,
    /// Whether times are nanoseconds; otherwise they are numbers of events.
    pub clock: bool,
    /// Number of events.
    pub events: u64,
    /// Events that were lost: counts are too low, and blocks whose free was lost seem live.
    pub lost: u64,
    /// All of it.
    pub all: Row,
    /// By kernel, in the order in which they first asked. Blocks belong to the kernel that asked for them.
    pub kernels: Vec<(String, Row)>,
    /// By size: the least power of two that is no less, 16 at least; the most that there is for what has none.
    pub sizes: Vec<(u64, Row)>,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Blocks that were handed out.
    pub mallocs: u64,
    /// Blocks that were given back.
    pub frees: u64,
    /// Blocks that were resized to this size.
    pub resizes: u64,
    /// Requests that failed.
    pub failures: u64,
    /// Bytes of blocks that were handed out, or resized to this size.
    pub bytes: u64,
    /// Bytes of blocks in use at the end.
    pub live_bytes: u64,
    /// The most bytes in use.
    pub peak_bytes: u64,
    /// Blocks that ended: by a free, a resizing or a reset.
    pub ended: u64,
    /// The sum of their times in use.
    pub lifetime: u64,
}

impl Row {
    /// How long a block was in use, in the middle of those that ended.
    pub fn mean_lifetime(&self) -> Option<u64> {
        self.lifetime.checked_div(self.ended)
    }

    fn begin(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.live_bytes = self.live_bytes.saturating_add(bytes);
        self.peak_bytes = self.peak_bytes.max(self.live_bytes);
    }

    fn end(&mut self, block: Block, time: u64) {
        self.live_bytes = self.live_bytes.saturating_sub(block.bytes);
        self.ended += 1;
        let lifetime = time.saturating_sub(block.since);
        self.lifetime = self.lifetime.saturating_add(lifetime);
    }
}

/// A block in use.
#[derive(Clone, Copy)]
struct Block {
    bytes: u64,
    since: u64,
    kernel: usize,
}

/// The size class of a request. One that fails can be of any number of bytes, even of more than any power of two has.
fn class(bytes: u64) -> u64 {
    let class = bytes.max(16).checked_next_power_of_two();
    class.unwrap_or(u64::MAX)
}

/// Counts what is in a trace.
struct Count {
    all: Row,
    kernels: Vec<(String, Row)>,
    sizes: BTreeMap<u64, Row>,
    live: HashMap<u32, Block>,
}

impl Count {
    /// The row of a kernel, by its name.
    fn kernel(&mut self, name: &str) -> usize {
        let known = self.kernels.iter().position(|(known, _)| known == name);
        known.unwrap_or_else(|| {
            self.kernels.push((name.to_owned(), Row::default()));
            self.kernels.len() - 1
        })
    }

    /// Changes the rows of a kernel and of a size, and that of all.
    fn each(&mut self, kernel: usize, bytes: u64, change: impl Fn(&mut Row)) {
        change(&mut self.all);
        if let Some((_, row)) = self.kernels.get_mut(kernel) {
            change(row);
        }
        change(self.sizes.entry(class(bytes)).or_default());
    }

    fn end(&mut self, granule: u32, time: u64) {
        if let Some(block) = self.live.remove(&granule) {
            self.each(block.kernel, block.bytes, |row| row.end(block, time));
        }
    }
}

impl Summary {
    /// What a trace tells.
    pub fn new(trace: &Trace) -> Self {
        let mut count = Count {
            all: Row::default(),
            kernels: Vec::new(),
            sizes: BTreeMap::new(),
            live: HashMap::new(),
        };
        for event in &trace.events {
            let name = trace.launches.get(event.launch as usize);
            let kernel = count.kernel(name.map_or("?", String::as_str));
            let (time, bytes, granule) = (event.time, event.bytes, event.granule);
            match event.call {
                TraceCall::Malloc | TraceCall::ResizedTo => {
                    // One whose free was lost.
                    count.end(granule, time);
                    let block = Block {
                        bytes,
                        since: time,
                        kernel,
                    };
                    count.live.insert(granule, block);
                    let malloc = event.call == TraceCall::Malloc;
                    count.each(kernel, bytes, |row| {
                        row.mallocs += u64::from(malloc);
                        row.resizes += u64::from(!malloc);
                        row.begin(bytes);
                    });
                }
                TraceCall::Free => {
                    count.end(granule, time);
                    count.each(kernel, bytes, |row| row.frees += 1);
                }
                TraceCall::ResizedFrom => count.end(granule, time),
                TraceCall::Failed(_) | TraceCall::NotResized(_) => {
                    count.each(kernel, bytes, |row| row.failures += 1);
                }
                TraceCall::Reset => {
                    let live: Vec<u32> = count.live.keys().copied().collect();
                    live.into_iter()
                        .for_each(|granule| count.end(granule, time));
                }
            }
        }
        Summary {
            allocator: trace.allocator.clone(),
            clock: trace.clock,
            events: trace.events.len() as u64,
            lost: trace.lost,
            all: count.all,
            kernels: count.kernels,
            sizes: count.sizes.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::trace;
    use super::*;

    #[test]
    fn blocks_belong_to_who_asked_and_calls_to_who_called() {
        let summary = Summary::new(&trace());
        assert_eq!((summary.events, summary.lost), (7, 3));
        let all = Row {
            mallocs: 2,
            frees: 1,
            resizes: 1,
            failures: 2,
            bytes: 5116,
            live_bytes: 5000,
            peak_bytes: 5016,
            ended: 2,
            lifetime: 1000 + 1360,
        };
        assert_eq!(summary.all, all);
        assert_eq!(all.mean_lifetime(), Some(1180));
        assert_eq!(Row::default().mean_lifetime(), None);
        let [(fill, first), (beyond, second)] = &summary.kernels[..] else {
            panic!("{summary:?}");
        };
        assert_eq!((&**fill, &**beyond), ("fill", "…"));
        assert_eq!((first.mallocs, first.frees, first.ended), (2, 0, 2));
        assert_eq!((first.live_bytes, first.peak_bytes), (0, 116));
        assert_eq!(
            (second.resizes, second.frees, second.live_bytes),
            (1, 1, 5000)
        );
        let sizes: Vec<_> = summary
            .sizes
            .iter()
            .map(|(size, row)| (*size, row.mallocs, row.resizes, row.failures))
            .collect();
        let expected = [
            (16, 1, 0, 1),
            (128, 1, 0, 0),
            (8192, 0, 1, 0),
            (1 << 36, 0, 0, 1),
        ];
        assert_eq!(sizes, expected);
    }

    #[test]
    fn requests_of_any_size_are_in_the_tables() {
        let mut trace = trace();
        trace.events[2].bytes = u64::MAX;
        let sizes = Summary::new(&trace).sizes;
        assert_eq!(
            sizes.last().map(|(size, row)| (*size, row.failures)),
            Some((u64::MAX, 1))
        );
        // A file may claim what no heap has handed out.
        (trace.events[0].bytes, trace.events[1].bytes) = (u64::MAX, u64::MAX);
        trace.events[5].time = u64::MAX;
        let all = Summary::new(&trace).all;
        assert_eq!((all.bytes, all.peak_bytes), (u64::MAX, u64::MAX));
    }

    #[test]
    fn a_reset_ends_all_and_a_lost_free_one() {
        let mut trace = trace();
        trace.events[5].call = TraceCall::Reset;
        let all = Summary::new(&trace).all;
        assert_eq!((all.live_bytes, all.ended, all.frees), (0, 3, 0));
        // The block is handed out again.
        trace.events[5].call = TraceCall::Malloc;
        let all = Summary::new(&trace).all;
        assert_eq!((all.live_bytes, all.ended, all.mallocs), (5016, 2, 3));
    }
}
