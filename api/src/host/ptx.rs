//! What makers and loaders of PTX agree on about its text.
//!
//! **Masks.** ptxas takes the answer of `activemask` in a called function for the same in all lanes of the warp,
//! and leaves out what keeps groups of lanes apart that are in the function at the same time
//! (`docs/reports/ptxas-activemask.md`). A mask that the lane's own bit was added to is a number of the lane's. So
//! every `activemask` in a function is followed by that addition, and a text without it is not loaded.
//!
//! **Fences.** GPUs of compute capability 9.0 have fences that only acquire or only release, which cost less. PTX
//! for older ones cannot name them, so each `fence.acq_rel.gpu` says in a comment which of the two is meant, and
//! the loader writes the better form where device and driver have it.

use std::borrow::Cow;
use std::string::String;
use std::vec::Vec;

/// What follows an `activemask` into register `mask` in a function.
pub fn own_lane(mask: &str) -> String {
    std::format!("{{ .reg .b32 %own; mov.u32 %own, %lanemask_eq; or.b32 {mask}, {mask}, %own; }}")
}

/// A fence of which only the release counts, as it stands in PTX for any device.
pub const RELEASE: &str = "fence.acq_rel.gpu; /*release*/";
/// A fence of which only the acquire counts, as it stands in PTX for any device.
pub const ACQUIRE: &str = "fence.acq_rel.gpu; /*acquire*/";

/// The least compute capability and the least version of CUDA (as the driver tells it) that have fences of one
/// direction; PTX has them from version 8.6 on.
pub const ONE_WAY_FENCES: ((u32, u32), i32) = ((9, 0), 12_080);

/// The text with fences of one direction where they are marked, for devices of [`ONE_WAY_FENCES`] at least.
pub fn with_one_way_fences(ptx: &str) -> Cow<'_, str> {
    if !ptx.contains(RELEASE) && !ptx.contains(ACQUIRE) {
        return Cow::Borrowed(ptx);
    }
    let text = raised(ptx, ".version ", "8.6");
    let text = raised(&text, ".target sm_", "90");
    let text = text.replace(RELEASE, "fence.release.gpu;");
    Cow::Owned(text.replace(ACQUIRE, "fence.acquire.gpu;"))
}

/// The text with the number behind the first `directive` made at least `least`.
fn raised(ptx: &str, directive: &str, least: &str) -> String {
    let Some(at) = ptx.find(directive).map(|at| at + directive.len()) else {
        return ptx.into();
    };
    let (head, rest) = ptx.split_at(at);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let parts = |number: &str| -> Vec<u32> {
        let parts = number.split('.');
        parts.map(|part| part.parse().unwrap_or(0)).collect()
    };
    let number = match parts(number) < parts(least) {
        true => least,
        false => number,
    };
    std::format!("{head}{number}{rest}")
}

/// The first function that takes a mask by `activemask` and does not add the lane's own bit to it at once.
pub fn unguarded_mask(ptx: &str) -> Option<&str> {
    // Most texts have no such function: a look for the word is faster than reading the language.
    if !ptx.contains("activemask") {
        return None;
    }
    let mut function = None;
    let mut depth = 0u32;
    let mut open: Vec<Vec<&str>> = Vec::new();
    for statement in Statements(ptx) {
        let words: Vec<&str> = words(statement.text).collect();
        // What a mask waits for: the three statements of `own_lane`.
        if let Some(wanted) = open.last() {
            if words.is_empty() {
            } else if words == *wanted {
                open.pop();
            } else {
                return function;
            }
        } else if function.is_some() && depth > 0 {
            let at = words.iter().position(|word| word.starts_with("activemask"));
            if let Some(mask) = at.and_then(|at| words.get(at + 1)) {
                open = std::vec![
                    std::vec!["or.b32", mask, mask, "%own"],
                    std::vec!["mov.u32", "%own", "%lanemask_eq"],
                    std::vec![".reg", ".b32", "%own"],
                ];
            }
        }
        match statement.end {
            '{' if depth == 0 => {
                function = function_name(statement.text);
                depth = 1;
            }
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if !open.is_empty() && depth == 0 {
                    return function;
                }
            }
            _ => {}
        }
    }
    None
}

/// The name of the function whose header this is; `None` for an entry and for anything else.
fn function_name(header: &str) -> Option<&str> {
    let (_, after) = header.split_once(".func")?;
    let mut after = after.trim_start();
    // What it returns stands before its name.
    if after.starts_with('(') {
        after = after.split_once(')')?.1.trim_start();
    }
    after
        .split(|c: char| c == '(' || c.is_whitespace())
        .find(|name| !name.is_empty())
}

