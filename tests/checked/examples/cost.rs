//! What each adaptor around `WarpHeap` costs, in a churn and in rows that grow, and what `Checked` finds in many
//! operations without a mistake. `cost [cuda|vulkan|host [launches of the churn]]`, of which the fastest counts.

use std::process::ExitCode;
use std::time::Duration;
use warpheap_api::host::{Device, DeviceError, DeviceVec, HostAlloc, LaunchConfig, Pool};
use warpheap_checked_kernels::Kernels;
use warpheap_checked_kernels::cost::{FreeRowsEntry, RowsEntry, TurnsEntry};
use warpheap_checked_tests::Site;
use warpheap_rt::adaptor::{Checked, Counted, Limited, Traced};
use warpheap_rt::alloc::WarpHeap;
use warpheap_rt::device::HeapVec;
use warpheap_rt::host::CheckedConfig;

/// What lanes do.
struct Size {
    /// Lanes of the churn.
    lanes: u32,
    /// Rounds of each.
    rounds: u32,
    /// Rows.
    rows: u32,
    /// Rounds in which rows grow.
    changes: u32,
    /// Bytes of the heap.
    pool: u64,
}

const ON_A_GPU: Size = Size {
    lanes: 1 << 18,
    rounds: 64,
    rows: 1 << 20,
    changes: 20,
    pool: 8 << 30,
};

const ON_CPUS: Size = Size {
    lanes: 1 << 9,
    rounds: 16,
    rows: 1 << 10,
    changes: 4,
    pool: 64 << 20,
};

/// An allocator with the kernels.
trait Subject: HostAlloc + TurnsEntry + RowsEntry + FreeRowsEntry {}

impl<A: HostAlloc + TurnsEntry + RowsEntry + FreeRowsEntry> Subject for A {}

struct Lab {
    device: Device,
    kernels: Kernels,
    size: Size,
    launches: u32,
}

