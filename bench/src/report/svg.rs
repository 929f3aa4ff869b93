//! Panels drawn as SVG: a legend over a grid of plots.
//!
//! What is neither a line nor the name of one has one of four colours, so that a page which holds the
//! plot may replace them: [`INK`], [`MUTED`], [`GRID`] and [`PAPER`].

use super::chart::{Kind, Line, Panel};
use super::error::ReportError;
use super::labels;
use super::scale::{self, Scale};
use crate::scenario::{Axis, Scenario};
use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::prelude::{
    Cartesian2d, ChartBuilder, Circle, Cross, DashedLineSeries, DrawingArea, DrawingAreaErrorKind,
    IntoDrawingArea, IntoFont, LineSeries, PathElement, RGBColor, SVGBackend, ShapeStyle, Text,
    TextStyle, TriangleMarker,
};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Text and axes.
pub const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
/// Floors and peers.
pub const MUTED: RGBColor = RGBColor(0x80, 0x80, 0x80);
/// Lines of the grid.
pub const GRID: RGBColor = RGBColor(0xDD, 0xDD, 0xDD);
/// What all is drawn on.
pub const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);

/// Colours of allocators, to be seen on white and on black.
pub const COLOURS: [RGBColor; 9] = [
    RGBColor(0x3B, 0x82, 0xC4),
    RGBColor(0xD9, 0x62, 0x2B),
    RGBColor(0x2A, 0x9D, 0x6F),
    RGBColor(0xB4, 0x5F, 0xB0),
    RGBColor(0xC2, 0x9A, 0x1B),
    RGBColor(0x4A, 0xA3, 0xB8),
    RGBColor(0xD1, 0x57, 0x7F),
    RGBColor(0x7A, 0x7F, 0xD6),
    RGBColor(0x8A, 0x6D, 0x4B),
];

/// Width of a plot in pixels, with its labels.
const WIDTH: u32 = 520;
/// Height of a plot in pixels, with its labels.
const HEIGHT: u32 = 330;
/// Pixels at the right of a plot, for the names of floors and peers.
const NAMES: u32 = 104;
/// Letters that have room below a plot side by side.
const LETTERS: usize = 64;
/// Height of a line of names below a plot in pixels.
const STEP: u32 = 14;
/// Height of a line of the legend in pixels.
const LEGEND: u32 = 20;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plane = Cartesian2d<Scale, Scale>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Plane>;
type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

/// The panels of a scenario as one SVG; `names` are the allocators of the run.
///
/// # Errors
/// [`ReportError::Draw`].
pub fn svg(scenario: Scenario, names: &[String], panels: &[Panel]) -> Result<String, ReportError> {
    let mut text = String::new();
    draw(&mut text, scenario, names, panels).map_err(|error| ReportError::Draw {
        scenario: scenario.name(),
        problem: error.to_string(),
    })?;
    Ok(text)
}

fn draw(text: &mut String, scenario: Scenario, names: &[String], panels: &[Panel]) -> Drawn {
    let columns = panels.len().clamp(1, 2);
    let rows = panels.len().div_ceil(columns);
    let width = WIDTH * columns as u32;
    let shown = |index: &usize| {
        let lines = panels.iter().flat_map(|panel| &panel.lines);
        lines
            .into_iter()
            .any(|line| line.kind == Kind::Allocator(*index))
    };
    let shown: Vec<usize> = (0..names.len()).filter(shown).collect();
    let places = labels::legend(
        &shown
            .iter()
            .map(|&at| names[at].as_str())
            .collect::<Vec<_>>(),
        width,
    );
    let lines = 1 + places.iter().map(|place| place.1).max().unwrap_or(0);
    let head = 34 + lines * LEGEND;
    let size = (width, head + HEIGHT * rows as u32);
    let root = SVGBackend::with_string(text, size).into_drawing_area();
    root.fill(&PAPER)?;
    let title = format!("{}: {}", scenario.name(), scenario.title());
    let beside = 40 + 9 * title.chars().count() as i32;
    root.draw(&Text::new(title, (12, 10), words(17, INK)))?;
    root.draw(&Text::new(key(panels), (beside, 14), words(12, MUTED)))?;
    let (top, grid) = root.split_vertically(head);
    for (&index, (x, line)) in shown.iter().zip(places) {
        let at = (x as i32 + 12, (34 + line * LEGEND + LEGEND / 2) as i32);
        let stroke = [(at.0 - 8, at.1), (at.0 + 8, at.1)];
        top.draw(&PathElement::new(stroke, colour(index).stroke_width(2)))?;
        mark(&top, index, at)?;
        let name = Text::new(
            names[index].clone(),
            (at.0 + 14, at.1),
            words(13, INK).pos(LEFT),
        );
        top.draw(&name)?;
    }
    for (area, panel) in grid.split_evenly((rows, columns)).iter().zip(panels) {
        plot(area, panel)?;
    }
    root.present()
}

