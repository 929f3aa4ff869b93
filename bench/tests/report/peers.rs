//! Figures of other allocators: what is built in, and files that cannot be used.

use crate::{row, times};
use warpheap_bench::report::ReportError;
use warpheap_bench::report::peers::Peers;
use warpheap_bench::row::{Metric, Unit};
use warpheap_bench::scenario::Scenario;
use warpheap_bench::stats::Spread;

const HEAD: &str =
    "allocator,scenario,case,n,malloc_ms,free_ms,total_ms,utilisation,range_ratio,status";

#[test]
fn the_figures_of_an_h200_are_built_in_for_an_h200() {
    let peers = Peers::built_in("vulkan", "NVIDIA H200 NVL").unwrap();
    assert_eq!(peers.peers.len(), 848);
    assert!(peers.origin.contains("driver 580.159"));
    assert!(
        Peers::built_in("cuda", "NVIDIA L4")
            .unwrap()
            .peers
            .is_empty()
    );
    assert!(Peers::built_in("host", "H200").unwrap().peers.is_empty());
    let best = |scenario, case, n, name, unit| {
        let row = row(scenario, "Bump", case, n, times(1.0, 1.0));
        let metric = Metric::new(name, unit, Spread::exactly(1.0));
        let metric = if unit == Unit::Percent {
            metric.more_is_better()
        } else {
            metric
        };
        let (peer, value) = peers.best(&row, &metric)?;
        Some((peer.allocator.clone(), value))
    };
    let is = |name: &str, value| Some((name.to_string(), value));
    let ms = Unit::Millis;
    assert_eq!(
        best(Scenario::S1, "64", 1 << 20, "malloc", ms),
        is("ScatterAlloc", 0.03491)
    );
    assert_eq!(
        best(Scenario::S1, "8192", 1 << 19, "free", ms),
        is("Gallatin", 0.0127)
    );
    assert_eq!(
        best(Scenario::S2, "pow2 16..512", 1 << 20, "malloc", ms),
        is("ScatterAlloc", 0.07222)
    );
    assert_eq!(
        best(Scenario::S2, "uniform 4..8192", 1 << 18, "malloc", ms),
        is("Gallatin", 1.229)
    );
    assert_eq!(
        best(Scenario::S5, "16..1024", 1 << 16, "total", ms),
        is("ScatterAlloc", 0.8119)
    );
    // 100,000 lanes there, however many fill the pool here.
    assert_eq!(
        best(Scenario::S6, "1024", 77, "utilisation", Unit::Percent),
        is("mallocMC", 99.7)
    );
    assert_eq!(
        best(Scenario::S7, "4096", 100_000, "range", Unit::Ratio).map(|b| b.1),
        Some(1.0)
    );
    assert_eq!(best(Scenario::S1, "64", 1 << 10, "malloc", ms), None);
}

#[test]
fn the_best_is_of_those_that_free_and_are_right() {
    let text = format!(
        "{HEAD}\n\
         Overlaps,S1,16,256,0.1,0.1,,,,overlap\n\
         Fails,S1,16,256,0.2,0.1,,,,nulls\n\
         Keeps,S1,16,256,0.3,,,,,ok\n\
         Slow,S1,16,256,0.5,0.1,,,,ok\n\
         Good,S1,16,256,0.4,0.1,,,,ok\n\
         Crashes,S6,64,1,,,,0.9,,crash\n\
         Full,S6,64,1,,,,0.8,,ok\n"
    );
    let peers = Peers::parse("my.csv", &text).unwrap();
    let best = |scenario, case, metric: Metric| {
        let row = row(scenario, "Bump", case, 256, vec![]);
        peers
            .best(&row, &metric)
            .map(|(peer, value)| (peer.allocator.clone(), value))
    };
    let malloc = Metric::new(Metric::MALLOC, Unit::Millis, Spread::exactly(1.0));
    assert_eq!(best(Scenario::S1, "16", malloc), Some(("Good".into(), 0.4)));
    // What was reached before a crash was reached.
    let share = Metric::new(Metric::UTILISATION, Unit::Ratio, Spread::exactly(1.0));
    let share = share.more_is_better();
    assert_eq!(
        best(Scenario::S6, "64", share),
        Some(("Crashes".into(), 0.9))
    );
}

#[test]
fn a_line_that_cannot_be_used_is_named() {
    let good = "A,S1,16,256,0.5,,,,,ok";
    for (lines, line, want) in [
        (
            "A,S1,16,256,fast,,,,,ok",
            3,
            "`fast` is no figure for malloc_ms",
        ),
        ("A,S1,16,256,-1,,,,,ok", 3, "`-1` is no figure"),
        (
            "A,S1,16,256,\"1\n\u{1b}[2J\",,,,,ok",
            3,
            "`1\\n\\u{1b}[2J` is no figure",
        ),
        ("A,S1,16,256,NaN,,,,,ok", 3, "`NaN` is no figure"),
        ("A,S99,16,256,0.5,,,,,ok", 3, "no scenario is called `S99`"),
        ("A,S1,16,many,0.5,,,,,ok", 3, "`many` is no number of lanes"),
        ("A,S1,16,0,0.5,,,,,ok", 3, "`0` is no number of lanes"),
        (",S1,16,256,0.5,,,,,ok", 3, "`allocator` is empty"),
        ("A,S1,16,256,,,,,,ok", 3, "there is no figure"),
        (
            "A,S1,16,256,0.5,ok",
            3,
            "6 fields where there are 10 columns",
        ),
        (
            "B,S1,16,256,0.5,,,,,ok\n# note\nB,S1,16,256,0.6,,,,,ok",
            5,
            "the same allocator and cell as line 3",
        ),
    ] {
        let text = format!("{HEAD}\n{good}\n{lines}\n");
        let error = Peers::parse("my.csv", &text).unwrap_err();
        let ReportError::Peers { line: at, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(*at, line, "{lines}: {error}");
        assert!(
            error
                .to_string()
                .starts_with(&format!("my.csv, line {line}: ")),
            "{error}"
        );
        assert!(error.to_string().contains(want), "{error}");
        assert!(error.is_input());
    }
    let text = Peers::parse("my.csv", "# from me\nname,size\n")
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("line 2: the columns have to be allocator,scenario,case"),
        "{text}"
    );
    assert!(Peers::parse("my.csv", "").is_err());
    assert!(Peers::read("no/such/file".as_ref()).is_err());
    let whole = Peers::parse("my.csv", &format!("# from\n# me\n{HEAD}\n{good}\n")).unwrap();
    assert_eq!((whole.origin.as_str(), whole.peers.len()), ("from\nme", 1));
}
