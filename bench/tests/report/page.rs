//! The page with everything on it.

use crate::run;
use warpheap_bench::report::compare::Comparison;
use warpheap_bench::report::peers::Peers;
use warpheap_bench::report::{Report, html};
use warpheap_bench::run::Run;

fn page(run: &Run, comparison: Option<&Comparison>) -> String {
    let peers = Peers::built_in("cuda", "NVIDIA H200").unwrap();
    let report = Report {
        run,
        peers: &peers,
        comparison,
        command: "warpheap bench --out \"a <b>\"",
    };
    html::page(&report, &report.plots().unwrap())
}

#[test]
fn the_page_needs_nothing_else() {
    let page = page(&run(), None);
    for foreign in [
        "src=",
        "url(",
        "<link",
        "<script",
        "<iframe",
        "@import",
        "href=\"http",
    ] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    // Names of XML's own are the only addresses.
    let plain = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!plain.contains("http://") && !plain.contains("https://"));
    for part in [
        "NVIDIA H200",
        "580.159",
        "8 GiB",
        "2026-11-20 23:30 UTC",
        "warpheap bench --out &quot;a &lt;b&gt;&quot;",
        "prefers-color-scheme: dark",
        ">malloc &lt;&amp;&gt;</td>",
        "published allocators for CUDA",
        "RegEff",
        ">utilisation</th>",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    assert_eq!(page.matches("<svg").count(), 6);
    assert_eq!(page.matches("<table>").count(), 7);
    assert!(!page.contains("WRONG:"));
}

#[test]
fn tags_are_closed_and_links_lead_somewhere() {
    let page = page(&run(), None);
    for tag in [
        "section", "table", "tr", "td", "figure", "svg", "dl", "p", "nav", "style", "html",
    ] {
        let open =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    for link in page.split("href=\"#").skip(1) {
        let id = link.split('"').next().unwrap();
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
}

#[test]
fn wrong_memory_and_regressions_are_marked() {
    let earlier = run();
    let mut later = run();
    later.rows[0].metrics[0].value.median *= 3.0;
    later.rows[1].right = false;
    later.rows[1].status = "2 overlap".into();
    later.rows[1].metrics.clear();
    let comparison = Comparison::new(&earlier, &later, 10.0).unwrap();
    let page = page(&later, Some(&comparison));
    assert!(page.contains("WRONG: 2 overlap") && page.contains("Memory was handed out"));
    assert!(page.contains("<tr class=\"wrong\"><td>S1 Bump lane 16 x 2^20</td>"));
    assert!(page.contains("<li>S1 Bump lane 64 x 2^20: 2 overlap</li>"));
}
