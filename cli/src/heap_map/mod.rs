//! `--heap-map FILE`: what each part of a heap is used for, while a job works; `warpheap heap-map` draws it again.
//!
//! | module | what |
//! |---|---|
//! | `frame`, `cells` | a snapshot as it is drawn: its sums, and the pool as cells of equal size |
//! | `colour` | the colours of uses |
//! | `text`, `svg`, `html` | on a terminal, as a picture, as a page with all snapshots |
//! | [`again`], `coarser` | maps that were saved, and those in fewer cells |

pub mod again;
mod cells;
mod coarser;
mod colour;
mod frame;
mod html;
mod svg;
mod text;

use crate::error::CliError;
use crate::progress::Bars;
use frame::Frame;
use std::io::IsTerminal;
use std::path::Path;
use warpheap::{Device, Snapshot, SnapshotSeries};
use warpheap_jobs::progress::{Bar, Progress};

/// What a file is to hold, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// Text, on standard output.
    Shown,
    Text,
    Svg,
    Html,
    Json,
}

impl Format {
    /// What the file of an option is to hold.
    fn of(path: &Path, option: &str) -> Result<Self, CliError> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending {
            _ if path == Path::new("-") => Ok(Format::Shown),
            Some("txt") => Ok(Format::Text),
            Some("svg") => Ok(Format::Svg),
            Some("html") => Ok(Format::Html),
            Some("json") => Ok(Format::Json),
            _ => Err(CliError::Usage(format!(
                "{option} {}: name a file that ends in .html, .svg, .txt or .json, or `-` to see the map here",
                path.display()
            ))),
        }
    }

    /// Cells of a map at most.
    fn most_cells(self) -> u64 {
        match self {
            Format::Shown | Format::Text => text::CELLS,
            Format::Svg => svg::CELLS,
            Format::Html | Format::Json => html::CELLS,
        }
    }
}

/// Refuses to show the heaps of several devices as one.
///
/// # Errors
/// [`CliError::Usage`].
pub fn of_one(path: Option<&Path>, devices: &[Device]) -> Result<(), CliError> {
    match (path, devices) {
        (Some(_), [_, _, ..]) => Err(CliError::Usage(
            "--heap-map shows one heap, and each of several devices has its own: name one device with --device".into(),
        )),
        _ => Ok(()),
    }
}

/// A job that shows how far it is, and of which snapshots are kept.
struct Watched {
    bars: Bars,
    snapshots: SnapshotSeries,
}

impl Progress for Watched {
    fn bar(&self, label: String, total: u64) -> Box<dyn Bar> {
        self.bars.bar(label, total)
    }

    fn snapshots(&self) -> &SnapshotSeries {
        &self.snapshots
    }
}

/// Does a job, which takes snapshots as it likes, and writes the map of those: also of a job that fails, since its heap may be
/// full. Without a file nothing is taken.
///
/// # Errors
/// Those of the job; a file that cannot be written.
pub fn around(
    file: Option<&Path>,
    json: bool,
    job: impl FnOnce(&dyn Progress) -> Result<String, CliError>,
) -> Result<String, CliError> {
    let bars = Bars::detect();
    let Some(path) = file else {
        return job(&bars);
    };
    let format = Format::of(path, "--heap-map")?;
    match format {
        Format::Shown if json => {
            let both = "--heap-map - and --json would both print: name a file for the map";
            return Err(CliError::Usage(both.to_owned()));
        }
        Format::Shown => (),
        _ => crate::plot::check(Some(path))?,
    }
    let watched = Watched {
        bars,
        snapshots: SnapshotSeries::new(),
    };
    let done = job(&watched);
    let frames = frames(watched.snapshots.into_snapshots(), format);
    if frames.is_empty() {
        return done;
    }
    if format == Format::Shown {
        let map = text::all(&frames, std::io::stdout().is_terminal());
        return match done {
            Ok(text) => Ok(format!("{text}\n{map}")),
            Err(error) => {
                eprint!("{map}");
                Err(error)
            }
        };
    }
    let written = written(path, format, &frames);
    // What the job says comes first.
    done.and_then(|text| written.map(|()| text))
}

/// Writes a map to a file.
///
/// # Errors
/// A file that cannot be written.
fn written(path: &Path, format: Format, frames: &[Frame]) -> Result<(), CliError> {
    let map = match format {
        Format::Shown | Format::Text => text::all(frames, false),
        Format::Svg => svg::all(frames).map_err(|error| crate::plot::unwritten(path, &error))?,
        Format::Html => html::page(frames)?,
        Format::Json => crate::text::json(&frames)?,
    };
    std::fs::write(path, map).map_err(|error| crate::plot::unwritten(path, &error))
}

fn frames(snapshots: Vec<(String, Snapshot)>, format: Format) -> Vec<Frame> {
    let draw = |(label, snapshot): &(String, Snapshot)| {
        Frame::new(label.clone(), snapshot, format.most_cells())
    };
    snapshots.iter().map(draw).collect()
}

/// Some of them, `most` at most, evenly chosen: the last one always.
fn chosen(frames: &[Frame], most: usize) -> impl Iterator<Item = &Frame> {
    let step = frames.len().div_ceil(most).max(1);
    frames
        .iter()
        .enumerate()
        .filter(move |(at, _)| (frames.len() - 1 - at).is_multiple_of(step))
        .map(|(_, frame)| frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_what_is_written() {
        let of = |name: &str| {
            Format::of(Path::new(name), "--heap-map").map_err(|error| error.to_string())
        };
        assert_eq!(of("-"), Ok(Format::Shown));
        assert_eq!(of("a/b.html"), Ok(Format::Html));
        assert_eq!(of("c.json"), Ok(Format::Json));
        for name in ["map", "map.png", "html"] {
            let error = of(name).expect_err("no format");
            assert!(error.contains(name) && error.contains(".html"), "{error}");
        }
    }

    #[test]
    fn the_last_is_among_the_chosen() {
        let frame = |label: usize| frame::tests::frame(&label.to_string());
        let frames: Vec<Frame> = (0..20).map(frame).collect();
        let labels = |most| {
            let chosen = chosen(&frames, most);
            chosen.map(|frame| frame.label.clone()).collect::<Vec<_>>()
        };
        assert_eq!(labels(20).len(), 20);
        assert_eq!(labels(4), ["4", "9", "14", "19"]);
        assert_eq!(labels(1), ["19"]);
        assert_eq!(chosen(&[], 3).count(), 0);
    }
}