/// The least time of a launch of the churn, that of all in which rows grew, and that of the launch that freed them; and what went wrong:
/// requests that failed, and blocks that were damaged.
struct Times {
    turns: Duration,
    grown: Duration,
    freed: Duration,
    wrong: u64,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let backend = arguments.next().unwrap_or_else(|| "host".to_owned());
    let launches = arguments.next().map_or(Ok(4), |text| text.parse());
    let (Some(site), Some(launches)) = (site(&backend), launches.ok().filter(|n| *n > 0)) else {
        eprintln!(
            "error: give a backend that is compiled in and there, cuda, vulkan or host, and a number of launches"
        );
        return ExitCode::FAILURE;
    };
    let size = match site.is_slow() {
        true => ON_CPUS,
        false => ON_A_GPU,
    };
    let lab = Lab {
        device: site.device,
        kernels: site.kernels,
        size,
        launches,
    };
    match run(&lab) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn site(backend: &str) -> Option<Site> {
    match backend {
        #[cfg(feature = "cuda")]
        "cuda" => Site::cuda(),
        #[cfg(feature = "vulkan")]
        "vulkan" => Site::vulkan(),
        "host" => Some(Site::host(32)),
        _ => None,
    }
}

/// Measures all; whether nothing went wrong.
fn run(lab: &Lab) -> Result<bool, DeviceError> {
    let Size {
        lanes,
        rounds,
        rows,
        changes,
        pool,
    } = lab.size;
    println!("{}, a heap of {} MiB", lab.device.info().name, pool >> 20);
    println!(
        "churn: {lanes} lanes, {rounds} rounds; rows: {rows}, of which an eighth changes, {changes} rounds"
    );
    println!("                         churn ms     rows grow ms   rows freed ms");
    let plain = measure::<WarpHeap>(lab)?;
    let mut wrong = tell("WarpHeap", &plain, &plain);
    wrong += tell("Counted", &measure::<Counted<WarpHeap>>(lab)?, &plain);
    wrong += tell("Limited", &measure::<Limited<WarpHeap>>(lab)?, &plain);
    wrong += tell("Traced", &measure::<Traced<WarpHeap>>(lab)?, &plain);
    // Of what checks consist: records and canaries, the quarantine, and how much of a block is filled in it.
    let parts = [(0, 0), (1024, 0), (1024, 64), (1024, 256)];
    for (waiting, filled) in parts {
        let config = CheckedConfig {
            waiting: Some(waiting),
            filled: Some(filled),
            ..CheckedConfig::default()
        };
        let name = format!("{waiting} wait, {filled} B");
        wrong += tell(
            &name,
            &measure_with::<Checked<WarpHeap>>(lab, &config)?,
            &plain,
        );
    }
    // A mistake that it found would be an error.
    wrong += tell("Checked", &measure::<Checked<WarpHeap>>(lab)?, &plain);
    let operations = 2 * u64::from(lanes) * u64::from(rounds) * u64::from(lab.launches);
    println!("Checked found nothing in {operations} mallocs and frees of the churn");
    Ok(wrong == 0)
}

fn measure<A: Subject>(lab: &Lab) -> Result<Times, DeviceError> {
    measure_with::<A>(lab, &A::Config::default())
}

fn measure_with<A: Subject>(lab: &Lab, config: &A::Config) -> Result<Times, DeviceError> {
    let reserve = || lab.device.reserve_with::<A>(lab.size.pool, config);
    let (turns, damaged) = turns(lab, &reserve()?)?;
    let (grown, freed, failed) = rows(lab, &reserve()?)?;
    Ok(Times {
        turns,
        grown,
        freed,
        wrong: damaged + failed,
    })
}

fn turns<A: Subject>(lab: &Lab, pool: &Pool<A>) -> Result<(Duration, u64), DeviceError> {
    let lanes = lab.size.lanes;
    let config = LaunchConfig::for_num_elems(lanes);
    let mut wrong = DeviceVec::<u32>::zeroed(&lab.device, lanes as usize)?;
    let mut least = Duration::MAX;
    for _ in 0..lab.launches {
        let kernels = &lab.kernels;
        let ran = kernels.turns(pool, config, &mut wrong, lab.size.rounds)?;
        least = least.min(ran.device_time);
    }
    Ok((least, sum(&wrong)?))
}

fn rows<A: Subject>(lab: &Lab, pool: &Pool<A>) -> Result<(Duration, Duration, u64), DeviceError> {
    let number = lab.size.rows;
    let config = LaunchConfig::for_num_elems(number);
    let mut rows = DeviceVec::<HeapVec<u32>>::zeroed(&lab.device, number as usize)?;
    let mut wrong = DeviceVec::<u32>::zeroed(&lab.device, number as usize)?;
    let mut grown = Duration::ZERO;
    for round in 0..lab.size.changes {
        let kernels = &lab.kernels;
        grown += kernels
            .rows(pool, config, &mut rows, &mut wrong, round)?
            .device_time;
    }
    let freed = lab.kernels.free_rows(pool, config, &mut rows)?.device_time;
    Ok((grown, freed, sum(&wrong)?))
}

fn sum(counts: &DeviceVec<u32>) -> Result<u64, DeviceError> {
    Ok(counts.to_vec()?.into_iter().map(u64::from).sum())
}

/// Prints a row of the table, and what went wrong, which it gives back.
fn tell(name: &str, times: &Times, plain: &Times) -> u64 {
    let cell = |of: fn(&Times) -> Duration| {
        let (time, floor) = (of(times).as_secs_f64(), of(plain).as_secs_f64());
        format!("{:>9.3} {:>5.2}", time * 1e3, time / floor)
    };
    println!(
        "{name:<18} {} {} {}",
        cell(|times| times.turns),
        cell(|times| times.grown),
        cell(|times| times.freed)
    );
    if times.wrong > 0 {
        eprintln!(
            "error: {name}: {} requests failed or blocks were damaged",
            times.wrong
        );
    }
    times.wrong
}
