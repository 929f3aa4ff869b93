//! A report for people: a list for one run, a table for several, the most frequent k-mers below.

use crate::text::{grouped, percent, table, time};
use crate::{device, left_out, size};
use std::fmt::Write;
use warpheap_jobs::device::DeviceReport;
use warpheap_jobs::kmer::report::{RankReport, Report, Run, Shared, Source, Top};

/// The report for people.
pub fn text(report: &Report) -> String {
    let mut text = head(report);
    match &report.runs[..] {
        [run] => text += &one_run(run, report.checked),
        runs => text += &runs_table(runs, report.checked),
    }
    for run in &report.runs {
        if let Some(shared) = &run.shared {
            text += &format!("\n{}", parts_table(run, shared, &report.devices));
        }
    }
    text += &ranks_table(&report.ranks);
    if let Some(carrier) = &report.carrier {
        text += &format!("pieces of sequences went from device to device by {carrier}\n");
    }
    text += &left_out::lines(&report.left_out);
    if !report.top.is_empty() {
        // The checks made sure that all runs have the same.
        let mut rows = vec![["k-mer", "count"].map(String::from).to_vec()];
        let row = |top: &Top| vec![top.kmer.clone(), grouped(top.count.into())];
        rows.extend(report.top.iter().map(row));
        text += &format!("\n{}", table(&rows));
    }
    text
}

fn head(report: &Report) -> String {
    let input = &report.input;
    let source = match &input.source {
        Source::File { file } => file.clone(),
        Source::Reads { seed } => format!("reads of a random genome, seed {seed}"),
    };
    let strands = if report.canonical {
        ", both strands as one"
    } else {
        ""
    };
    let once = report.spectrum.first().filter(|first| first.count == 1);
    let devices = match &report.devices[..] {
        [] => device::lines(&report.device),
        several => device::numbered(several),
    };
    format!(
        "{devices}\
         input     {source}: {} sequences, {} bases, {} unknown letters\n\
         k-mers    {} of {} bases{strands}, {} different ones, {} of them once\n",
        grouped(input.records),
        grouped(input.bases),
        grouped(input.unknown),
        grouped(report.total),
        report.k,
        grouped(report.distinct),
        grouped(once.map_or(0, |first| first.kmers)),
    )
}

fn one_run(run: &Run, checked: bool) -> String {
    let phases = &run.phases;
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<10}{value}");
    };
    line("allocator", run.allocator.to_owned());
    line("pool", size::display(run.pool_bytes));
    let blocks = size::display(run.bytes_blocks);
    let entries = size::display(run.bytes_entries);
    line("map", format!("{blocks} for {entries} of keys and counts"));
    let used = size::display(run.bytes_used);
    let share = percent(run.utilisation);
    line("used", format!("{used} (utilisation {share})"));
    line("upload", time(phases.upload));
    line(
        "count",
        format!(
            "{} ({} on the device), {} batches, {:.1} Mkmers/s",
            time(phases.count),
            time(phases.count_device),
            grouped(run.batches.into()),
            run.mkmers_per_s
        ),
    );
    line("read", time(phases.read));
    line("free", time(phases.free));
    if let Some(shared) = &run.shared {
        line("merge", time(shared.merge));
    }
    line(
        "check",
        match checked {
            true => format!("{}, as the CPU counts", time(phases.check)),
            false => "left out, but for the total".to_owned(),
        },
    );
    text
}

