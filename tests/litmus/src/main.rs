//! Runs litmus tests on a backend.
//!
//! One line for each test says how often its weak outcome was seen. It exits with 1 if one was seen that may not be, or a
//! test failed.

use litmus::arguments::{self, Arguments, USAGE};
use litmus::list;
use litmus::report::{Line, failed};
use litmus::stage::Stage;
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut given = std::env::args().skip(1).peekable();
    if given.peek().is_some_and(|option| option == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match arguments::parse(given)
        .map_err(Into::into)
        .and_then(|a| start(&a))
    {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How many tests failed.
fn start(arguments: &Arguments) -> Result<usize, Box<dyn Error>> {
    let tests = list::chosen(&arguments.shape, &arguments.allocator)?;
    let stage = Stage::open(arguments)?;
    let info = stage.device.info();
    println!(
        "{} ({}), {} lanes test, seed {}, fences: {}",
        info.name,
        info.backend,
        stage.lanes,
        stage.seed,
        stage.fences.name()
    );
    let mut wrong = 0;
    for test in &tests {
        let outcome = (test.run)(&stage);
        let (shape, variant) = (test.shape, test.variant);
        let line = Line {
            shape,
            variant,
            outcome: &outcome,
        };
        println!("{line}");
        wrong += usize::from(failed(&outcome));
    }
    println!("{} tests, {wrong} failed", tests.len());
    Ok(wrong)
}
