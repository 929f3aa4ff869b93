//! `warpheap heap-map FILE.json`: a map that was saved, drawn again.

use super::frame::Frame;
use super::{Format, html, text, written};
use crate::error::CliError;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Options of `heap-map`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What `--heap-map FILE.json` of a job wrote.
    file: PathBuf,
    /// Where to draw it: FILE.html has all snapshots, FILE.svg some as a picture, FILE.txt as text; `-` shows the text here.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// Draws a map that was saved; gives what is to be printed.
///
/// # Errors
/// A file that cannot be read or is no map, one that cannot be written.
pub fn run(args: &Args) -> Result<String, CliError> {
    let format = Format::of(&args.output, "--output")?;
    if format != Format::Shown {
        crate::plot::check(Some(&args.output))?;
    }
    let frames: Vec<Frame> = read(&args.file)?
        .into_iter()
        .map(|frame| frame.coarser(format.most_cells()))
        .collect();
    if format == Format::Shown {
        return Ok(text::all(&frames, std::io::stdout().is_terminal()));
    }
    written(&args.output, format, &frames)?;
    Ok(String::new())
}

/// The snapshots in a file.
fn read(path: &Path) -> Result<Vec<Frame>, CliError> {
    let name = path.display();
    let contents = std::fs::read_to_string(path)
        .map_err(|error| CliError::Usage(format!("cannot read {name}: {error}")))?;
    parsed(&contents).map_err(|why| {
        CliError::Usage(format!(
            "{name} is no saved heap map: {why}; `warpheap graph --heap-map FILE.json` writes one"
        ))
    })
}

/// The snapshots in a text, or why it has none.
fn parsed(contents: &str) -> Result<Vec<Frame>, String> {
    let frames: Vec<Frame> = serde_json::from_str(contents).map_err(|error| error.to_string())?;
    if frames.is_empty() {
        return Err("it has no snapshot".to_owned());
    }
    for (number, frame) in (1..).zip(&frames) {
        let cells: u64 = frame.cells.iter().map(|cells| u64::from(cells.count)).sum();
        if cells > html::CELLS {
            let most = html::CELLS;
            return Err(format!(
                "snapshot {number} has {cells} cells, and {most} are the most"
            ));
        }
        if let Some(cells) = frame
            .cells
            .iter()
            .find(|cells| frame.row(**cells).is_none())
        {
            let (usage, uses) = (cells.usage, frame.uses.len());
            return Err(format!(
                "snapshot {number} has a cell of use {usage}, and {uses} uses, counted from 0"
            ));
        }
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::super::frame::tests::{frame, pinned};
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let frames = vec![frame("first"), pinned("second")];
        let text = crate::text::json(&frames).expect("JSON");
        assert_eq!(parsed(&text), Ok(frames));
    }

    #[test]
    fn what_is_no_map_is_named() {
        let refused = |text: &str, part: &str| {
            let why = parsed(text).expect_err(text);
            assert!(why.contains(part), "{why}");
        };
        refused("[]", "no snapshot");
        refused("{\"schema\": 1}", "expected a sequence");
        refused("[{\"label\": \"a\"}]", "missing field `allocator`");
        refused("[", "line 1 column 1");
        let with = |change: fn(&mut Frame)| {
            let mut frame = frame("a");
            change(&mut frame);
            crate::text::json(&[frame]).expect("JSON")
        };
        let many = with(|frame| frame.cells[0].count = u32::MAX);
        refused(&many, "snapshot 1 has 4294967");
        let nothing = with(|frame| frame.cells[0].usage = 99);
        refused(&nothing, "use 99");
    }
}
