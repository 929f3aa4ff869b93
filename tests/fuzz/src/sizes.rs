//! Sizes on the command line.

/// How the command line reads and writes sizes.
#[path = "../../../cli/src/size.rs"]
mod size;

/// The bytes are a size.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(bytes) = size::parse(&text) else {
        return;
    };
    assert_eq!(size::parse(&bytes.to_string()), Ok(bytes));
    // The text has three digits at least; the largest numbers are rounded to what does not fit any more.
    let shown = size::display(bytes);
    let again = size::parse(&shown).unwrap_or_else(|why| {
        assert!(bytes > u64::MAX - (1 << 40), "{why}");
        u64::MAX
    });
    let difference = again.abs_diff(bytes) as f64 / bytes as f64;
    assert!(difference < 0.006, "{bytes} is shown as {shown}");
}