/// What lines mean that are not of allocators.
fn key(panels: &[Panel]) -> &'static str {
    let mut lines = panels.iter().flat_map(|panel| &panel.lines);
    let floors = lines.clone().any(|line| line.kind == Kind::Floor);
    let peers = lines.any(|line| line.kind == Kind::Peer);
    match (floors, peers) {
        (true, true) => "dashed: floors of this run; dotted: peers",
        (true, false) => "dashed: floors of this run",
        (false, true) => "dotted: peers",
        (false, false) => "",
    }
}

/// Text that begins at a point and is centred upon it vertically.
const LEFT: Pos = Pos {
    h_pos: HPos::Left,
    v_pos: VPos::Center,
};

fn words(size: i32, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&colour)
}

/// The colour of the allocator at this place.
fn colour(index: usize) -> RGBColor {
    COLOURS[index % COLOURS.len()]
}

/// One plot.
fn plot(area: &Area<'_>, panel: &Panel) -> Drawn {
    let height = |value: f64| if panel.log { value.log10() } else { value };
    let values: Vec<f64> = panel
        .lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|p| height(p.1))
        .collect();
    let marks = scale::marks(&values, panel.log);
    let up = Scale {
        ends: scale::range(&values, &marks, panel.log),
        marks,
    };
    let places: Vec<f64> = panel.ticks.iter().map(|(x, _)| *x).collect();
    let along = Scale {
        ends: scale::places(&places, panel.axis == Axis::Case),
        marks: places,
    };
    let written: usize = panel
        .ticks
        .iter()
        .map(|(_, tick)| 2 + tick.chars().count())
        .sum();
    let levels = written.div_ceil(LETTERS).max(1);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, words(14, INK))
        .margin(8)
        .margin_right(NAMES)
        .x_label_area_size(24 + STEP * levels as u32)
        .y_label_area_size(58)
        .build_cartesian_2d(along, up)?;
    let write_y = |y: &f64| {
        let value = if panel.log { 10f64.powf(*y) } else { *y };
        super::text::tick(panel.unit, value)
    };
    chart
        .configure_mesh()
        .axis_style(INK)
        .bold_line_style(GRID.stroke_width(1))
        .label_style(words(11, INK))
        .axis_desc_style(words(12, INK))
        .x_desc(panel.axis.label())
        // Written below: on as many lines as they need.
        .x_label_formatter(&|_| String::new())
        .y_label_formatter(&write_y)
        .draw()?;
    ticks(&chart, area, panel, levels)?;
    let alone = panel.ticks.len() == 1 || panel.axis == Axis::Case;
    for line in &panel.lines {
        let points: Vec<_> = line.points.iter().map(|&(x, y)| (x, height(y))).collect();
        draw_line(&mut chart, area, line, &points, alone)?;
    }
    names_at_ends(&chart, area, panel, &height, alone)
}

