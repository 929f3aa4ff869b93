//! The kernel that the README shows is the one of this crate, which the other tests run.

#[test]
fn the_readme_shows_this_kernel() {
    let source = include_str!("../src/lib.rs");
    let readme = include_str!("../../../README.md");
    let begin = source
        .find("/// Lane `i` makes")
        .expect("the kernel's documentation");
    let end = source[begin..].find("\n}\n").expect("the kernel's end");
    let kernel = &source[begin..begin + end + 2];
    assert!(kernel.lines().count() < 20 && kernel.contains("fn squares"));
    assert!(
        readme.contains(kernel),
        "the README shows another kernel than\n{kernel}"
    );
}
