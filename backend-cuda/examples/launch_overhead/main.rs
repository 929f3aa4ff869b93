//! What a launch in a stream costs beside the driver's own call, and whether streams overlap. Prints a table; needs a GPU.

#[path = "../../tests/common/mod.rs"]
mod common;
mod raw;

use common::streams::Stream;
use common::{IMAGE, launch};
use raw::Raw;
use std::time::{Duration, Instant};
use warpheap_api::host::{DeviceVec, IntoArg, Work};
use warpheap_cuda::CudaConfig;

const LAUNCHES: usize = 10_000;
const ROUNDS: usize = 7;

fn main() {
    let Some(device) = common::open(&CudaConfig::default()) else {
        return;
    };
    println!("{}, {}", device.info().name, device.info().driver);
    let module = device.load(&IMAGE).unwrap();
    let empty = launch(&module, "empty_l1", 1, 1, Vec::new());
    let vecs = [(); 3].map(|()| DeviceVec::<u32>::zeroed(&device, 64).unwrap());
    let [a, b, c] = &vecs;
    let args = vec![a.arg_mut(), b.arg(), c.arg()];
    let with_vectors = launch(&module, "empty_l1", 1, 1, args);
    let (first, second) = (Stream::open(&device), Stream::open(&device));

    let raw = Raw::new();
    let stream = device.stream().unwrap();
    let mut rows = [const { Vec::new() }; 5];
    for _ in 0..ROUNDS {
        // One after the other in each round, so that the clock is the same for all.
        rows[0].push(timed(|| raw.launches(LAUNCHES)));
        rows[1].push(timed(|| {
            let one = [empty.launch().unwrap()];
            let mut mark = None;
            for _ in 0..LAUNCHES {
                mark = Some(first.queue(Work::Launches(&one)));
            }
            first.wait(mark.unwrap());
        }));
        for (row, launch) in [(3, &empty), (4, &with_vectors)] {
            rows[row].push(timed(|| {
                for _ in 0..LAUNCHES {
                    launch.clone().on(&stream).unwrap();
                }
                stream.wait().unwrap();
            }));
        }
        rows[2].push(timed(|| {
            let all: Vec<_> = (0..LAUNCHES).map(|_| empty.launch().unwrap()).collect();
            first.wait(first.queue(Work::Launches(&all)));
        }));
    }
    let base = best(&rows[0]);
    let names = [
        "cuLaunchKernel",
        "Streams::queue, one launch a call",
        "Streams::queue, all in one call",
        "Prepared::on",
        "Prepared::on, three vectors",
    ];
    for (name, times) in names.iter().zip(&rows) {
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / LAUNCHES as f64;
        let worst = times.iter().max().copied().unwrap_or_default();
        println!(
            "{name:36} {:7.3} us a launch (worst of {ROUNDS} rounds {:7.3}), {:.3} times the driver's",
            micros(best(times)),
            micros(worst),
            best(times).as_secs_f64() / base.as_secs_f64(),
        );
    }

    let sleep = launch(&module, "sleep_l1", 1, 1, vec![100u32.into_arg()]);
    let one = timed(|| {
        first.launch(&sleep);
        first.wait(first.launch(&sleep));
    });
    let two = timed(|| {
        let marks = [first.launch(&sleep), second.launch(&sleep)];
        first.wait(marks[0]);
        second.wait(marks[1]);
    });
    println!("two kernels of 100 ms: in one stream {one:.1?}, in two {two:.1?}");

    let round_trip = |wait: &dyn Fn()| {
        let rounds = 1000;
        let time = timed(|| (0..rounds).for_each(|_| wait()));
        time.as_secs_f64() * 1e6 / rounds as f64
    };
    let stream = round_trip(&|| first.wait(first.launch(&empty)));
    let call = round_trip(&|| {
        empty.clone().run().unwrap();
    });
    println!("launch and wait: in a stream {stream:.1} us, as a call {call:.1} us");
}

fn best(times: &[Duration]) -> Duration {
    times.iter().min().copied().unwrap_or_default()
}

fn timed(call: impl FnOnce()) -> Duration {
    let start = Instant::now();
    call();
    start.elapsed()
}
