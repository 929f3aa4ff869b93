//! `cargo xtask mutants`: leaves out each fence and barrier of device code in turn, and runs explored schedules in the
//! emulator's model of memory until one fails. One that none misses is needless, or is not tested, and has to be argued for.

mod argued;

use crate::bundle::executables;
use crate::workspace::root;
use crate::workspace::{self, PROFILE};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpheap_toolchain::error::{Result, message};
use warpheap_toolchain::sh;

/// Arguments of `cargo xtask mutants`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Schedules of each allocator at each width
    #[arg(long, default_value_t = 300)]
    schedules: u32,
    /// Only places whose names contain this, such as `warp_heap`
    #[arg(long)]
    only: Option<String>,
    /// The table to write
    #[arg(long, default_value = "docs/mutants.md")]
    out: PathBuf,
}

/// The widths of warps, the one that finds most first.
const WIDTHS: [u32; 3] = [4, 32, 1];

/// A program that fails if order is missing.
struct Killer {
    name: String,
    program: PathBuf,
    args: Vec<String>,
}

impl Killer {
    /// Runs it with a variable set: its messages if it failed.
    fn fails(&self, variable: &str, value: &str) -> Result<Option<String>> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env("WARPHEAP_RACES", "1");
        let ended = command.env(variable, value).output();
        let ended = ended.map_err(|e| sh::file("start", &self.program, e))?;
        let told = [ended.stdout, ended.stderr].concat();
        Ok((!ended.status.success()).then(|| String::from_utf8_lossy(&told).into_owned()))
    }
}

/// Runs the command.
///
/// # Errors
/// When the programs cannot be built or run, or one fails with nothing left out.
pub fn run(args: &Args) -> Result {
    let killers = killers(args.schedules)?;
    let places = places(&killers, args.only.as_deref())?;
    let next = AtomicUsize::new(0);
    let rows = Mutex::new(BTreeMap::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let failed = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((place, reach)) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match killed_by(place, reach.iter().map(|&at| &killers[at])) {
                        Ok(by) => {
                            eprintln!("{place}  {}", by.as_deref().unwrap_or("not missed"));
                            lock(&rows).insert(place.clone(), by);
                        }
                        Err(error) => *lock(&failed) = Some(error),
                    }
                }
            });
        }
    });
    if let Some(error) = lock(&failed).take() {
        return Err(error);
    }
    let rows = lock(&rows);
    let said = argued::read()?;
    let (mut missed, mut argued, mut open) = (0, 0, Vec::new());
    let mut lines = String::new();
    for (place, by) in rows.iter() {
        let key = argued::key(place)?;
        let by = match by {
            Some(by) => {
                missed += 1;
                by.clone()
            }
            None if said.contains(&key) => {
                argued += 1;
                "nobody | [argued](unmissed.md) | -".into()
            }
            None => {
                open.push(key.clone());
                "**nobody** | - | -".into()
            }
        };
        let at = place.trim_start_matches("device-rt/src/");
        lines += &format!("| `{at}` | {by} |\n");
    }
    sh::write(&root().join(&args.out), table(&lines, args.schedules))?;
    println!(
        "{} places, {missed} of which are missed and {argued} argued for: {}",
        rows.len(),
        args.out.display()
    );
    match open.is_empty() {
        true => Ok(()),
        false => message(format!(
            "nobody misses these, and {} says nothing of them:\n{}",
            argued::LIST,
            open.join("\n")
        )),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// All programs: each allocator at each width, and the explored tests of the containers, of arenas and of WarpHeap.
fn killers(schedules: u32) -> Result<Vec<Killer>> {
    let build = |what: &[&str], tests| -> Result<_> {
        let mut cargo = workspace::cargo();
        cargo
            .args(what)
            .args(["--profile", PROFILE, "--no-default-features"]);
        eprintln!("+ {}", sh::shown(&cargo));
        cargo.arg("--message-format=json-render-diagnostics");
        Ok(executables(&sh::stdout(&mut cargo)?, tests))
    };
    let explored = build(
        &["build", "-p", "warpheap-tests", "--example", "explored"],
        false,
    )?;
    let Some(explored) = explored
        .into_iter()
        .find(|program| program.name == "explored")
    else {
        return message("cargo built no `explored`");
    };
    let mut killers = Vec::new();
    for allocator in warpheap_build::ALLOCATORS {
        for width in WIDTHS {
            killers.push(Killer {
                name: format!("{allocator}, width {width}"),
                program: explored.file.clone(),
                args: vec![
                    allocator.into(),
                    width.to_string(),
                    "0".into(),
                    schedules.to_string(),
                ],
            });
        }
    }
    for (package, which) in [
        ("warpheap-container-tests", &["--tests"][..]),
        ("warpheap-tests", &["--test", "fdg", "--test", "warp_heap"]),
    ] {
        let tests = [&["test", "--no-run", "-p", package], which].concat();
        for test in build(&tests, true)? {
            killers.push(Killer {
                name: test.name.replace(&format!("{package}."), "test "),
                program: test.file,
                args: vec!["explored".into(), "linearisable".into()],
            });
        }
    }
    Ok(killers)
}

/// The places in device code with an order, and which programs reach each.
fn places(killers: &[Killer], only: Option<&str>) -> Result<Vec<(String, Vec<usize>)>> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let list = root().join("target").join("fence-sites.txt");
    for (at, killer) in killers.iter().enumerate() {
        sh::remove(&list)?;
        if let Some(told) = killer.fails("WARPHEAP_FENCE_SITES", &list.display().to_string())? {
            let why = told
                .lines()
                .find(|line| line.contains("data race") || line.contains("lock"));
            eprintln!(
                "{}: fails as it is, so it finds nothing: {}",
                killer.name,
                why.unwrap_or("")
            );
            continue;
        }
        if Path::new(&list).is_file() {
            for place in sh::read(&list)?.lines() {
                let wanted = only.is_none_or(|only| place.contains(only));
                if place.starts_with("device-rt/") && wanted {
                    places.entry(place.into()).or_default().push(at);
                }
            }
        }
    }
    Ok(places.into_iter().collect())
}

