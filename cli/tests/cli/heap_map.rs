//! `--heap-map`.

use super::{Outcome, TempFile, warpheap, warpheap_with};
use serde_json::Value;

/// Runs a job that writes its map to a file of this name, and gives what is in the file.
fn written(name: &str, job: &[&str]) -> (Outcome, String) {
    let file = TempFile::new(name, "");
    let map = ["--backend", "host", "--heap-map", file.path()];
    let outcome = warpheap(&[job, &map].concat());
    let text = std::fs::read_to_string(file.path()).unwrap_or_default();
    (outcome, text)
}

fn frames(json: &str) -> Vec<Value> {
    let frames: Value = serde_json::from_str(json).expect("it is JSON");
    frames.as_array().cloned().expect("snapshots")
}

fn labels(frames: &[Value]) -> Vec<&str> {
    let label = |frame: &'_ Value| frame["label"].as_str().map(str::len);
    assert!(frames.iter().all(|frame| label(frame).is_some()));
    frames
        .iter()
        .filter_map(|frame| frame["label"].as_str())
        .collect()
}

#[test]
fn every_job_has_a_snapshot_after_each_step() {
    let graph = ["graph", "--scale", "8", "--batch", "1000", "--json"];
    let (outcome, map) = written("graph.json", &graph);
    outcome.json();
    let map = frames(&map);
    assert_eq!(labels(&map)[..2], ["batch 1 inserted", "batch 2 inserted"]);
    assert_eq!(labels(&map).last(), Some(&"all freed"));
    assert_eq!(map.len(), 6, "4096 edges by 1000");
    for (at, frame) in (0..).zip(&map) {
        assert_eq!(frame["sequence"], at);
        let cells = frame["cells"].as_array().expect("cells").iter();
        let cells: u64 = cells.filter_map(|cell| cell[0].as_u64()).sum();
        let bytes = cells * frame["cell_bytes"].as_u64().unwrap_or(0);
        let begin = frame["begin"].as_u64().unwrap_or(0);
        assert_eq!(
            Some(begin + bytes),
            frame["pool_bytes"]
                .as_u64()
                .map(|all| all.min(begin + bytes))
        );
        let uses = frame["uses"].as_array().expect("sums").iter();
        let tied: u64 = uses.filter_map(|row| row["bytes"].as_u64()).sum();
        assert_eq!(Some(tied), frame["pool_bytes"].as_u64());
    }
    assert!(map[3]["used_bytes"].as_u64() > map[0]["used_bytes"].as_u64());
    assert_eq!(map[5]["used_bytes"], 0);
    assert!(
        map[3]["rounding_bytes"].as_u64().is_some(),
        "the job counts requests"
    );

    let rounds = ["graph", "--scale", "7", "--rounds", "2", "--updates", "300"];
    let (_, map) = written("rounds.json", &rounds);
    let map = frames(&map);
    let expected = [
        "step 1: init",
        "step 2: insert",
        "step 3: insert",
        "step 4: delete",
        "step 5: delete",
    ];
    assert_eq!(labels(&map)[..5], expected);

    let join = [
        "join",
        "--rows",
        "2000",
        "--repeats",
        "2",
        "--allocator",
        "WarpHeap,ScatterAlloc",
    ];
    let (_, map) = written("join.json", &join);
    let map = frames(&map);
    assert_eq!(
        labels(&map),
        [
            "probe 1",
            "probe 2",
            "all freed",
            "probe 1",
            "probe 2",
            "all freed"
        ]
    );
    assert_eq!(
        (&map[0]["allocator"], &map[3]["unit"]),
        (&"WarpHeap".into(), &"page".into())
    );

    let kmer = ["kmer", "--bases", "3000", "--batch", "2000"];
    let (_, map) = written("kmer.json", &kmer);
    assert_eq!(
        labels(&frames(&map)),
        ["batch 1 counted", "batch 2 counted", "map dropped"]
    );
}

