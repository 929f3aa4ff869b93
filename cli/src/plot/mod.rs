//! Plots as SVG files, in the colours of `warpheap bench`.
//!
//! | module | what it draws |
//! |---|---|
//! | `bars` | a bar for each name |
//! | `lines` | lines over each other |
//! | `spectrum` | how many there are of each number |

mod bars;
mod lines;
mod spectrum;

pub use bars::{Bar, bars};
pub use lines::{Line, lines};
pub use spectrum::{Spectrum, spectrum};

use crate::error::CliError;
use plotters::prelude::{DrawingAreaErrorKind, IntoFont, RGBColor, TextStyle};
use std::fmt::Display;
use std::path::Path;

/// Whether something could be drawn.
pub type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Checks that there is a folder for the plot that was asked for: first of all, as the work may take long.
///
/// # Errors
/// [`CliError::Usage`] if there is none.
pub fn check(path: Option<&Path>) -> Result<(), CliError> {
    let Some(path) = path else {
        return Ok(());
    };
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() || folder.is_dir() => Ok(()),
        Some(folder) => Err(unwritten(
            path,
            &format_args!("there is no folder {}", folder.display()),
        )),
        None => Err(unwritten(path, &"that is no file")),
    }
}

/// Writes a file with what is drawn.
fn write(path: &Path, draw: impl FnOnce(&mut String) -> Drawn) -> Result<(), CliError> {
    let mut svg = String::new();
    draw(&mut svg).map_err(|error| unwritten(path, &error))?;
    std::fs::write(path, svg).map_err(|error| unwritten(path, &error))
}

/// The error of a file that cannot be written.
pub fn unwritten(path: &Path, why: &dyn Display) -> CliError {
    CliError::Usage(format!(
        "cannot write the plot {}: {why}; name a file in a folder that is there",
        path.display()
    ))
}

/// Text of so many pixels.
pub fn words(size: i32, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_needs_a_folder() {
        let check = |path: &str| check(Some(Path::new(path))).map_err(|error| error.to_string());
        assert_eq!(check("plot.svg"), Ok(()));
        assert_eq!(check("src/plot.svg"), Ok(()));
        for path in ["/nowhere/at/all/plot.svg", "/"] {
            let error = check(path).expect_err("no folder");
            assert!(error.contains(&format!("the plot {path}: ")), "{error}");
        }
    }
}
