//! Every test in the emulator, with few instances.

use litmus::arguments::parse;
use litmus::list;
use litmus::report::{Line, Verdict, failed};
use litmus::stage::Stage;
use warpheap::rt::allocators::named;

#[test]
fn nothing_forbidden_is_seen() {
    let given = "--backend host --instances 3000 --lanes 256";
    let arguments = parse(given.split(' ').map(str::to_owned)).expect("good");
    let stage = Stage::open(&arguments).expect("the emulator opens");
    for test in list::all() {
        let outcome = (test.run)(&stage);
        let line = Line {
            shape: test.shape,
            variant: test.variant,
            outcome: &outcome,
        }
        .to_string();
        assert!(!failed(&outcome), "{line}");
        match outcome {
            Ok(Verdict::Ran(_, counted)) => assert!(counted.instances >= 3000, "{line}"),
            _ => {
                let row = named(test.variant);
                assert!(row.is_some_and(|row| !row.frees), "{line}");
            }
        }
    }
}
