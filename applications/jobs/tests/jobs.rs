//! The jobs as a program runs them that is no command line: on the emulator, and without a word.

use warpheap::Device;
use warpheap_jobs::allocators::{Allocator, DEFAULT, named};
use warpheap_jobs::error::JobError;
use warpheap_jobs::graph::changing::{self, Changes};
use warpheap_jobs::graph::generate::Wanted;
use warpheap_jobs::graph::input::{Graph, Input};
use warpheap_jobs::join::tables::{self, Generator};
use warpheap_jobs::progress::Silent;
use warpheap_jobs::{device, graph, join, kmer};

fn host() -> Device {
    device::open(Some("host"), None).expect("the emulator is everywhere")
}

fn usual<J: Copy>(all: &[Allocator<J>]) -> Vec<Allocator<J>> {
    named(&[], all, DEFAULT).expect("the default is one of all")
}

fn generated(scale: u32) -> Input {
    Input {
        graph: Graph::Generated(Wanted {
            scale: Some(scale),
            ..Wanted::default()
        }),
        simple: false,
    }
}

fn graph_of(options: &graph::Options) -> Result<graph::report::Report, JobError> {
    graph::run(&host(), &usual(&graph::all()), options, &Silent)
}

fn changed(options: &changing::Options) -> Result<changing::report::Report, JobError> {
    changing::run(&host(), &usual(&graph::all()), options, &Silent)
}

fn joined(options: &join::Options) -> Result<join::report::Report, JobError> {
    join::run(&host(), &usual(&join::all()), options, &Silent)
}

fn counted(options: &kmer::Options) -> Result<kmer::report::Report, JobError> {
    kmer::run(&host(), &usual(&kmer::all()), options, &Silent)
}

#[test]
fn every_job_reports_what_it_was_asked_for() {
    let report = graph_of(&graph::Options {
        input: generated(6),
        ..graph::Options::default()
    });
    let report = report.expect("the graph is built");
    assert_eq!((report.graph.vertices, report.graph.edges), (64, 1024));
    assert_eq!(report.runs.len(), 1);

    let report = changed(&changing::Options {
        input: generated(6),
        changes: Changes {
            rounds: 2,
            updates: 100,
            ..Changes::default()
        },
        pool: None,
    });
    let report = report.expect("the graph changes");
    assert_eq!(report.runs[0].inserts.len(), 2);

    let rows = Generator {
        left: 500,
        right: 700,
        ..Generator::default()
    };
    let report = joined(&join::Options {
        input: tables::Input::Generated(rows),
        ..join::Options::default()
    });
    let report = report.expect("the tables are joined");
    assert_eq!((report.join.rows_right, report.join.matches), (700, 700));

    let report = counted(&kmer::Options {
        input: kmer::Input::Reads {
            bases: 1500,
            seed: 3,
        },
        k: 5,
        ..kmer::Options::default()
    });
    let report = report.expect("the k-mers are counted");
    assert_eq!(report.total, 10 * (150 - 4));
}

#[test]
fn devices_that_share_a_job_count_what_one_counts() {
    let options = kmer::Options {
        input: kmer::Input::Reads {
            bases: 4000,
            seed: 5,
        },
        k: 7,
        ..kmer::Options::default()
    };
    let on = |devices: &[Device]| kmer::run_on(devices, &usual(&kmer::all()), &options, &Silent);
    let one = on(&[host()]).expect("the k-mers are counted");
    let three = on(&[host(), host(), host()]).expect("the k-mers are counted");
    assert_eq!((one.total, one.distinct), (three.total, three.distinct));
    assert_eq!(
        (&one.top, one.spectrum.len()),
        (&three.top, three.spectrum.len())
    );
    assert_eq!((one.devices.len(), three.devices.len()), (0, 3));
    assert!(matches!(on(&[]), Err(JobError::Usage(_))));
    let all = device::open(Some("host"), Some("all"))
        .unwrap_err()
        .to_string();
    assert!(all.contains("only `warpheap kmer`"), "{all}");
}

/// A command line refuses them before; a program is told, too, and nothing panics.
#[test]
fn settings_out_of_bounds_are_refused_by_name() {
    let refused = |outcome: Result<(), JobError>, option: &str| match outcome {
        Err(JobError::Usage(why)) => assert!(why.starts_with(option), "{why}"),
        other => panic!("{option}: {other:?}"),
    };
    for (k, batch, option) in [(0, 1, "--k 0"), (99, 1, "--k 99"), (5, 0, "--batch 0")] {
        let options = kmer::Options {
            k,
            batch,
            ..kmer::Options::default()
        };
        refused(counted(&options).map(drop), option);
    }
    for (page, option) in [(16, "--page 16"), (48, "--page 48")] {
        let options = join::Options {
            page,
            ..join::Options::default()
        };
        refused(joined(&options).map(drop), option);
    }
    for scale in [0, 64] {
        let options = graph::Options {
            input: generated(scale),
            ..graph::Options::default()
        };
        refused(graph_of(&options).map(drop), &format!("--scale {scale}"));
    }
    let options = changing::Options {
        changes: Changes {
            updates: 0,
            ..Changes::default()
        },
        ..changing::Options::default()
    };
    refused(changed(&options).map(drop), "--updates 0");
}