#[test]
fn every_allocator_has_a_map() {
    let graph = ["graph", "--scale", "7", "--allocator", "all", "--json"];
    let (outcome, map) = written("all.json", &graph);
    let runs = outcome.json()["runs"].as_array().map_or(0, Vec::len);
    let map = frames(&map);
    assert_eq!(map.len(), 2 * runs);
    for frame in &map {
        let uses = frame["uses"].as_array().expect("sums");
        assert!(uses.iter().all(|row| row["name"] != "opaque"), "{frame}");
    }
}

#[test]
fn a_page_and_a_json_file_hold_the_same() {
    let graph = ["graph", "--scale", "7", "--batch", "500"];
    let (_, page) = written("map.html", &graph);
    let (_, json) = written("map.json", &graph);
    let data = page.split("type=\"application/json\">").nth(1);
    let data = data.and_then(|rest| rest.split("</script>").next());
    let (page, json) = (frames(data.unwrap_or_default()), frames(&json));
    let shapes = |frames: &[Value]| {
        let shape = |frame: &Value| (frame["label"].clone(), frame["used_bytes"].clone());
        frames.iter().map(shape).collect::<Vec<_>>()
    };
    assert_eq!(shapes(&page), shapes(&json));
    let (_, svg) = written("map.svg", &graph);
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    assert!(
        svg.contains("batch 1 inserted") && svg.contains("all freed"),
        "{svg}"
    );
}

#[test]
fn the_terminal_shows_it_below_the_report() {
    let graph = ["graph", "--scale", "7", "--backend", "host"];
    let plain = warpheap(&graph);
    let with_map = warpheap(&[&graph[..], &["--heap-map", "-"]].concat());
    assert_eq!((with_map.code, with_map.err.as_str()), (Some(0), ""));
    assert!(!with_map.out.contains('\x1b'), "no colours in a pipe");
    assert_eq!(plain.out.lines().next(), with_map.out.lines().next());
    for part in [
        "batch 1 inserted",
        "one character: ",
        "Largest free run",
        "slab ",
    ] {
        assert!(with_map.out.contains(part), "no {part} in {}", with_map.out);
        assert!(!plain.out.contains(part), "{part} unasked");
    }
}

#[test]
fn a_heap_that_is_full_has_its_map() {
    let full = ["graph", "--scale", "15", "--pool", "1M"];
    let (outcome, map) = written("full.txt", &full);
    outcome.failed(1, &["too small"]);
    for part in ["insertion failed", "Largest free run"] {
        assert!(map.contains(part), "no {part} in {map}");
    }
}

