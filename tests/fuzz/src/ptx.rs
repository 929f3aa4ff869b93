//! PTX text.

use warpheap_ptx::{
    Parts, is_call, own_lane, unguarded_mask, with_one_way_fences, without_spare_own_lanes,
};

/// What the loader for CUDA reads in it.
#[path = "../../../backend-cuda/src/ptx.rs"]
#[allow(dead_code, reason = "the loader uses all of it")]
mod head;

/// The bytes are a text; a `%` behind a new line is a piece of PTX that is hard to guess.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut ptx = String::new();
    for line in text.split('\n') {
        match line.strip_prefix('%') {
            Some(line) => ptx += &piece(line),
            None => ptx += line,
        }
        ptx.push('\n');
    }
    check(&ptx);
}

/// A piece by its first letter.
fn piece(line: &str) -> String {
    let register = line.get(1..).unwrap_or_default();
    match line.chars().next() {
        Some('a') => format!("\tactivemask.b32 \t%r{register};"),
        Some('o') => format!("\t{}", own_lane(&format!("%r{register}"))),
        Some('s') => own_lane("%r1").replacen("or.b32 %r1", "or.b32 %r2", 1),
        Some('f') => format!(".func f{register}(\n)\n{{"),
        Some('e') => format!(".visible .entry e{register}_l1(\n)\n{{"),
        Some('c') => format!("\tcall.uni f{register}, ();"),
        Some('r') => format!("\t{}", warpheap_ptx::RELEASE),
        Some('q') => format!("\t{}", warpheap_ptx::ACQUIRE),
        Some('v') => format!(".version {register}"),
        Some('t') => format!(".target sm_{register}"),
        Some('h') => ".version 6.3\n.target sm_70\n.address_size 64".to_owned(),
        Some('g') => format!(".global .align 4 .b8 switch_$_table_$_f{register}[4] = {{1, 2}};"),
        Some('m') => format!("\tmov.b64 %rd1, switch_$_table_$_f{register};"),
        Some('b') => "\tret;\n}".to_owned(),
        _ => line.to_owned(),
    }
}

fn check(ptx: &str) {
    if let Some(name) = unguarded_mask(ptx) {
        assert!(ptx.contains(name), "{name}");
    }
    let fences = with_one_way_fences(ptx);
    for marked in [warpheap_ptx::RELEASE, warpheap_ptx::ACQUIRE] {
        assert!(!fences.contains(marked), "{fences}");
    }
    assert_eq!(fences.lines().count(), ptx.lines().count());
    // Directions of fences are no business of masks. (The mark of one that is commented out would end the comment.)
    let marks =
        ptx.matches(warpheap_ptx::RELEASE).count() + ptx.matches(warpheap_ptx::ACQUIRE).count();
    if ptx.matches("/*").count() == marks {
        assert_eq!(unguarded_mask(&fences), unguarded_mask(ptx));
    }
    let bare = without_spare_own_lanes(ptx);
    let calls = |text: &str| text.lines().filter(|line| is_call(line)).count();
    assert_eq!(calls(&bare), calls(ptx));
    assert_eq!(bare.lines().count(), ptx.lines().count());
    // Line ends become those of Unix, so that a line that ends with several of another kind is another each time.
    if !ptx.contains('\r') {
        assert_eq!(without_spare_own_lanes(&bare), bare);
    }
    let entries: Vec<&str> = head::entries(ptx).collect();
    assert!(entries.iter().all(|entry| ptx.contains(entry)));
    // Unless what is changed is in the line of an entry, where no PTX has it.
    let mixed = |line: &str| {
        let changed = [".version", ".target", "fence."];
        line.contains(".entry") && changed.iter().any(|word| line.contains(word))
    };
    if !ptx.lines().any(mixed) {
        assert!(head::entries(&fences).eq(entries.iter().copied()));
    }
    let _ = (head::version(ptx), head::target(ptx));
    if let Some(parts) = Parts::of(ptx) {
        let texts = entries.iter().map(|entry| (entry, parts.alone(ptx, entry)));
        for (entry, alone) in texts.filter_map(|(entry, alone)| Some((entry, alone?))) {
            // Nothing that it needs is missing, so it is its own part.
            let of_alone = Parts::of(&alone).expect("parts of a part");
            assert_eq!(of_alone.alone(&alone, entry).as_ref(), Some(&alone));
            let is_of_all = |name| parts.entries(ptx).any(|other| other == name);
            assert!(of_alone.entries(&alone).all(is_of_all), "{alone}");
            let calls = [
                parts.calls_by_name(ptx, entry),
                of_alone.calls_by_name(&alone, entry),
            ];
            assert_eq!(calls[0], calls[1], "{alone}");
        }
    }
    for entry in entries.iter().copied().chain(["none_l1"]) {
        assert!(!head::explain_missing(ptx, entry).is_empty());
    }
}
