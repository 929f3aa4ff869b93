//! What is printed of a run.

use crate::size;
use crate::text::{grouped, table};
use warpheap_bench::soak::{Report, Row};

/// The report for people.
pub fn text(report: &Report) -> String {
    let Report {
        backend,
        device,
        driver,
        warp_width,
        ..
    } = report;
    let mut text = format!(
        "device    {backend}: {device} ({driver}), warps of {warp_width}\nheap      {}, {} % full for the most part, {} lanes, seed {}\n\n",
        size::display(report.pool_bytes),
        report.fill,
        grouped(report.lanes.into()),
        report.seed
    );
    let head = [
        "allocator",
        "operations",
        "launches",
        "failed",
        "cycles",
        "looks",
        "resets",
        "resizes",
        "tied/live first",
        "last",
        "operations/s",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    rows.extend(report.rows.iter().map(cells));
    text += &table(&rows);
    for row in report.rows.iter().filter(|row| row.tied.is_some()) {
        text += &series(row, "tied/live where churn ended", &row.tied_series);
        text += &series(row, "percent in blocks there", &row.filled_series);
        text += &series(row, "percent tied where it was empty", &row.empty_series);
    }
    text
}

fn cells(row: &Row) -> Vec<String> {
    let ratio = |at: usize| {
        row.tied
            .map_or_else(|| "-".to_owned(), |tied| format!("{:.3}", tied[at]))
    };
    let counts = [
        row.operations,
        row.launches,
        row.failed,
        row.cycles,
        row.looks,
        row.resets,
        row.resizes,
    ];
    let mut cells = vec![row.allocator.clone()];
    cells.extend(counts.map(grouped));
    cells.extend([ratio(0), ratio(1), grouped(row.rate as u64)]);
    cells
}

fn series(row: &Row, what: &str, figures: &[f64]) -> String {
    let figures: Vec<String> = figures.iter().map(|one| format!("{one:.3}")).collect();
    format!("{}, {what}: {}\n", row.allocator, figures.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_a_row_and_its_series_for_each_allocator() {
        let row = |allocator: &str, tied| Row {
            allocator: allocator.into(),
            operations: 12_345,
            launches: 678,
            rounds: 600,
            failed: 9,
            cycles: 5,
            looks: 44,
            resets: 3,
            resizes: 2,
            seconds: 2.0,
            rate: 6172.5,
            tied,
            tied_series: vec![1.25, 1.5],
            filled_series: vec![79.5, 80.0],
            empty_series: vec![0.0],
        };
        let report = Report {
            version: "1".into(),
            backend: "host".into(),
            device: "emulator".into(),
            driver: "1".into(),
            warp_width: 32,
            seed: 7,
            pool_bytes: 32 << 20,
            lanes: 256,
            fill: 80,
            one_launch: false,
            rows: vec![row("Bump", None), row("WarpHeap", Some([1.25, 1.5]))],
            fault: None,
        };
        let text = text(&report);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "device    host: emulator (1), warps of 32");
        let heap = "heap      32.0 MiB, 80 % full for the most part, 256 lanes, seed 7";
        assert_eq!(lines[1], heap);
        let words: Vec<&str> = lines[6].split_whitespace().collect();
        let expected = "WarpHeap 12,345 678 9 5 44 3 2 1.250 1.500 6,172";
        assert_eq!(words.join(" "), expected);
        assert!(lines[5].contains(" -  "), "{}", lines[5]);
        let series = "WarpHeap, tied/live where churn ended: 1.250 1.500";
        assert_eq!(
            lines[7..],
            [
                series,
                "WarpHeap, percent in blocks there: 79.500 80.000",
                "WarpHeap, percent tied where it was empty: 0.000"
            ]
        );
    }
}