/// A schedule with a seed is the same each time, so maps of two runs are.
#[test]
fn a_saved_map_is_drawn_again_as_the_job_draws_it() {
    let folder = TempFile::new("anchor", "");
    let beside = |name: &str| folder.path().replace("anchor", name);
    let job = |name: &str| {
        let file = beside(name);
        let args = ["graph", "--scale", "7", "--rounds", "5", "--updates", "300"];
        let map = ["--pool", "8M", "--backend", "host", "--heap-map", &file];
        let outcome = warpheap_with(&[&args[..], &map].concat(), b"", &[("WARPHEAP_SEED", "5")]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        std::fs::read_to_string(file).expect("the job wrote it")
    };
    job("saved.json");
    let saved = beside("saved.json");
    for name in ["map.txt", "map.svg", "map.html"] {
        let again = beside(&name.replace("map", "again"));
        let outcome = warpheap(&["heap-map", &saved, "-o", &again]);
        assert_eq!(
            (outcome.code, outcome.out.as_str()),
            (Some(0), ""),
            "{}",
            outcome.err
        );
        let again = std::fs::read_to_string(again).expect("it is drawn");
        assert!(again == job(name), "{name} differs:\n{again}");
    }
    let shown = warpheap(&["heap-map", &saved]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert_eq!(shown.out, job("map.txt"));
    assert!(shown.out.contains("6 of 12 snapshots"), "{}", shown.out);
}

#[test]
fn what_is_no_saved_map_is_named() {
    let report = TempFile::new("report.json", "{\"schema\": 1}");
    let fails = |args: &[&str], parts: &[&str]| {
        warpheap(&[&["heap-map"], args].concat()).failed(2, parts);
    };
    let why = [
        "report.json is no saved heap map",
        "expected a sequence",
        "--heap-map FILE.json",
    ];
    fails(&[report.path()], &why);
    fails(&["/nowhere/map.json"], &["cannot read /nowhere/map.json"]);
    let png = [report.path(), "-o", "map.png"];
    fails(&png, &["--output map.png", ".html, .svg, .txt or .json"]);
    let nowhere = [report.path(), "-o", "/nowhere/at/all/map.svg"];
    fails(&nowhere, &["/nowhere/at/all/map.svg", "no folder"]);
}

#[test]
fn mistakes_are_named_before_any_work() {
    let job = ["graph", "--backend", "none", "--heap-map"];
    let fails = |name: &str, more: &[&str], parts: &[&str]| {
        warpheap(&[&job[..], &[name], more].concat()).failed(2, parts);
    };
    fails("map.png", &[], &["map.png", ".html, .svg, .txt or .json"]);
    fails(
        "/nowhere/at/all/map.svg",
        &[],
        &["/nowhere/at/all/map.svg", "no folder"],
    );
    fails("-", &["--json"], &["--json", "name a file"]);
}

/// A browser that is there, to see what the page's script draws.
fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let runs = |name: &&str| {
        let mut command = std::process::Command::new(name);
        command
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    };
    names.into_iter().find(runs)
}

/// What a page looks like after a script of the test's own.
fn drawn(browser: &str, page: &str, script: &str) -> String {
    let page = page.replace("</body>", &format!("<script>{script}</script></body>"));
    let file = TempFile::new("page.html", page);
    let profile = format!("--user-data-dir={}.profile", file.path());
    let output = std::process::Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--dump-dom",
            &profile,
        ])
        .arg(format!("file://{}", file.path()))
        .output()
        .expect("the browser starts");
    let _ = std::fs::remove_dir_all(format!("{}.profile", file.path()));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The text of an element that has nothing but text.
fn text_of<'a>(dom: &'a str, id: &str) -> &'a str {
    let begin = dom
        .split(&format!("id=\"{id}\""))
        .nth(1)
        .unwrap_or_default();
    let text = begin.split_once('>').map_or("", |(_, rest)| rest);
    text.split('<').next().unwrap_or_default()
}

#[test]
fn the_slider_changes_what_the_page_shows() {
    let Some(browser) = browser() else {
        eprintln!(
            "SKIPPED: the page of a heap map in a browser: there is no chromium; install the package chromium"
        );
        return;
    };
    let (_, page) = written("map.html", &["graph", "--scale", "9", "--batch", "2000"]);
    let last = drawn(browser, &page, "");
    assert!(
        text_of(&last, "label").contains("all freed"),
        "{}",
        text_of(&last, "label")
    );
    let slide = "const s = document.getElementById('now'); s.value = 1; s.dispatchEvent(new Event('input'));";
    let second = drawn(browser, &page, slide);
    assert!(
        text_of(&second, "label").contains("batch 2 inserted"),
        "{}",
        text_of(&second, "label")
    );
    let map = |dom: &str| {
        dom.split("id=\"map\"")
            .nth(1)
            .and_then(|rest| rest.split("</svg>").next())
            .map(str::to_owned)
    };
    assert!(map(&last).is_some_and(|map| map.matches("<rect").count() > 200));
    assert_ne!(map(&last), map(&second));
    assert!(
        second.contains("<td>slab "),
        "the table is that of the snapshot"
    );
    let compare = format!(
        "{slide} const b = document.getElementById('before'); b.value = '0'; b.dispatchEvent(new Event('change'));"
    );
    let changes = drawn(browser, &page, &compare);
    assert!(
        changes.contains("more in use") && changes.contains("<td class=\"n\">+"),
        "a difference"
    );
    let point = format!(
        "{slide} document.querySelector('#map rect').dispatchEvent(new MouseEvent('mouseover', {{bubbles: true}}));"
    );
    let pointed = drawn(browser, &page, &point);
    assert!(
        text_of(&pointed, "cell").starts_with("at "),
        "{}",
        text_of(&pointed, "cell")
    );
}