/// Who misses the order of a place first, and after how many schedules.
fn killed_by<'a>(place: &str, killers: impl Iterator<Item = &'a Killer>) -> Result<Option<String>> {
    for killer in killers {
        if let Some(told) = killer.fails("WARPHEAP_LEFT_OUT", place)? {
            let seed = told.split("the failing schedule: ").nth(1);
            let seed = seed.and_then(|line| line.split("seed ").nth(1)?.lines().next());
            let after = seed.and_then(|seed| Some(seed.trim().parse::<u32>().ok()? + 1));
            let how = if told.contains("data race") {
                "a race"
            } else if told.contains("livelock") {
                "a lock"
            } else {
                "a wrong answer"
            };
            return Ok(Some(match after {
                Some(after) => format!("{} | {how} | {after}", killer.name),
                None => format!("{} | {how} | -", killer.name),
            }));
        }
    }
    Ok(None)
}

fn table(lines: &str, schedules: u32) -> String {
    format!(
        "# Every fence as a mutant\n\n\
         Made by `cargo xtask mutants`. Each place in device code that orders accesses was left out by itself, and explored\n\
         schedules in [the emulator's model of memory](ordering.md) were run until one failed: those of every allocator that\n\
         reaches the place, {schedules} at each of the widths 4, 32 and 1, and the explored tests and histories of the containers\n\
         and of arenas, and those of WarpHeap alone.\n\
         The last column says how many schedules that took. What nobody misses is [argued for](unmissed.md).\n\n\
         | place | missed by | as | after |\n|---|---|---|---|\n{lines}"
    )
}
