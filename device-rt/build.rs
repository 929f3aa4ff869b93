//! Whether `WarpHeap` is a heap that finds mistakes: the environment variable `WARPHEAP_CHECK` says so.

use std::env;
use std::process::exit;

const VARIABLE: &str = "WARPHEAP_CHECK";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rustc-check-cfg=cfg(warpheap_check)");
    let value = env::var_os(VARIABLE).unwrap_or_default();
    match value.to_str() {
        Some("" | "0") => {}
        Some("1") => println!("cargo::rustc-cfg=warpheap_check"),
        _ => {
            let value = value.display();
            println!(
                "cargo::error={VARIABLE}={value} is not known: set it to 1 (the heaps of `WarpHeap` find mistakes in how they are \
                 used), or to 0, or leave it unset"
            );
            exit(1);
        }
    }
}
