//! `report.html`: everything on one page that needs nothing else.

use super::Report;
use super::compare::Comparison;
use super::svg::{GRID, INK, MUTED, PAPER};
use super::table::{Table, table};
use super::text;
use crate::scenario::Scenario;
use plotters::style::RGBColor;

/// The looks, in light and dark.
pub const STYLE: &str = include_str!("page.css");

/// The page; `plots` are those of [`Report::plots`].
pub fn page(report: &Report<'_>, plots: &[(Scenario, String)]) -> String {
    let run = report.run;
    let title = format!("warpheap bench: {}, {}", run.device, run.backend);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
        escaped(&title),
        plot_colours(),
        escaped(&title)
    );
    page += &about(report);
    if !run.is_right() {
        page += "<p class=\"wrong\">Memory was handed out that may not be: see the lines marked WRONG.</p>\n";
    }
    let scenarios: Vec<Scenario> = Scenario::ALL
        .into_iter()
        .filter(|scenario| run.rows.iter().any(|row| row.scenario == *scenario))
        .collect();
    page += "<nav>";
    for scenario in &scenarios {
        let name = scenario.name();
        page += &format!(
            "<a href=\"#{name}\">{name} {}</a> ",
            escaped(scenario.title())
        );
    }
    page += "</nav>\n";
    if let Some(comparison) = report.comparison {
        page += &compared(comparison);
    }
    for scenario in scenarios {
        page += &format!(
            "<section id=\"{0}\">\n<h2>{0}: {1}</h2>\n<p>{2}</p>\n",
            scenario.name(),
            escaped(scenario.title()),
            escaped(scenario.description())
        );
        if let Some((_, svg)) = plots.iter().find(|(of, _)| *of == scenario) {
            page += &format!("<figure>\n{svg}</figure>\n");
        }
        page += &shown(&table(run, report.peers, scenario));
        page += "</section>\n";
    }
    page += &notes(report);
    page + "</body>\n</html>\n"
}

/// Where and how the run took place.
fn about(report: &Report<'_>) -> String {
    let run = report.run;
    let facts = [
        ("device", run.device.clone()),
        ("backend", run.backend.clone()),
        ("driver", run.driver.clone()),
        ("lanes of a warp", run.warp_width.to_string()),
        ("pool", text::bytes(run.pool_bytes)),
        ("timed repeats", run.repeats.to_string()),
        ("began", text::date(run.unix_time)),
        ("warpheap", run.version.clone()),
        ("command", report.command.to_string()),
    ];
    let mut list = String::from("<dl>\n");
    for (name, value) in facts {
        list += &format!("<dt>{name}</dt><dd>{}</dd>\n", escaped(&value));
    }
    list + "</dl>\n"
}

/// The comparison with an earlier run.
fn compared(comparison: &Comparison) -> String {
    let mut text = format!(
        "<section id=\"compare\">\n<h2>Beside the run of {}</h2>\n<p>{}</p>\n",
        escaped(&comparison.earlier),
        escaped(&comparison.summary())
    );
    for (title, items) in comparison.lists() {
        text += &format!("<h3>{title}</h3>\n<ul>\n");
        for item in items {
            text += &format!("<li>{}</li>\n", escaped(item));
        }
        text += "</ul>\n";
    }
    text += &format!(
        "<details><summary>every metric, the worst first</summary>\n{}</details>\n",
        shown(&comparison.table())
    );
    text + "</section>\n"
}

/// What the numbers mean, and where the peers' come from.
fn notes(report: &Report<'_>) -> String {
    let mut notes = String::from(
        "<section>\n<h2>What the numbers mean</h2>\n\
         <p>Times of kernels are the device's own, of one kernel queued behind a short delay kernel: medians, \
         with the 10th and 90th percentile in brackets. The floors (dashed) are measured in the same run: \
         empty, a kernel that does nothing; store, one that stores a word per lane; bump, 16 bytes per lane \
         from one shared pointer; fence, a release fence and an atomic per warp. <em>/store</em> is the time \
         over that of store.</p>\n",
    );
    if !report.peers.peers.is_empty() {
        notes += &format!(
            "<p>Peers (dotted) were not measured in this run; the best peer is the best of those that free, \
             handed out right memory and served every request. Where the figures come from:</p>\n<pre>{}</pre>\n",
            escaped(&report.peers.origin)
        );
    }
    notes + "</section>\n"
}

/// A table.
fn shown(table: &Table) -> String {
    let mut text = String::from("<div class=\"wide\"><table>\n<thead><tr>");
    let class = |right: &bool| if *right { " class=\"n\"" } else { "" };
    for (name, right) in table.head.iter().zip(&table.right) {
        text += &format!("<th{}>{}</th>", class(right), escaped(name));
    }
    text += "</tr></thead>\n<tbody>\n";
    for (line, sound) in table.lines.iter().zip(&table.sound) {
        text += if *sound {
            "<tr>"
        } else {
            "<tr class=\"wrong\">"
        };
        for (cell, right) in line.iter().zip(&table.right) {
            text += &format!("<td{}>{}</td>", class(right), escaped(cell));
        }
        text += "</tr>\n";
    }
    text + "</tbody>\n</table></div>\n"
}

/// Rules that give the plots' fixed colours those of the page.
fn plot_colours() -> String {
    let mut rules = String::new();
    for (colour, name) in [
        (INK, "ink"),
        (MUTED, "muted"),
        (GRID, "grid"),
        (PAPER, "paper"),
    ] {
        let RGBColor(red, green, blue) = colour;
        for property in ["fill", "stroke"] {
            rules += &format!(
                "svg [{property}=\"#{red:02X}{green:02X}{blue:02X}\"] {{ {property}: var(--{name}); }}\n"
            );
        }
    }
    rules
}

/// Text as it may stand in a page.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            c => escaped.push(c),
        }
    }
    escaped
}
