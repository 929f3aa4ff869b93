//! Work of the host in parts, each on a thread of its own.

use std::ops::Range;
use std::thread;

/// More threads than this wait for memory.
const MOST: usize = 16;

/// Cuts `0..all` into ranges that are equally long, as many as there are processors and no more than fit of `least`, and does `work`
/// with each at the same time. What comes of it, in the order of the ranges; no range is empty.
pub fn in_parts<T: Send>(all: u32, least: u32, work: impl Fn(Range<u32>) -> T + Sync) -> Vec<T> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let most = (all / least.max(1)).max(1);
    let parts = most.min(processors.min(MOST) as u32);
    let each = all.div_ceil(parts).max(1);
    let begins = (0..all).step_by(each as usize);
    let ranges = begins.map(|begin| begin..begin.saturating_add(each).min(all));
    let ranges: Vec<_> = ranges.collect();
    if let [one] = &ranges[..] {
        return vec![work(one.clone())];
    }
    let work = &work;
    thread::scope(|scope| {
        let start = |range: Range<u32>| scope.spawn(move || work(range));
        let threads: Vec<_> = ranges.into_iter().map(start).collect();
        let ended = threads.into_iter().map(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ended.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::in_parts;

    #[test]
    fn ranges_are_all_in_order_and_none_is_short() {
        for (all, least) in [
            (0, 1),
            (1, 1),
            (1000, 1),
            (1001, 500),
            (7, 100),
            (u32::MAX, 1 << 20),
        ] {
            let ranges = in_parts(all, least, |range| range);
            let mut end = 0;
            for range in &ranges {
                assert!(range.start == end && range.end > end, "{ranges:?}");
                end = range.end;
            }
            assert_eq!(end, all);
            assert!(ranges.len() <= (all / least).max(1) as usize, "{ranges:?}");
        }
    }
}
