//! Work of the host in parts, each on a thread of its own where the system gives so many.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

/// More threads than this wait for memory.
const MOST: usize = 16;

/// How many threads run at the same time.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// How many threads work on something that falls into as many parts as one likes.
pub fn count() -> usize {
    processors().min(MOST)
}

/// Cuts `0..all` into ranges that are equally long, as many as there are processors and no more than fit of `least`, and does `work`
/// with each at the same time. What comes of it, in the order of the ranges; no range is empty.
pub fn in_parts<T: Send>(all: u32, least: u32, work: impl Fn(Range<u32>) -> T + Sync) -> Vec<T> {
    let most = (all / least.max(1)).max(1);
    let parts = most.min(count() as u32);
    let each_has = all.div_ceil(parts).max(1);
    let begins = (0..all).step_by(each_has as usize);
    let ranges = begins.map(|begin| begin..begin.saturating_add(each_has).min(all));
    each(ranges.collect(), work)
}

/// Does `work` with each of `parts` at the same time; what comes of it, in their order. The caller's thread does some of it: all where the
/// system gives no thread, as in a container that may have few.
pub fn each<P: Send, T: Send>(parts: Vec<P>, work: impl Fn(P) -> T + Sync) -> Vec<T> {
    each_on(Builder::new, parts, work)
}

/// Puts some vectors one behind the other; several threads copy.
pub fn concat<T: Copy + Send + Sync>(mut parts: Vec<Vec<T>>) -> Vec<T> {
    if parts.len() < 2 {
        return parts.pop().unwrap_or_default();
    }
    let length = parts.iter().map(Vec::len).sum();
    let mut all = Vec::with_capacity(length);
    let mut room = &mut all.spare_capacity_mut()[..length];
    let mut copies = Vec::new();
    for part in &parts {
        let (here, rest) = std::mem::take(&mut room).split_at_mut(part.len());
        copies.push((here, part));
        room = rest;
    }
    each(copies, |(to, from)| {
        for (to, from) in to.iter_mut().zip(from) {
            to.write(*from);
        }
    });
    // SAFETY: each of so many elements was written, since the parts have as many together.
    unsafe { all.set_len(length) };
    all
}

/// Elements that are worth a thread that sorts.
const LEAST_SORTED: u32 = 1 << 16;
/// Elements by which a border between two threads' is chosen.
const SAMPLES: usize = 64;

/// Such elements in order; several threads sort, each those of some values.
pub fn sorted<T: Copy + Ord + Send + Sync>(elements: &[T]) -> Vec<T> {
    let parts = (elements.len() as u32 / LEAST_SORTED).clamp(1, count() as u32) as usize;
    let step = elements.len() / (parts * SAMPLES) + 1;
    let mut samples: Vec<T> = elements.iter().step_by(step).copied().collect();
    samples.sort_unstable();
    let border = |part: usize| samples[part * samples.len() / parts];
    let some = each((0..parts).collect(), |part| {
        let mine = |element: &&T| {
            (part == 0 || **element >= border(part))
                && (part + 1 == parts || **element < border(part + 1))
        };
        let mut some: Vec<T> = elements.iter().filter(mine).copied().collect();
        some.sort_unstable();
        some
    });
    concat(some)
}

/// As [`each`] on threads that are begun with what `thread` gives.
fn each_on<P: Send, T: Send>(
    thread: impl Fn() -> Builder,
    parts: Vec<P>,
    work: impl Fn(P) -> T + Sync,
) -> Vec<T> {
    // Beside the caller's.
    let threads = parts.len().saturating_sub(1);
    let waiting = Mutex::new(parts.into_iter().enumerate());
    let next = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.next()
    };
    let worker = || {
        let mut done = Vec::new();
        while let Some((number, part)) = next() {
            done.push((number, work(part)));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let start = |_| thread().spawn_scoped(scope, worker).ok();
        // After one that is refused the next would be, too.
        let started: Vec<_> = (0..threads).map_while(start).collect();
        let mut done = worker();
        for thread in started {
            match thread.join() {
                Ok(others) => done.extend(others),
                Err(panic) => resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::Barrier;
    use std::thread::ThreadId;

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

    /// Squares 0 to 6, and says which threads did; the first threads are given, the others are refused, as none can have so large a stack.
    fn squares(given: u32) -> (Vec<u32>, Vec<ThreadId>) {
        let asked = Cell::new(0);
        let thread = || {
            asked.set(asked.get() + 1);
            match asked.get() <= given {
                true => Builder::new(),
                false => Builder::new().stack_size(usize::MAX / 4),
            }
        };
        // Whoever has a part waits until all threads have one, so that no thread does the work of another one.
        let together = Barrier::new(given as usize + 1);
        let done = each_on(thread, (0..7).collect(), |number: u32| {
            if number <= given {
                together.wait();
            }
            (number * number, thread::current().id())
        });
        assert_eq!(asked.get(), (given + 1).min(6), "threads were asked for");
        done.into_iter().unzip()
    }

    #[test]
    fn without_threads_to_be_had_the_others_do_all() {
        for given in [6, 2, 1, 0] {
            let (squares, threads) = squares(given);
            assert_eq!(squares, [0, 1, 4, 9, 16, 25, 36]);
            let others = |id: &&ThreadId| **id != thread::current().id();
            let all: std::collections::HashSet<_> = threads.iter().collect();
            assert_eq!(all.len() as u32, given + 1);
            assert_eq!(all.into_iter().filter(others).count() as u32, given);
        }
    }

    #[test]
    fn vectors_come_one_behind_the_other() {
        for lengths in [&[][..], &[3], &[0, 0], &[2, 0, 5, 1], &[1000, 1, 70_000]] {
            let mut next = 0..;
            let parts = lengths
                .iter()
                .map(|&length| next.by_ref().take(length).collect());
            let parts: Vec<Vec<u32>> = parts.collect();
            let all: Vec<u32> = (0..lengths.iter().sum::<usize>() as u32).collect();
            assert!(concat(parts) == all);
        }
    }

    #[test]
    fn threads_sort() {
        for (length, values) in [(0, 1), (1, 1), (1000, 7), (1 << 18, u32::MAX), (1 << 18, 3)] {
            let value = |at: u32| at.wrapping_mul(2_654_435_761) % values;
            let elements: Vec<u32> = (0..length).map(value).collect();
            let mut expected = elements.clone();
            expected.sort_unstable();
            assert!(sorted(&elements) == expected, "{length} of {values}");
        }
    }

    #[test]
    fn nothing_to_do_takes_no_thread() {
        let thread = || -> Builder { unreachable!("nothing is done beside") };
        assert!(each_on(thread, Vec::<u32>::new(), |part| part).is_empty());
        assert_eq!(each_on(thread, vec![5], |part| part), [5]);
    }

    #[test]
    #[should_panic(expected = "the third is bad")]
    fn a_panic_comes_out() {
        each(vec![1, 2, 3], |part| assert!(part < 3, "the third is bad"));
    }
}