/// What each device did: a row for each.
fn parts_table(run: &Run, shared: &Shared, devices: &[DeviceReport]) -> String {
    let head = [
        run.allocator,
        "k-mers",
        "different",
        "pool",
        "map",
        "used",
        "batches",
        "upload",
        "count",
        "Mkmers/s",
        "read",
        "free",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    for (at, (part, device)) in shared.parts.iter().zip(devices).enumerate() {
        rows.push(vec![
            format!("{} {}", device::number(at, device), device.name),
            grouped(part.kmers),
            grouped(part.distinct),
            size::display(part.pool_bytes),
            size::display(part.bytes_blocks),
            size::display(part.bytes_used),
            grouped(part.batches.into()),
            time(part.phases.upload),
            time(part.phases.count),
            format!("{:.1}", part.mkmers_per_s()),
            time(part.phases.read),
            time(part.phases.free),
        ]);
    }
    table(&rows)
}

fn runs_table(runs: &[Run], checked: bool) -> String {
    let head = [
        "allocator",
        "pool",
        "map",
        "used",
        "utilisation",
        "count",
        "Mkmers/s",
        "read",
        "free",
        "check",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    for run in runs {
        rows.push(vec![
            run.allocator.to_owned(),
            size::display(run.pool_bytes),
            size::display(run.bytes_blocks),
            size::display(run.bytes_used),
            percent(run.utilisation),
            time(run.phases.count),
            format!("{:.1}", run.mkmers_per_s),
            time(run.phases.read),
            time(run.phases.free),
            if checked { "ok" } else { "left out" }.to_owned(),
        ]);
    }
    format!("\n{}", table(&rows))
}

/// What each of several ranks did; of the first allocator, where it depends on that.
fn ranks_table(ranks: &[RankReport]) -> String {
    if ranks.is_empty() {
        return String::new();
    }
    let head = [
        "rank",
        "bases",
        "k-mers",
        "different",
        "sent",
        "load",
        "cut",
        "exchange",
        "hidden",
        "spread",
        "CPU",
        "count",
        "check",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    for rank in ranks {
        let phases = rank.runs.first().map(|run| run.phases).unwrap_or_default();
        rows.push(vec![
            rank.rank.to_string(),
            grouped(rank.bases),
            grouped(rank.kmers),
            grouped(rank.distinct),
            size::display(rank.bytes_sent),
            time(rank.load),
            time(rank.exchanged.cut),
            time(rank.exchanged.exchange),
            time(rank.exchanged.hidden),
            time(rank.spread),
            time(rank.reference),
            time(phases.count),
            time(phases.check),
        ]);
    }
    format!("\n{}", table(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::tests::device;
    use crate::text::tests::keys;
    use std::time::Duration;
    use warpheap_jobs::Exchanged;
    use warpheap_jobs::kmer::report::{Frequency, InputReport, PartRun, Phases, SCHEMA};

    /// A report of equal runs.
    fn report(runs: usize) -> Report {
        let run = Run {
            allocator: "Bump",
            pool_bytes: 1 << 20,
            root_bits: 3,
            batches: 2,
            bytes_entries: 1000,
            bytes_blocks: 1500,
            bytes_used: 2000,
            utilisation: 0.5,
            mkmers_per_s: 12.5,
            phases: Phases::default(),
            shared: None,
            found: None,
        };
        Report {
            schema: SCHEMA,
            device: device(),
            devices: Vec::new(),
            input: InputReport {
                source: Source::Reads { seed: 9 },
                records: 3,
                bases: 4500,
                unknown: 2,
                load: Duration::from_millis(1500),
            },
            k: 3,
            canonical: true,
            total: 4000,
            distinct: 32,
            top: vec![Top {
                kmer: "ACG".into(),
                count: 1234,
            }],
            spectrum: vec![Frequency { count: 2, kmers: 7 }],
            runs: vec![run; runs],
            checked: true,
            left_out: Vec::new(),
            carrier: None,
            ranks: Vec::new(),
        }
    }

    #[test]
    fn json_names_are_stable() {
        let json = serde_json::to_value(report(1)).unwrap_or_default();
        let keys = |value| keys(value).join(" ");
        assert_eq!(
            keys(&json),
            "canonical checked device distinct input k left_out runs schema spectrum top total"
        );
        assert_eq!(
            keys(&json["input"]),
            "bases load_s records seed source unknown"
        );
        assert_eq!(json["input"]["source"], "reads");
        assert_eq!(
            keys(&json["runs"][0]),
            "allocator batches bytes_blocks bytes_entries bytes_used check_s count_device_s count_s free_s \
             mkmers_per_s pool_bytes read_s root_bits upload_s utilisation"
        );
        assert_eq!(keys(&json["top"][0]), "count kmer");
        assert_eq!(keys(&json["spectrum"][0]), "count kmers");
    }

    /// The same of two devices.
    fn shared(runs: usize) -> Report {
        let part = |kmers| PartRun {
            places: 2250,
            kmers,
            distinct: 30,
            pool_bytes: 1 << 19,
            root_bits: 3,
            batches: 1,
            bytes_blocks: 750,
            bytes_used: 1000,
            phases: Phases::default(),
        };
        let mut report = report(runs);
        report.devices = vec![device(), device()];
        for run in &mut report.runs {
            run.shared = Some(Shared {
                merge: Duration::from_millis(7),
                parts: vec![part(1999), part(2001)],
            });
        }
        report
    }

    #[test]
    fn json_of_several_devices_has_what_each_did_besides() {
        let json = serde_json::to_value(shared(1)).unwrap_or_default();
        assert_eq!(json["devices"].as_array().map(Vec::len), Some(2));
        assert_eq!(json["runs"][0]["merge_s"], 0.007);
        assert_eq!(
            keys(&json["runs"][0]["parts"][1]).join(" "),
            "batches bytes_blocks bytes_used check_s count_device_s count_s distinct free_s kmers places pool_bytes read_s \
             root_bits upload_s"
        );
    }

    #[test]
    fn text_of_several_devices_has_a_row_for_each() {
        for runs in [1, 2] {
            let text = text(&shared(runs));
            assert!(
                text.starts_with("device 0  host: emulator (1), warps of 32\ndevice 1  host"),
                "{text}"
            );
            for row in ["0 emulator   1,999", "1 emulator   2,001"] {
                let rows = text.lines().filter(|line| line.starts_with(row));
                assert_eq!(rows.count(), runs, "{row}: {text}");
            }
        }
    }

    #[test]
    fn several_ranks_have_a_row_each() {
        let mut report = report(1);
        assert!(!text(&report).contains("rank"));
        let rank = |rank| RankReport {
            rank,
            bases: 100,
            kmers: 90,
            distinct: 80,
            bytes_sent: 4096,
            load: Duration::ZERO,
            exchanged: Exchanged::default(),
            ready: Duration::ZERO,
            spread: Duration::ZERO,
            reference: Duration::ZERO,
            runs: report.runs.clone(),
        };
        report.carrier = Some("NCCL 2.28.9".into());
        report.ranks = (0..3).map(rank).collect();
        let json = serde_json::to_value(&report).unwrap_or_default();
        assert_eq!(
            keys(&json["ranks"][2]).join(" "),
            "bases bytes_sent cut_device_s cut_s distinct exchange_s hidden_s kmers load_s rank ready_s reference_s runs spread_s"
        );
        let text = text(&report);
        assert!(text.contains("pieces of sequences went from device to device by NCCL 2.28.9\n"));
        let rows = text.lines().filter(|line| line.contains("4.00 KiB"));
        assert_eq!(rows.count(), 3, "{text}");
    }

    #[test]
    fn text_shows_a_list_or_a_table() {
        let one = text(&report(1));
        assert!(one.contains("utilisation 50.0 %"), "{one}");
        assert!(
            one.contains("k-mer  count\n------------\nACG    1,234\n"),
            "{one}"
        );
        let two = text(&report(2));
        let rows = two.lines().filter(|line| line.starts_with("Bump"));
        assert_eq!(rows.filter(|row| row.contains("12.5")).count(), 2, "{two}");
    }
}
