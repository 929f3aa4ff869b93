//! Own bits that nobody needs, in PTX of code that adds them everywhere.

use std::borrow::Cow;

/// What stands before the registers of such an addition, and behind them.
const ADDITION: (&str, &str) = (
    "{ .reg .b32 %own; mov.u32 %own, %lanemask_eq; or.b32 ",
    ", %own; }",
);

/// The text without the own bits that `warpheap-raw` adds to the masks of entries that call nothing and have no loop around two
/// of them: there the assembler is right about masks, and the addition costs time. A text without any is left as it is.
pub fn without_spare_own_lanes(ptx: &str) -> Cow<'_, str> {
    if !ptx.contains(ADDITION.0) {
        return Cow::Borrowed(ptx);
    }
    let mut text = String::with_capacity(ptx.len());
    let mut body = Vec::new();
    let mut keep = false;
    for line in ptx.lines() {
        // Whatever may be a call counts as one.
        keep |= line.contains(".func") || line.contains("call");
        body.push(line);
        // LLVM ends functions and entries, and nothing else, at the beginning of a line.
        if line.starts_with('}') {
            keep |= crate::has_loop_of_masks(&body.join("\n"));
            for line in body.drain(..) {
                push(&mut text, line, keep);
            }
            keep = false;
        }
    }
    for line in body {
        push(&mut text, line, true);
    }
    Cow::Owned(text)
}

/// Adds a line, an addition as a move where it is not to be kept.
fn push(text: &mut String, line: &str, keep: bool) {
    let registers = line.trim().strip_prefix(ADDITION.0);
    match registers.and_then(|line| line.strip_suffix(ADDITION.1)) {
        Some(registers) if !keep => {
            text.push_str("\tmov.b32 ");
            text.push_str(registers);
            text.push(';');
        }
        _ => text.push_str(line),
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_entries_without_calls_lose_it() {
        let body = |more: &str| {
            format!(
                "\n{{\n\tactivemask.b32 \t%r1;\n\t// begin inline asm\n\t{}%r2, %r1{}\n\t// end inline asm\n{more}\tret;\n}}\n",
                ADDITION.0, ADDITION.1
            )
        };
        let call = "\t{ // callseq 1, 0\n\tcall.uni f, ();\n\t}\n";
        let ptx = [
            ".version 6.3\n",
            &format!(".func f(){}", body("")),
            &format!(".visible .entry calls(){}", body(call)),
            &format!(".visible .entry alone(){}", body("")),
        ]
        .concat();
        let text = without_spare_own_lanes(&ptx);
        assert_eq!(text.matches("%lanemask_eq").count(), 2);
        let (kept, changed) = text.split_at(text.find(".visible .entry alone").expect("it stays"));
        assert!(ptx.starts_with(kept));
        assert!(changed.contains("\tmov.b32 %r2, %r1;\n"), "{changed}");
        assert_eq!(crate::unguarded_mask(&text), None);
    }

    #[test]
    fn entries_with_a_loop_of_masks_keep_it() {
        let mask = format!(
            "\tactivemask.b32 \t%r1;\n\t{}%r2, %r1{}\n",
            ADDITION.0, ADDITION.1
        );
        let entry = |masks: &str| {
            format!(".visible .entry k()\n{{\n$L1:\n{masks}\t@%p1 bra \t$L1;\n\tret;\n}}\n")
        };
        let two = entry(&mask.repeat(2));
        assert_eq!(without_spare_own_lanes(&two), two);
        let text = without_spare_own_lanes(&entry(&mask)).into_owned();
        assert!(text.contains("\tmov.b32 %r2, %r1;\n"), "{text}");
    }

    #[test]
    fn other_texts_stay() {
        let ptx = ".visible .entry k()\n{\n\tactivemask.b32 \t%r1;\n\tret;\n}";
        assert!(matches!(without_spare_own_lanes(ptx), Cow::Borrowed(text) if text == ptx));
    }
}
