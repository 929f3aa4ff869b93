//! What the self-test's kernels must have stored. Functions here compare; they run nothing.

use super::draws::fits;
use super::{
    COUNT, COUNTERS, GREATEST, LONGEST, ROUNDS, STEP_MARK, STEPS, Step, Summary, UNION, branches,
    hashed, key, message, next, offer, vote,
};
use std::collections::HashMap;
use warpheap_rt::api::{LaneMask, abi};
use warpheap_rt::sync::hash;

/// A wrong result in words.
pub type Verdict = Result<(), String>;

fn mask([lo, hi]: [u32; 2]) -> LaneMask {
    LaneMask { lo, hi }
}

fn show([lo, hi]: [u32; 2]) -> String {
    format!("{:#x}", lo as u64 | (hi as u64) << 32)
}

/// The trace of one launch of `selftest_divergence`.
pub struct Divergence<'a> {
    pub block_dim: u32,
    pub width: u32,
    pub counts: &'a [u32],
    pub steps: &'a [Step],
    pub summaries: &'a [Summary],
}

impl Divergence<'_> {
    pub fn judge(&self) -> Verdict {
        // A warp is known by its block and its leader; which lane is which thread is the device's
        // choice.
        let mut threads: HashMap<(u32, u32, u32), usize> = HashMap::new();
        for (i, summary) in self.summaries.iter().enumerate() {
            if summary.width != self.width || summary.lane >= self.width {
                return Err(format!(
                    "thread {i} is lane {} of a warp of {}, the driver said {} lanes",
                    summary.lane, summary.width, self.width
                ));
            }
            if let Some(other) = threads.insert(self.place(i, summary.lane), i) {
                return Err(format!(
                    "threads {other} and {i} are the same lane of a warp"
                ));
            }
        }
        for (i, &count) in self.counts.iter().enumerate() {
            let mut sum = 0u32;
            for step in 0..count.min(STEPS) {
                self.step(&threads, i, step).map_err(|what| {
                    format!("loop left lane by lane: thread {i}, step {step}: {what}")
                })?;
                sum = sum.wrapping_add(self.seen(i, step).shuffled);
            }
            for step in count..STEPS {
                let seen = self.seen(i, step);
                if seen.mark != 0 || seen.shuffled != 0 || seen.active != [0; 2] {
                    return Err(format!(
                        "loop left lane by lane: thread {i} left before step {step}, yet stored {seen:?}"
                    ));
                }
            }
            if self.summaries[i].sum != sum {
                return Err(format!(
                    "store behind a loop left lane by lane: thread {i} stored {:#x}, not {sum:#x}",
                    self.summaries[i].sum
                ));
            }
        }
        Ok(())
    }

    fn place(&self, i: usize, lane: u32) -> (u32, u32, u32) {
        let block = i as u32 / self.block_dim;
        (block, self.summaries[i].leader, lane)
    }

    fn seen(&self, i: usize, step: u32) -> &Step {
        &self.steps[i * STEPS as usize + step as usize]
    }

    fn step(&self, threads: &HashMap<(u32, u32, u32), usize>, i: usize, step: u32) -> Verdict {
        let me = self.seen(i, step);
        if me.mark != STEP_MARK + step {
            return Err(format!("its store is lost (found {:#x})", me.mark));
        }
        let lane = self.summaries[i].lane;
        let active = mask(me.active);
        if !active.contains(lane) {
            return Err(format!(
                "lane {lane} is not in its own set {}",
                show(me.active)
            ));
        }
        let (mut yes, mut same, mut inside) = (LaneMask::EMPTY, LaneMask::EMPTY, LaneMask::EMPTY);
        let own = i as u32 % self.block_dim;
        for other in (0..64).filter(|&other| active.contains(other)) {
            let thread = threads.get(&self.place(i, other)).copied();
            let at_it = thread.filter(|&thread| {
                step < self.counts[thread] && self.seen(thread, step).active == me.active
            });
            let Some(thread) = at_it else {
                return Err(format!(
                    "its set {} holds lane {other}, which is not with it",
                    show(me.active)
                ));
            };
            let index = thread as u32 % self.block_dim;
            let only = |take: bool| {
                if take {
                    LaneMask::only(other)
                } else {
                    LaneMask::EMPTY
                }
            };
            yes = yes.or(only(vote(index, step)));
            same = same.or(only(key(index, step) == key(own, step)));
            inside = inside.or(only(branches(index, step) && key(index, step) != 0));
            if other == next(active, lane) && me.shuffled != offer(index, step) {
                return Err(format!(
                    "shuffle from lane {other} gave {:#x}, not {:#x}",
                    me.shuffled,
                    offer(index, step)
                ));
            }
        }
        if !branches(own, step) {
            inside = LaneMask::EMPTY;
        }
        for (what, found, right) in [
            ("ballot", me.ballot, yes),
            ("match", me.matched, same),
            ("ballot in a branch", me.branch, inside),
        ] {
            if mask(found) != right {
                let right = show([right.lo, right.hi]);
                return Err(format!("{what} gave {}, not {right}", show(found)));
            }
        }
        Ok(())
    }
}

