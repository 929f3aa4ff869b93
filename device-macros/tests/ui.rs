//! Wrong use of `#[kernel]`, `derive(HeapData)` and format strings is a compile error that says what is wrong.
//!
//! `ui/*.stderr` hold the whole messages. After a wanted change: `TRYBUILD=overwrite`, then read the
//! difference.

#[test]
fn wrong_use_is_explained() {
    let cases = trybuild::TestCases::new();
    // One that compiles, so that the others do not fail for a reason that all of them share.
    cases.pass("tests/ui/right.rs");
    cases.pass("tests/ui/shapes.rs");
    cases.pass("tests/ui/names.rs");
    cases.compile_fail("tests/ui/kernel_*.rs");
    cases.compile_fail("tests/ui/launch_*.rs");
    cases.compile_fail("tests/ui/params_*.rs");
    cases.compile_fail("tests/ui/safe_*.rs");
    cases.compile_fail("tests/ui/heap_data_*.rs");
    cases.compile_fail("tests/ui/text_*.rs");
}
