//! Launches kernels with a heap through `cust`: they are plain PTX, and no part of warpheap's host library is used but what
//! tells how a heap is laid out.
//!
//! | file | what |
//! |---|---|
//! | `arguments` | the command line |
//! | `device` | the GPU with the kernels loaded |
//! | `heap` | memory with a heap in it |
//! | `requests` | one malloc and one free for each lane, checked and timed |
//! | `collections` | `Vec` and `Box` in branches, against the same on the CPU |
//! | `refusals` | requests that get null |

extern crate alloc;

mod arguments;
mod collections;
mod device;
mod heap;
#[path = "../kernels/src/job.rs"]
mod job;
mod refusals;
mod requests;

use arguments::{Arguments, USAGE};
use device::Device;
use std::error::Error;
use std::process::ExitCode;

/// What may go wrong, as one message.
type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let given = std::env::args().skip(1);
    let arguments = match Arguments::parse(given) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(what) => {
            eprintln!("raw-door: {what} (--help says what there is)");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("raw-door: {what}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Outcome<()> {
    let device = Device::open(arguments)?;
    println!("{}", device.description());
    refusals::run(&device)?;
    println!("requests that get null: ok");
    collections::run(&device, arguments)?;
    requests::run(&device, arguments)
}