/// Judges a launch of `selftest_rounds`.
pub fn rounds(out: &[u32]) -> Verdict {
    for (i, &found) in (0..).zip(out) {
        let right = hashed(i, ROUNDS + (i & 3));
        if found != right {
            return Err(format!(
                "loops of more than {} rounds in all: thread {i} stored {found:#x}, not {right:#x}",
                ROUNDS * ROUNDS
            ));
        }
    }
    Ok(())
}

/// Judges a launch of `selftest_atomics` with as many lanes as there are `tickets`.
pub fn atomics(
    counters: &[u32; COUNTERS],
    places: &[u32],
    tickets: &[u32],
    found: &[u32],
) -> Verdict {
    let lanes = tickets.len() as u32;
    let greatest = (0..lanes).map(hash).max().unwrap_or(0);
    let union = (0..lanes).fold(0, |bits, i| bits | 1 << (i & 31));
    for (what, counter, right) in [
        ("additions", COUNT, lanes),
        ("bits set", UNION, union),
        ("maximum", GREATEST, greatest),
    ] {
        if counters[counter] != right {
            return Err(format!(
                "atomics: {what} of {lanes} lanes came to {:#x}, not {right:#x}",
                counters[counter]
            ));
        }
    }
    let mut drawn = tickets.to_vec();
    drawn.sort_unstable();
    if let Some((right, ticket)) = (0..).zip(&drawn).find(|(right, ticket)| right != *ticket) {
        return Err(format!(
            "atomics: additions returned no permutation: {ticket} where {right} was due"
        ));
    }
    for (i, &place) in found.iter().enumerate() {
        let holder = places.get(place as usize).copied();
        if holder != Some(i as u32 + 1) {
            return Err(format!(
                "store behind a loop of compare-and-swaps: thread {i} stored place {place}, which \
                 holds {holder:?}"
            ));
        }
    }
    let held = places.iter().filter(|&&place| place != 0).count();
    if held != found.len() {
        return Err(format!(
            "atomics: {lanes} lanes hold {held} places after one compare-and-swap each"
        ));
    }
    Ok(())
}

/// Judges a launch of `selftest_draws`.
pub fn draws(next: u32, drawn: &[u32]) -> Verdict {
    // Who drew a number that fits stopped there.
    let expected: Vec<u32> = (0..next).filter(|&number| fits(number)).collect();
    let mut sorted = drawn.to_vec();
    sorted.sort_unstable();
    if sorted == expected {
        return Ok(());
    }
    let wrong = drawn
        .iter()
        .position(|&number| number >= next || !fits(number));
    Err(match wrong {
        Some(i) => format!(
            "value taken along out of a loop left lane by lane: thread {i} stored {}, which does not fit",
            drawn[i]
        ),
        None => "values taken along out of a loop left lane by lane: some are another lane's"
            .to_string(),
    })
}

/// Judges a launch of `selftest_claims`.
pub fn claims(bitmap: &[u32], claimed: &[u32]) -> Verdict {
    let mut left = bitmap.to_vec();
    for (i, &bit) in claimed.iter().enumerate() {
        let word = left.get_mut(bit as usize / 32);
        match word {
            Some(word) if *word >> (bit % 32) & 1 != 0 => *word &= !(1 << (bit % 32)),
            _ => {
                return Err(format!(
                    "claims of a warp in a loop left lane by lane: thread {i} stored bit {bit:#x}, which \
                     is not set or another's"
                ));
            }
        }
    }
    match left.iter().position(|&word| word != 0) {
        Some(word) => Err(format!(
            "claims of a warp in a loop left lane by lane: nobody stored bits {:#x} of word {word}",
            left[word]
        )),
        None => Ok(()),
    }
}

