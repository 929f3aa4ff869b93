//! The places of the source whose fences and barriers order something, and the one that is left out.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::str::FromStr;
use std::sync::{Mutex, OnceLock, PoisonError};
use warpheap_rt::arch::simt::Site;

/// A place where device code orders accesses, as `FILE:LINE:COLUMN:KIND`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FenceSite {
    /// Source file, as the compiler names it.
    pub file: String,
    /// Line in it.
    pub line: u32,
    /// Column in it.
    pub column: u32,
    /// What is there.
    pub kind: FenceKind,
}

/// How device code orders accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FenceKind {
    /// A release fence.
    Release,
    /// An acquire fence.
    Acquire,
    /// A barrier of lanes of a warp.
    Barrier,
    /// A barrier or broadcast of a block.
    BlockBarrier,
}

impl FenceKind {
    const ALL: [(FenceKind, &str); 4] = [
        (FenceKind::Release, "release"),
        (FenceKind::Acquire, "acquire"),
        (FenceKind::Barrier, "barrier"),
        (FenceKind::BlockBarrier, "block-barrier"),
    ];
}

impl fmt::Display for FenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Self::ALL.iter().find(|(kind, _)| kind == self);
        f.write_str(found.map_or("", |(_, name)| name))
    }
}

impl fmt::Display for FenceSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FenceSite {
            file,
            line,
            column,
            kind,
        } = self;
        write!(f, "{file}:{line}:{column}:{kind}")
    }
}

impl FromStr for FenceSite {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.rsplitn(4, ':');
        let mut part = || parts.next().ok_or(());
        let kind = part()?;
        let kind = FenceKind::ALL.iter().find(|(_, name)| *name == kind);
        let column = part()?.parse().map_err(drop)?;
        let line = part()?.parse().map_err(drop)?;
        Ok(FenceSite {
            file: part()?.into(),
            line,
            column,
            kind: kind.ok_or(())?.0,
        })
    }
}

/// The places of one launch.
#[derive(Default)]
pub(crate) struct Sites {
    /// What is left out: a fence or barrier in this place orders nothing.
    left_out: Option<FenceSite>,
    /// By address: one place may have several.
    reached: HashMap<(usize, FenceKind), Site>,
}

impl Sites {
    pub fn without(left_out: Option<FenceSite>) -> Self {
        Sites {
            left_out,
            reached: HashMap::new(),
        }
    }

    /// Whether a fence or barrier in this place counts.
    pub fn counts(&mut self, site: Site, kind: FenceKind) -> bool {
        let key = (std::ptr::from_ref(site).addr(), kind);
        self.reached.entry(key).or_insert(site);
        self.left_out.as_ref().is_none_or(|out| {
            (out.line, out.column, out.kind) != (site.line(), site.column(), kind)
                || out.file != site.file()
        })
    }
}

/// The file, and what was written to it.
type Known = (File, HashSet<FenceSite>);

/// Tells the file that `WARPHEAP_FENCE_SITES` names, if it names one, of all places that it does not know yet.
impl Drop for Sites {
    fn drop(&mut self) {
        static KNOWN: OnceLock<Option<Mutex<Known>>> = OnceLock::new();
        let known = KNOWN.get_or_init(|| {
            let path = std::env::var_os("WARPHEAP_FENCE_SITES")?;
            let file = OpenOptions::new().create(true).append(true).open(path);
            Some(Mutex::new((file.ok()?, HashSet::new())))
        });
        let Some(known) = known else { return };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, known) = &mut *known;
        for ((_, kind), site) in self.reached.drain() {
            let place = FenceSite {
                file: site.file().into(),
                line: site.line(),
                column: site.column(),
                kind,
            };
            if !known.contains(&place) {
                // Nothing depends on it but a list that is then seen to be short.
                let _ = file.write_all(format!("{place}\n").as_bytes());
                known.insert(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_and_read() {
        let place = FenceSite {
            file: "src/a:b.rs".into(),
            line: 7,
            column: 13,
            kind: FenceKind::BlockBarrier,
        };
        assert_eq!(place.to_string(), "src/a:b.rs:7:13:block-barrier");
        assert_eq!(place.to_string().parse(), Ok(place));
        for bad in ["", "a.rs:1:2", "a.rs:1:2:fence", "a.rs:x:2:release"] {
            assert_eq!(bad.parse::<FenceSite>(), Err(()), "{bad}");
        }
    }
}
