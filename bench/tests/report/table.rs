//! The tables of the terminal.

use crate::run;
use warpheap_bench::report::peers::Peers;
use warpheap_bench::report::{table, text};
use warpheap_bench::row::Call;
use warpheap_bench::scenario::Scenario;

#[test]
fn allocators_of_a_cell_stand_under_each_other_with_ratios() {
    let text = table::table(&run(), &Peers::default(), Scenario::S1).text();
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines.len(), 1 + 8);
    assert_eq!(lines[1][..4], ["16", "2^20", "Bump", "5.60"]);
    assert_eq!(lines[1][4..7], ["28.0", "(27.4..28.6)", "5.00"]);
    assert_eq!(lines[2][..3], ["16", "2^20", "ScatterAlloc"]);
    assert_eq!(lines[7][..3], ["8192", "2^19", "Bump"]);
    let column = |line: &str, word| line[..line.find(word).unwrap()].chars().count();
    let mut lines = text.lines();
    let status = column(lines.next().unwrap(), "status");
    assert!(lines.all(|line| column(line, "ok") == status), "{text}");
}

#[test]
fn peers_calls_and_failures_have_a_place() {
    let mut run = run();
    let peers = Peers::built_in("cuda", "NVIDIA H200").unwrap();
    let text = table::table(&run, &peers, Scenario::S1).text();
    assert!(
        text.lines().next().unwrap().contains("best peer  /peer"),
        "{text}"
    );
    // 23 over 25.95.
    assert!(
        text.lines()
            .nth(2)
            .unwrap()
            .contains("ScatterAlloc 25.9   0.89"),
        "{text}"
    );
    assert!(text.contains("Gallatin 3594"), "{text}");
    assert!(!text.contains("RegEff-AW"), "frees nothing: {text}");
    run.rows[1].call = Call::Warp;
    let text = table::tables(&run, &Peers::default());
    assert!(text.starts_with("S1: one size, fresh heap\n"), "{text}");
    assert!(
        text.contains("ScatterAlloc  lane") && text.contains("Bump          warp"),
        "{text}"
    );
    assert!(
        text.contains("\n\nS2: ") && text.contains("7 of 1048576 failed"),
        "{text}"
    );
    assert!(
        text.contains("throughput Mop/s") && text.contains("0.975"),
        "{text}"
    );
}

#[test]
fn a_row_in_a_line_says_what_was_measured_or_why_not() {
    let mut run = run();
    run.rows[1].status = "3 slots empty".into();
    let line = |at: usize| text::line(&run.rows[at]);
    assert_eq!(
        line(0),
        "S1 Bump lane 16 x 2^20: malloc 28.0 µs, free 20.0 µs"
    );
    assert_eq!(
        line(4),
        "S2 Bump lane pow2 16..64 x 2^20: 7 of 1048576 failed, \"exhausted\""
    );
    assert!(
        line(1).ends_with("free 22.0 µs, 3 slots empty"),
        "{}",
        line(1)
    );
}

#[test]
fn every_line_has_a_cell_for_each_column() {
    let (run, peers) = (run(), Peers::built_in("cuda", "NVIDIA H200").unwrap());
    for scenario in Scenario::ALL {
        let table = table::table(&run, &peers, scenario);
        assert_eq!(table.head.len(), table.right.len());
        assert!(
            table
                .lines
                .iter()
                .all(|line| line.len() == table.head.len()),
            "{scenario:?}"
        );
        // The number of lanes is a column where it is asked for.
        let lanes = table.head.iter().any(|name| name == "lanes");
        assert_eq!(lanes, !table.lines.is_empty() && scenario != Scenario::S13);
    }
}
