//! The plots as XML: a line for each allocator, dashed floors, dotted peers.

use crate::{row, run, times};
use roxmltree::{Document, Node};
use warpheap_bench::report::chart::{self, Kind};
use warpheap_bench::report::peers::Peers;
use warpheap_bench::report::{Report, svg};
use warpheap_bench::row::Row;
use warpheap_bench::run::Run;
use warpheap_bench::scenario::Scenario;

const FIRST: &str = "#3B82C4";
const SECOND: &str = "#D9622B";
const MUTED: &str = "#808080";

fn plot(run: &Run, peers: &Peers, scenario: Scenario) -> String {
    let panels = chart::panels(run, peers, scenario);
    svg::svg(scenario, &chart::names(run), &panels).unwrap()
}

fn strokes<'a>(document: &'a Document<'_>, colour: &str) -> Vec<Node<'a, 'a>> {
    let lines = document
        .descendants()
        .filter(|node| node.has_tag_name("polyline"));
    lines
        .filter(|node| node.attribute("stroke") == Some(colour))
        .collect()
}

fn points(line: &Node<'_, '_>) -> usize {
    line.attribute("points").unwrap().split_whitespace().count()
}

fn texts(document: &Document<'_>) -> Vec<String> {
    let texts = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    texts
        .map(|node| node.text().unwrap_or_default().trim().to_string())
        .collect()
}

#[test]
fn every_plot_is_xml_and_names_its_lines_and_marks() {
    let run = run();
    let peers = Peers::built_in("cuda", "NVIDIA H200").unwrap();
    let report = Report {
        run: &run,
        peers: &peers,
        comparison: None,
        command: "",
    };
    let plots = report.plots().unwrap();
    assert_eq!(plots.len(), 6);
    for (scenario, svg) in plots {
        let document =
            Document::parse(&svg).unwrap_or_else(|error| panic!("{scenario:?}: {error}"));
        let texts = texts(&document);
        for name in ["Bump", "ScatterAlloc"] {
            assert!(
                texts.iter().any(|text| text == name),
                "{scenario:?}: {texts:?}"
            );
        }
        let title = format!("{}: {}", scenario.name(), scenario.title());
        assert!(texts.contains(&title), "{texts:?}");
    }
    let svg = plot(&run, &peers, Scenario::S3);
    let texts = texts(&Document::parse(&svg).unwrap());
    for text in [
        "malloc, 16 bytes",
        "free, 8192 bytes",
        "2^16",
        "256",
        "10 µs",
        "store",
        "fence",
        "Gallatin",
        "lanes",
    ] {
        assert!(texts.iter().any(|t| t == text), "no {text} in {texts:?}");
    }
}

#[test]
fn each_allocator_has_a_line_and_floors_are_dashed() {
    let svg = plot(&run(), &Peers::default(), Scenario::S1);
    let document = Document::parse(&svg).unwrap();
    for colour in [FIRST, SECOND] {
        let lines = strokes(&document, colour);
        // One in each of two panels, through four sizes; the other is the one of the legend.
        let long: Vec<_> = lines.iter().filter(|line| points(line) == 4).collect();
        assert_eq!(long.len(), 2, "{colour}: {svg}");
        assert!(
            long.iter()
                .all(|line| line.attribute("stroke-width") == Some("2"))
        );
    }
    // Four floors in each of two panels, in many dashes each.
    assert!(strokes(&document, MUTED).len() > 8 * 10);
    let texts = texts(&document);
    for name in ["empty", "store", "bump", "fence"] {
        assert_eq!(
            texts.iter().filter(|text| *text == name).count(),
            2,
            "{texts:?}"
        );
    }
    // What is no time has no floors, and shares begin at nothing.
    let svg = plot(&run(), &Peers::default(), Scenario::S6);
    assert!(strokes(&Document::parse(&svg).unwrap(), MUTED).is_empty());
    let log = |scenario| chart::panels(&run(), &Peers::default(), scenario)[0].log;
    assert!(log(Scenario::S1) && log(Scenario::S10));
    assert!(!log(Scenario::S6) && !log(Scenario::S13));
}

