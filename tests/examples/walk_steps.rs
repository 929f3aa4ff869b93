//! Measures the steps of the random walks in the emulator and draws them beside what the paper expects:
//! `cargo run --release -p warpheap-tests --no-default-features --example walk_steps -- docs/pictures/random-walk-steps.svg`

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use warpheap_tests::walks::{Case, Measured, PAGES, SHARES, lanes};

/// Text and axes.
const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
/// Lines of the grid.
const FAINT: RGBColor = RGBColor(0xDD, 0xDD, 0xDD);
/// RW, RW-BM, CoRW, CRW.
const COLOURS: [RGBColor; 4] = [
    RGBColor(0x3B, 0x82, 0xC4),
    RGBColor(0xD9, 0x62, 0x2B),
    RGBColor(0x2A, 0x9D, 0x6F),
    RGBColor(0xB4, 0x5F, 0xB0),
];
const NAMES: [&str; 4] = ["RW", "RW-BM", "CoRW", "CRW"];

/// A number of lanes, what was measured and what is expected.
type Points = Vec<(f64, f64, Option<f64>)>;

/// The curves of one share of free pages: per thread and per warp, by kind.
struct Shown {
    share: f64,
    per_thread: [Points; 4],
    per_warp: [Points; 4],
}

fn measured(share: f64) -> Shown {
    let mut shown = Shown {
        share,
        per_thread: Default::default(),
        per_warp: Default::default(),
    };
    for lanes in lanes() {
        let anywhere = Case::scattered(PAGES, share, lanes);
        let clusters = Case::clustered(PAGES, share, lanes);
        let figures: [(Measured, Option<f64>, Option<f64>); 4] = [
            (
                anywhere.measure::<0>(),
                Some(anywhere.walk_steps()),
                Some(anywhere.walk_bound()),
            ),
            (
                anywhere.measure::<1>(),
                Some(anywhere.bitmap_steps()),
                Some(anywhere.bitmap_bound()),
            ),
            (anywhere.measure::<2>(), None, None),
            (
                clusters.measure::<3>(),
                Some(clusters.clustered_steps()),
                Some(1.0 + clusters.walk_bound()),
            ),
        ];
        for (kind, (found, steps, bound)) in figures.into_iter().enumerate() {
            let n = lanes as f64;
            shown.per_thread[kind].push((n, found.per_thread, steps));
            shown.per_warp[kind].push((n, found.per_warp, bound));
        }
    }
    shown
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name the file to write")?;
    let shown: Vec<Shown> = SHARES.into_iter().map(measured).collect();
    let mut text = String::new();
    draw(&mut text, &shown)?;
    std::fs::write(path, text)?;
    Ok(())
}

fn words(size: u32) -> TextStyle<'static> {
    let style = ("sans-serif", size).into_font().color(&INK);
    style.pos(Pos::new(HPos::Left, VPos::Center))
}

fn draw(text: &mut String, shown: &[Shown]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::with_string(text, (1200, 620)).into_drawing_area();
    root.fill(&WHITE)?;
    let (head, grid) = root.split_vertically(40);
    for (kind, name) in NAMES.iter().enumerate() {
        let x = 20 + kind as i32 * 90;
        let stroke = COLOURS[kind].stroke_width(2);
        head.draw(&PathElement::new([(x, 20), (x + 22, 20)], stroke))?;
        head.draw(&Text::new(*name, (x + 28, 20), words(14)))?;
    }
    let key =
        "dots: measured; lines: Eqs. 3, 5, 9 (steps of a request), Eqs. 4, 6 (bound for a warp)";
    head.draw(&Text::new(key, (400, 20), words(13)))?;
    let areas = grid.split_evenly((2, shown.len()));
    let (upper, lower) = areas.split_at(shown.len());
    for ((upper, lower), shown) in upper.iter().zip(lower).zip(shown) {
        panel(upper, "a request", shown.share, &shown.per_thread)?;
        panel(lower, "a warp's slowest lane", shown.share, &shown.per_warp)?;
    }
    root.present()?;
    Ok(())
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    what: &str,
    share: f64,
    kinds: &[Points; 4],
) -> Result<(), Box<dyn Error>> {
    let all = kinds.iter().flatten();
    let highest = all.fold(10.0f64, |most, point| {
        most.max(point.1).max(point.2.unwrap_or(0.0))
    });
    let title = format!("{what}, {}% free", share * 100.0);
    let mut chart = ChartBuilder::on(area)
        .caption(title, words(14))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(46)
        .build_cartesian_2d(
            (28.0..9500.0f64).log_scale(),
            (0.9..highest * 1.4).log_scale(),
        )?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(FAINT)
        .axis_style(INK)
        .x_desc("threads")
        .y_desc("steps")
        .label_style(words(11))
        .draw()?;
    for (points, colour) in kinds.iter().zip(COLOURS) {
        let line = points.iter().filter_map(|point| Some((point.0, point.2?)));
        chart.draw_series(LineSeries::new(line, colour.stroke_width(1)))?;
        let dots = points
            .iter()
            .map(|point| Circle::new((point.0, point.1), 3, colour.filled()));
        chart.draw_series(dots)?;
    }
    Ok(())
}
