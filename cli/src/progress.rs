//! The progress bar: on a terminal, and nowhere else.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use warpheap_jobs::progress::{Bar, Progress};

/// Makes the bars of a run, or none when output goes to a pipe or a file.
#[derive(Clone, Copy)]
pub struct Bars {
    shown: bool,
}

impl Bars {
    /// Shows bars when both standard output and standard error are terminals: a script that captures
    /// either of them sees no control characters.
    pub fn detect() -> Self {
        Self {
            shown: std::io::stdout().is_terminal() && std::io::stderr().is_terminal(),
        }
    }

    /// Whether bars are shown.
    pub fn is_shown(self) -> bool {
        self.shown
    }

    /// A bar of `total` steps, labelled with what is going on. It is wiped when dropped.
    pub fn begin(self, label: String, total: u64) -> Shown {
        let target = if self.shown {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        if let Ok(style) =
            ProgressStyle::with_template("{msg:32} [{bar:32}] {human_pos}/{human_len} {eta}")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(label);
        Shown(bar)
    }
}

impl Progress for Bars {
    fn bar(&self, label: String, total: u64) -> Box<dyn Bar> {
        Box::new(self.begin(label, total))
    }
}

/// One bar on the screen, wiped on drop.
pub struct Shown(ProgressBar);

impl Shown {
    /// Changes what is said to be going on.
    pub fn label(&self, label: String) {
        self.0.set_message(label);
    }
}

impl Bar for Shown {
    fn advance(&self, steps: u64) {
        self.0.inc(steps);
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
