//! What up to 512 ranks would do with k-mers, a join and a graph: tables, and a picture of how efficient they are.
//! `cargo run --release -p warpheap-jobs --example scale -- docs/pictures/scale.svg`
//!
//! It shares out the work on the host and takes less than a minute. Nothing runs on a device.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use warpheap_jobs::graph::generate::Rmat;
use warpheap_jobs::scale::inputs::{self, Reads};
use warpheap_jobs::scale::model::{DIRECT, JOIN, Job, KMERS, PAGE_RANK, STAGED, WAYS, Way};
use warpheap_jobs::scale::parts::{self, Edges};
use warpheap_jobs::scale::{RANKS, Shares};

/// Bases, rows and edges that are shared out.
const BASES: u32 = 8_000_000;
const K: u32 = 31;
const ROWS: u32 = 4_000_000;
const GRAPH: Rmat = Rmat {
    scale: 19,
    edge_factor: 16,
    seed: 1,
};

/// A job on an input, shared out to each number of ranks.
struct Case {
    name: &'static str,
    job: Job,
    shares: Vec<Shares>,
}

impl Case {
    fn new(name: &'static str, job: Job, shares: impl Fn(usize) -> Shares) -> Self {
        let shares = RANKS.into_iter().map(shares).collect();
        Case { name, job, shares }
    }

    /// What a device does in a second with others over what it does alone, if all have as much as it has alone.
    fn efficiency(&self, shares: &Shares, way: &Way) -> f64 {
        let alone = self.job.weak / self.job.rate;
        alone / self.job.times(shares, self.job.weak, way).both
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, reads) in [
        ("k-mers, one genome", Reads::Genome),
        ("k-mers, Zipf abundances", Reads::Abundances),
        ("k-mers, repeats", Reads::Repeats),
    ] {
        let sequences = reads.sequences(BASES);
        let shares = |ranks| parts::kmers(&sequences, K, ranks);
        cases.push(Case::new(name, KMERS, shares));
    }
    for (name, skewed) in [("join, even keys", false), ("join, Zipf keys", true)] {
        let keys = inputs::keys(ROWS, skewed);
        cases.push(Case::new(name, JOIN, |ranks| parts::rows(&keys, ranks)));
    }
    for (name, how) in [
        ("PageRank, by vertex", Edges::ByVertex),
        ("PageRank, by edge", Edges::ByEdge),
    ] {
        let shares = |ranks| parts::edges(&GRAPH, how, ranks);
        cases.push(Case::new(name, PAGE_RANK, shares));
    }
    cases
}

/// Numbers of ranks in tables of times.
const SHOWN: [usize; 5] = [1, 2, 8, 64, 512];

/// A table with a row for each case and a column for each of these numbers of ranks.
fn table(title: &str, cases: &[Case], ranks: &[usize], cell: impl Fn(&Case, &Shares) -> String) {
    println!("{title}\n");
    let head: Vec<String> = ranks.iter().map(ToString::to_string).collect();
    println!("| ranks | {} |", head.join(" | "));
    println!("|---|{}", "---|".repeat(ranks.len()));
    for case in cases {
        let shown = case
            .shares
            .iter()
            .filter(|shares| ranks.contains(&shares.work.len()));
        let cells: Vec<String> = shown.map(|shares| cell(case, shares)).collect();
        println!("| {} | {} |", case.name, cells.join(" | "));
    }
    println!();
}

/// A time in the unit that fits it.
fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s => format!("{:.1} ms", s * 1e3),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let cases = cases();
    let balance = |_: &Case, shares: &Shares| format!("{:.2}", shares.balance());
    table(
        "Work of the busiest rank over the mean:",
        &cases,
        &RANKS,
        balance,
    );
    let bytes = |_: &Case, shares: &Shares| format!("{:.2}", shares.bytes_each());
    let title = "Bytes that the busiest rank sends or receives, for each k-mer, row or edge of a mean rank:";
    table(title, &cases, &RANKS, bytes);
    for way in WAYS {
        let title = format!("Work and exchange, as much for each rank, {}:", way.name);
        table(&title, &cases, &SHOWN, |case, shares| {
            let times = case.job.times(shares, case.job.weak, &way);
            format!("{} + {}", time(times.work), time(times.exchange))
        });
    }
    for way in WAYS {
        let title = format!("Both, as much for all ranks together, {}:", way.name);
        table(&title, &cases, &SHOWN, |case, shares| {
            let work = case.job.strong / shares.work.len() as f64;
            time(case.job.times(shares, work, &way).both)
        });
    }
    if let Some(path) = std::env::args().nth(1) {
        let mut text = String::new();
        draw(&mut text, &cases)?;
        std::fs::write(path, text)?;
    }
    Ok(())
}

/// Text and axes.
const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
/// Lines of the grid.
const FAINT: RGBColor = RGBColor(0xDD, 0xDD, 0xDD);
/// Of the cases.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0x3B, 0x82, 0xC4),
    RGBColor(0x1D, 0x4F, 0x91),
    RGBColor(0x2A, 0x9D, 0x6F),
    RGBColor(0xD9, 0x62, 0x2B),
    RGBColor(0x8F, 0x3B, 0x12),
    RGBColor(0xB4, 0x5F, 0xB0),
    RGBColor(0x6B, 0x2F, 0x7A),
];

fn words(size: u32, at: HPos) -> TextStyle<'static> {
    let style = ("sans-serif", size).into_font().color(&INK);
    style.pos(Pos::new(at, VPos::Center))
}

/// Efficiency against ranks: on the left as it is now, on the right from device to device.
fn draw(text: &mut String, cases: &[Case]) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::with_string(text, (1100, 460)).into_drawing_area();
    area.fill(&WHITE)?;
    for (side, (panel, way)) in area
        .split_evenly((1, 2))
        .iter()
        .zip([STAGED, DIRECT])
        .enumerate()
    {
        let last = RANKS.len() - 1;
        let mut chart = ChartBuilder::on(panel)
            .caption(
                format!("Efficiency, as much work for each rank: {}", way.name),
                words(15, HPos::Left),
            )
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(50)
            .build_cartesian_2d(0.0..last as f64, 0.0..1.0)?;
        chart
            .configure_mesh()
            .axis_style(INK)
            .bold_line_style(FAINT)
            .light_line_style(WHITE)
            .max_light_lines(1)
            .label_style(words(12, HPos::Center))
            .x_labels(RANKS.len())
            .x_label_formatter(&|at| format!("{}", 1u64 << at.round() as u32))
            .y_label_formatter(&|share| format!("{share:.1}"))
            .x_desc("ranks")
            .draw()?;
        for (case, colour) in cases.iter().zip(COLOURS) {
            let point = |(at, shares)| (f64::from(at), case.efficiency(shares, &way));
            let points: Vec<_> = (0u32..).zip(&case.shares).map(point).collect();
            let line = LineSeries::new(points, colour.stroke_width(2));
            let drawn = chart.draw_series(line)?.label(case.name);
            drawn.legend(move |(x, y)| {
                PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2))
            });
        }
        // Where no line is.
        if side == 0 {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperRight)
                .background_style(WHITE)
                .border_style(FAINT)
                .label_font(words(12, HPos::Left))
                .draw()?;
        }
    }
    area.present()?;
    Ok(())
}
