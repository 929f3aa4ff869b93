//! Explored schedules of one allocator at one width: `explored ALLOCATOR WIDTH FIRST END`. With `WARPHEAP_RACES=1` they run
//! in the emulator's model of memory. Ends at the first one that fails, with its seed.

use std::process::ExitCode;
use warpheap_tests::suite::explore::schedules;

macro_rules! run {
    ($($allocator:ident),* $(,)?) => {
        fn run(name: &str, width: u32, seeds: std::ops::Range<u64>) -> bool {
            match name {
                $(stringify!($allocator) => {
                    schedules::<warpheap_rt::alloc::$allocator>(width, seeds);
                    true
                })*
                _ => false,
            }
        }
    };
}

warpheap_rt::for_each_allocator! { run }

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at)?.parse().ok();
    let (Some(name), Some(width), Some(first), Some(end)) =
        (arguments.first(), number(1), number(2), number(3))
    else {
        eprintln!("explored ALLOCATOR WIDTH FIRST END: the seeds from FIRST up to END");
        return ExitCode::from(2);
    };
    if !run(name, width as u32, first..end) {
        eprintln!("no allocator is called {name}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}