/// What is written at the places along the horizontal axis, on several lines in turn.
fn ticks(chart: &Chart<'_, '_>, area: &Area<'_>, panel: &Panel, levels: usize) -> Drawn {
    let middle = Pos::new(HPos::Center, VPos::Top);
    let (_, y) = chart.plotting_area().get_pixel_range();
    let (_, top) = area.get_base_pixel();
    for (index, (place, tick)) in panel.ticks.iter().enumerate() {
        let (x, _) = inside(area, chart.backend_coord(&(*place, 0.0)));
        let below = 9 + STEP as i32 * (index % levels) as i32;
        let at = (x, y.end - top + below);
        area.draw(&Text::new(tick.clone(), at, words(11, INK).pos(middle)))?;
    }
    Ok(())
}

/// One line; `alone` if its points are not joined.
fn draw_line(
    chart: &mut Chart<'_, '_>,
    area: &Area<'_>,
    line: &Line,
    points: &[(f64, f64)],
    alone: bool,
) -> Drawn {
    let muted: ShapeStyle = MUTED.stroke_width(1);
    match line.kind {
        Kind::Floor if alone => {
            for &(x, y) in points {
                let dash = [(x - 0.4, y), (x + 0.4, y)];
                chart.draw_series(DashedLineSeries::new(dash, 6, 4, muted))?;
            }
        }
        Kind::Floor => {
            chart.draw_series(DashedLineSeries::new(points.to_vec(), 6, 4, muted))?;
        }
        Kind::Peer if alone => {
            let dots = points.iter().map(|&at| Circle::new(at, 2, MUTED.filled()));
            chart.draw_series(dots)?;
        }
        Kind::Peer => {
            chart.draw_series(DashedLineSeries::new(points.to_vec(), 1, 3, muted))?;
        }
        Kind::Allocator(index) => {
            if !alone {
                let stroke = colour(index).stroke_width(2);
                chart.draw_series(LineSeries::new(points.iter().copied(), stroke))?;
            }
            for at in points {
                mark(area, index, inside(area, chart.backend_coord(at)))?;
            }
        }
    }
    Ok(())
}

/// The names of floors and peers, where their lines end.
fn names_at_ends(
    chart: &Chart<'_, '_>,
    area: &Area<'_>,
    panel: &Panel,
    height: &dyn Fn(f64) -> f64,
    alone: bool,
) -> Drawn {
    let mut ends = Vec::new();
    for line in &panel.lines {
        if !matches!(line.kind, Kind::Allocator(_)) {
            let Some(&(x, y)) = line.points.last() else {
                continue;
            };
            let x = if alone && line.kind == Kind::Floor {
                x + 0.4
            } else {
                x
            };
            let (x, y) = inside(area, chart.backend_coord(&(x, height(y))));
            ends.push(labels::End {
                x: x + 5,
                y,
                name: line.name.clone(),
            });
        }
    }
    let (_, y) = chart.plotting_area().get_pixel_range();
    let (_, top) = area.get_base_pixel();
    labels::apart(&mut ends, y.start - top..y.end - top);
    for end in ends {
        area.draw(&Text::new(
            end.name,
            (end.x, end.y),
            words(10, MUTED).pos(LEFT),
        ))?;
    }
    Ok(())
}

/// A point of the whole drawing as a point of this area.
fn inside(area: &Area<'_>, at: (i32, i32)) -> (i32, i32) {
    let (x, y) = area.get_base_pixel();
    (at.0 - x, at.1 - y)
}

/// The mark of an allocator: shapes differ too, for who does not see colours.
fn mark(area: &Area<'_>, index: usize, at: (i32, i32)) -> Drawn {
    let style = colour(index).filled();
    match index % 3 {
        0 => area.draw(&Circle::new(at, 4, style)),
        1 => area.draw(&TriangleMarker::new(at, 5, style)),
        _ => area.draw(&Cross::new(at, 4, colour(index).stroke_width(2))),
    }
}
