//! Whether blocks lie where they may, and what the heap says of them.

use super::fault::Fault;
use super::table::{Table, byte_of};
use std::fmt;
use std::ops::Range;
use warpheap_api::host::{RegionUse, Snapshot};

/// A block and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lies {
    /// Number of its table.
    pub side: usize,
    /// Its number there.
    pub block: u32,
    /// The byte of the pool at which it begins.
    pub begin: u64,
    /// Bytes that were asked for.
    pub bytes: u32,
    /// What it has to lie at a multiple of, in bytes.
    pub align: u32,
}

impl fmt::Display for Lies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lies {
            side,
            block,
            begin,
            bytes,
            ..
        } = self;
        write!(
            f,
            "block {block} of table {side} ({bytes} bytes at {begin})"
        )
    }
}

impl Lies {
    /// Where it ends. A block of no bytes is one of its own, too.
    fn end(self) -> u64 {
        self.begin + u64::from(self.bytes.max(1))
    }
}

/// The blocks of all tables in the order in which they lie.
///
/// # Errors
/// Two share memory, or one lies outside of these bytes, or is not aligned.
pub(super) fn places(tables: &[Table], pool: Range<u64>) -> Result<Vec<Lies>, Fault> {
    let mut all = Vec::new();
    for (side, table) in tables.iter().enumerate() {
        all.extend(table.live().iter().map(|&block| {
            let place = table.place(block);
            Lies {
                side,
                block,
                begin: byte_of(place),
                bytes: place.bytes,
                align: table.align(block),
            }
        }));
    }
    all.sort_unstable_by_key(|one| (one.begin, one.side, one.block));
    let outside = all
        .iter()
        .find(|one| one.begin < pool.start || one.end() > pool.end);
    if let Some(&block) = outside {
        return Err(Fault::Outside {
            block,
            whereabouts: format!("outside of the bytes {} to {}", pool.start, pool.end),
        });
    }
    if let Some(pair) = all.windows(2).find(|pair| pair[0].end() > pair[1].begin) {
        return Err(Fault::Overlap {
            first: pair[0],
            second: pair[1],
        });
    }
    let is_aligned = |one: &&Lies| one.begin.is_multiple_of(one.align.into());
    match all.iter().find(|one| !is_aligned(one)) {
        Some(&block) => Err(Fault::Misaligned { block }),
        None => Ok(all),
    }
}

/// Compares what a heap says of itself with the blocks that are there, in the order in which they lie. `exactly`: its allocator
/// frees, so that what is in use are these blocks and no others.
///
/// # Errors
/// What is not so.
pub(super) fn snapshot(snapshot: &Snapshot, blocks: &[Lies], exactly: bool) -> Result<(), Fault> {
    let usage = &snapshot.stats.usage;
    let asked: u64 = blocks.iter().map(|one| u64::from(one.bytes)).sum();
    let expect = |right: bool, what: String, expected: String| match right {
        true => Ok(()),
        false => Err(Fault::Usage { what, expected }),
    };
    let tells = usage.live_blocks.is_some() || usage.used_bytes != 0;
    expect(
        usage.used_bytes >= asked || !tells,
        format!("{} bytes are in use", usage.used_bytes),
        format!("blocks have {asked}"),
    )?;
    expect(
        usage.used_bytes <= usage.committed_bytes,
        format!(
            "{} bytes are in use and {} tied",
            usage.used_bytes, usage.committed_bytes
        ),
        "what is in use is tied".to_owned(),
    )?;
    if !exactly {
        return Ok(());
    }
    expect(
        !blocks.is_empty() || usage.used_bytes == 0,
        format!("{} bytes are in use", usage.used_bytes),
        "there are no blocks".to_owned(),
    )?;
    if let Some(live) = usage.live_blocks {
        let there = blocks.len() as u64;
        expect(
            live == there,
            format!("{live} blocks are in use"),
            format!("there are {there}"),
        )?;
    }
    regions(snapshot, blocks, expect)
}

/// The same for each part of the heap.
fn regions(
    snapshot: &Snapshot,
    mut blocks: &[Lies],
    expect: impl Fn(bool, String, String) -> Result<(), Fault>,
) -> Result<(), Fault> {
    for region in &snapshot.regions {
        let (here, behind) =
            blocks.split_at(blocks.partition_point(|one| one.begin < region.end()));
        blocks = behind;
        let what = || {
            format!(
                "the bytes {} to {} are {}",
                region.offset,
                region.end(),
                region.usage
            )
        };
        let no_blocks = region.usage.is_free()
            || matches!(region.usage, RegionUse::Reserved | RegionUse::Queue(_));
        if let (true, Some(block)) = (no_blocks, here.first()) {
            expect(false, what(), format!("{block} is there"))?;
        }
        let told = region
            .live_blocks
            .filter(|_| region.usage != RegionUse::Opaque);
        if let Some(told) = told {
            expect(
                told as usize == here.len(),
                format!("{} with {told} blocks", what()),
                format!("{} begin there", here.len()),
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