#[test]
fn what_failed_is_left_out_and_cases_stand_beside_each_other() {
    let mut run = run();
    assert!(chart::panels(&run, &Peers::default(), Scenario::S2).is_empty());
    run.rows.push(row(
        Scenario::S2,
        "Bump",
        "uniform 4..8192",
        1 << 18,
        times(1.0, 2.0),
    ));
    let panels = chart::panels(&run, &Peers::default(), Scenario::S2);
    assert_eq!(panels.len(), 2);
    let ticks: Vec<_> = panels[0]
        .ticks
        .iter()
        .map(|(_, tick)| tick.as_str())
        .collect();
    assert_eq!(ticks, ["pow2 16..64", "uniform 4..8192"]);
    let lines = panels[0]
        .lines
        .iter()
        .filter(|line| matches!(line.kind, Kind::Allocator(_)));
    let lines: Vec<_> = lines
        .map(|line| (line.name.as_str(), line.points.clone()))
        .collect();
    assert_eq!(lines, [("Bump", vec![(1.0, 1.0)])]);
}

#[test]
fn what_an_axis_has_no_place_for_is_not_drawn() {
    let mut run = run();
    let churn = |row: &&mut Row| row.scenario == Scenario::S10;
    run.rows.iter_mut().find(churn).unwrap().metrics[0]
        .value
        .median = 0.0;
    let panels = chart::panels(&run, &Peers::default(), Scenario::S10);
    // Of two fills the second is left; what is no time has no floors.
    let points = |panel: usize| {
        let lines = panels[panel].lines.iter();
        let lines = lines.map(|line| (line.name.as_str(), line.points.len()));
        lines.collect::<Vec<_>>()
    };
    assert_eq!(points(0), [("Bump", 1), ("ScatterAlloc", 2)]);
    // Failures are counted from nothing.
    assert_eq!(points(1), [("Bump", 2), ("ScatterAlloc", 2)]);
}

#[test]
fn peers_are_drawn_where_they_were_measured_and_right() {
    let peers = "allocator,scenario,case,n,malloc_ms,free_ms,total_ms,utilisation,range_ratio,status\n\
                 Good,S1,16,1048576,0.5,0.1,,,,ok\n\
                 Good,S1,64,1048576,0.6,,,,,ok\n\
                 Fewer,S1,16,4096,0.01,,,,,ok\n\
                 Bad,S1,16,1048576,0.01,,,,,overlap\n";
    let peers = Peers::parse("peers", peers).unwrap();
    let panels = chart::panels(&run(), &peers, Scenario::S1);
    let lines = |panel: usize| {
        let lines = panels[panel]
            .lines
            .iter()
            .filter(|line| line.kind == Kind::Peer);
        lines
            .map(|line| (line.name.clone(), line.points.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        lines(0),
        [("Good".to_string(), vec![(4.0, 0.5), (6.0, 0.6)])]
    );
    assert_eq!(lines(1), [("Good".to_string(), vec![(4.0, 0.1)])]);
}

#[test]
fn names_that_have_no_room_side_by_side_stand_on_several_lines() {
    let heights = |run: &Run| {
        let svg = plot(run, &Peers::default(), Scenario::S13);
        let document = Document::parse(&svg).unwrap();
        let texts = document
            .descendants()
            .filter(|node| node.has_tag_name("text"));
        let names = texts.filter(|node| node.text().unwrap_or_default().contains("malloc"));
        let mut heights: Vec<_> = names
            .map(|node| node.attribute("y").unwrap().to_string())
            .collect();
        heights.dedup();
        heights.len()
    };
    let mut run = run();
    assert_eq!(heights(&run), 1);
    let kernel = run.rows.iter().find(|row| row.scenario == Scenario::S13);
    let kernel = kernel.unwrap().clone();
    for name in ["warp", "mixed", "shared", "array"] {
        run.rows.push(Row {
            case: format!("malloc_of_a_kind_{name}"),
            ..kernel.clone()
        });
    }
    assert!(heights(&run) > 1);
}