/// Whether groups that met in a function kept apart, and all calls were counted.
pub fn groups(rounds: u32, words: &[u32], wrong: &[u32]) -> Verdict {
    use super::groups::{BROADCAST, MATCH, MEMBERS, SUM, VOTE, comes_first, comes_second, draw};
    if let Some(at) = words[..MEMBERS].iter().position(|&word| word != 0) {
        return Err(format!(
            "groups that meet in a function: word {at}, which nobody writes, changed"
        ));
    }
    let members = words[MEMBERS];
    let names = [
        (VOTE, "a vote of all lanes"),
        (BROADCAST, "a broadcast"),
        (MATCH, "a match"),
        (SUM, "a sum"),
    ];
    let lanes = wrong.iter().filter(|&&faults| faults != 0).count();
    if let Some((i, &faults)) = wrong.iter().enumerate().find(|(_, faults)| **faults != 0) {
        let what: Vec<&str> = names
            .iter()
            .filter(|(fault, _)| faults & fault != 0)
            .map(|(_, name)| *name)
            .collect();
        return Err(format!(
            "groups that meet in a function are mixed up: {} was wrong for thread {i} ({lanes} of {} threads have such)",
            what.join(", "),
            wrong.len()
        ));
    }
    let calls = |i: u32| -> u32 {
        let drawn = (0..rounds).map(|round| draw(i, round));
        drawn
            .map(|drawn| comes_first(drawn) as u32 + comes_second(drawn) as u32)
            .sum()
    };
    let all: u32 = (0..wrong.len() as u32).map(calls).sum();
    if members != all {
        return Err(format!(
            "groups that meet in a function: the teams had {members} members in all, not {all}"
        ));
    }
    Ok(())
}

/// Judges a launch of `selftest_vectors`.
pub fn vectors(sums: &[u32]) -> Verdict {
    for (i, &sum) in sums.iter().enumerate() {
        let i = i as u32;
        let right = (0..i % LONGEST).fold(0u32, |sum, k| sum.wrapping_add(k.wrapping_mul(i)));
        if sum != right {
            return Err(format!(
                "vectors that grow in a heap: thread {i} stored {sum:#x}, not {right:#x}"
            ));
        }
    }
    Ok(())
}

/// Judges a launch of `selftest_messages`.
pub fn messages(taken: &[u32]) -> Verdict {
    for (i, &found) in taken.iter().enumerate() {
        let sender = taken.len() - 1 - i;
        let right = message(sender as u32);
        if found != 0 && found != right {
            return Err(format!(
                "message behind a release: thread {i} took {found:#x} from {sender}, not {right:#x}"
            ));
        }
    }
    Ok(())
}

/// Judges the report of a launch of `selftest_reports` with `lanes` lanes.
pub fn reports(
    words: &[u32; abi::REPORT_WORDS],
    lanes: u32,
    block_dim: u32,
    (divisor, remainder): (u32, u32),
) -> Verdict {
    let fails = |i: &u32| i % divisor == remainder;
    let failed = (0..lanes).filter(fails).count() as u32;
    let even = (0..lanes).filter(|i| fails(i) && i % 2 == 0).count() as u32;
    let by = abi::REPORT_BY_CODE;
    let counts = [
        words[abi::REPORT_ERRORS],
        words[by],
        words[by + 1],
        words[by + 2],
    ];
    let right = [failed, even, failed - even, 0];
    if counts != right {
        return Err(format!(
            "errors of lanes were counted as {counts:?}, not {right:?}"
        ));
    }
    let (block, lane) = (words[abi::REPORT_BLOCK], words[abi::REPORT_LANE]);
    let first = block.wrapping_mul(block_dim).wrapping_add(lane);
    let code = if first % 2 == 0 { 1 } else { 2 };
    if first >= lanes || !fails(&first) || words[abi::REPORT_CODE] != code {
        return Err(format!(
            "the first error is reported as {} of lane {lane} in block {block}, which returned another",
            words[abi::REPORT_CODE]
        ));
    }
    Ok(())
}

/// Judges two launches of `selftest_index` on zeros.
pub fn twice(out: &[u32]) -> Verdict {
    for (i, &found) in out.iter().enumerate() {
        let right = 2 * (i as u32 + 1);
        if found != right {
            return Err(format!(
                "two launches, one after the other: element {i} is {found}, not {right}"
            ));
        }
    }
    Ok(())
}