/// A piece of PTX up to a brace or a semicolon.
struct Statement<'a> {
    text: &'a str,
    end: char,
}

/// The pieces of a text. Comments and strings are passed over as parts of pieces.
struct Statements<'a>(&'a str);

impl<'a> Iterator for Statements<'a> {
    type Item = Statement<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.0.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let rest = &self.0[at..];
            at += match bytes[at] {
                b'/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
                b'"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
                end @ (b'{' | b'}' | b';') => {
                    let text = &self.0[..at];
                    self.0 = &self.0[at + 1..];
                    let end = char::from(end);
                    return Some(Statement { text, end });
                }
                // The texts are ASCII but for strings and comments; any byte of a letter leads on.
                _ => 1,
            };
            while !self.0.is_char_boundary(at.min(self.0.len())) {
                at += 1;
            }
        }
        None
    }
}

/// The words of a statement without its comments: names and numbers, without commas.
fn words(statement: &str) -> impl Iterator<Item = &str> {
    statement
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .flat_map(|line| line.split([' ', '\t', ',', '\r']))
        .filter(|word| !word.is_empty() && !(word.starts_with("/*") && word.ends_with("*/")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::ToString;

    fn module(function: &str, entry: &str) -> String {
        format!(
            ".version 6.3\n.target sm_70\n.address_size 64\n\n.func helper\n(\n\t.param .b32 a\n)\n;\n\
             .func  (.param .b32 r) helper\n(\n\t.param .b32 a // {{ .func not_this\n)\n{{\n\t.reg .b32 \t%r<4>;\n{function}\n\
             \t{{ // callseq\n\tcall.uni other, ();\n\t}}\n\tret;\n}}\n\
             .visible .entry kernel()\n{{\n{entry}\n\tret;\n}}\n"
        )
    }

    #[test]
    fn a_function_that_trusts_the_mask_is_named() {
        let take = "\tactivemask.b32 \t%r1;";
        let guarded = format!("{take}\n\t{}\n", own_lane("%r1"));
        assert_eq!(unguarded_mask(&module("", take)), None);
        assert_eq!(unguarded_mask(&module(&guarded, take)), None);
        assert_eq!(unguarded_mask(&module(take, "")), Some("helper"));
        // Into another register, too late, or of two masks only one.
        let other = format!("{take}\n\t{}\n", own_lane("%r2"));
        assert_eq!(unguarded_mask(&module(&other, "")), Some("helper"));
        let late = format!(
            "{take}\n\tvote.sync.ballot.b32 %r3, 1, %r1;\n\t{}",
            own_lane("%r1")
        );
        assert_eq!(unguarded_mask(&module(&late, "")), Some("helper"));
        let second = format!("{guarded}\n{take}");
        assert_eq!(unguarded_mask(&module(&second, "")), Some("helper"));
        let comment = format!("{take} // activemask\n\n\t// here\n\t{}", own_lane("%r1"));
        assert_eq!(unguarded_mask(&module(&comment, "")), None);
        assert_eq!(
            unguarded_mask(".visible .func f() { activemask.b32 %r1; }"),
            Some("f")
        );
        assert_eq!(unguarded_mask("activemask"), None);
    }

    #[test]
    fn fences_get_their_direction() {
        let plain = module("\tfence.acq_rel.gpu;", "");
        assert_eq!(with_one_way_fences(&plain), plain);
        let both = module(
            &format!("\t{RELEASE}\n\tfence.acq_rel.gpu;"),
            &format!("\t{ACQUIRE}"),
        );
        let text = with_one_way_fences(&both).to_string();
        assert!(text.starts_with(".version 8.6\n.target sm_90\n"), "{text}");
        assert_eq!(text.matches("fence.release.gpu;").count(), 1);
        assert_eq!(text.matches("fence.acquire.gpu;").count(), 1);
        assert_eq!(text.matches("fence.acq_rel.gpu;").count(), 1);
        // Of a text that is for something newer, neither number falls.
        let newer = both.replace("6.3", "9.10").replace("sm_70", "sm_100a");
        let text = with_one_way_fences(&newer).to_string();
        assert!(
            text.starts_with(".version 9.10\n.target sm_100a\n"),
            "{text}"
        );
    }
}
