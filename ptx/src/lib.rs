//! What makers and loaders of PTX agree on about its text.
//!
//! **Masks.** ptxas takes the answer of `activemask` for the same in all lanes of the warp, and leaves out what keeps
//! groups of lanes apart that are at the same place at the same time. That they can be there, calls bring about, and
//! loops with several masks (`docs/reports/ptxas-activemask.md`). A mask that the lane's own bit was added to is a
//! number of the lane's. So every `activemask` in a function, in an entry that calls one, and in an entry with a loop
//! around two of them is followed by that addition, and a text without it is not loaded. Code that the builder does not see (`warpheap-raw`) has the addition in its source: there the sum
//! stands in a register of its own, and the mask alone is used for nothing else.
//!
//! **Parts.** A kernel may be compiled without the others of its text, where they share no variable ([`Parts`]).
//!
//! **Fences.** GPUs of compute capability 9.0 have fences that only acquire or only release, which cost less. PTX
//! for older ones cannot name them, so each `fence.acq_rel.gpu` says in a comment which of the two is meant, and
//! the loader writes the better form where device and driver have it.

mod loops;
mod parts;
mod spare;

pub use loops::has_loop_of_masks;
pub use parts::Parts;
pub use spare::without_spare_own_lanes;
use std::borrow::Cow;

/// What follows an `activemask` into register `mask`.
pub fn own_lane(mask: &str) -> String {
    format!("{{ .reg .b32 %own; mov.u32 %own, %lanemask_eq; or.b32 {mask}, {mask}, %own; }}")
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
    const MARKED: &str = "fence.acq_rel.gpu; /*";
    let Some(first) = ptx.find(MARKED) else {
        return Cow::Borrowed(ptx);
    };
    // In one pass: modules are large, and programs wait for them.
    let (head, mut rest) = ptx.split_at(first);
    let mut text = raised(&raised(head, ".version ", "8.6"), ".target sm_", "90");
    text.reserve(rest.len());
    while let Some(at) = rest.find(MARKED) {
        let (before, fence) = rest.split_at(at);
        text.push_str(before);
        rest = if let Some(rest) = fence.strip_prefix(RELEASE) {
            text.push_str("fence.release.gpu;");
            rest
        } else if let Some(rest) = fence.strip_prefix(ACQUIRE) {
            text.push_str("fence.acquire.gpu;");
            rest
        } else {
            text.push_str(MARKED);
            &fence[MARKED.len()..]
        };
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The text with the number behind the first `directive` made at least `least`; as it is if there is none.
fn raised(ptx: &str, directive: &str, least: &str) -> String {
    let Some(at) = ptx.find(directive).map(|at| at + directive.len()) else {
        return ptx.into();
    };
    let (head, rest) = ptx.split_at(at);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    // A point that no digit follows begins another word.
    let mut end = digits(rest);
    while end > 0
        && let Some(behind) = rest[end..].strip_prefix('.')
        && digits(behind) > 0
    {
        end += 1 + digits(behind);
    }
    let (number, rest) = rest.split_at(end);
    let parts = |number: &str| -> Vec<u32> {
        let parts = number.split('.');
        parts.map(|part| part.parse().unwrap_or(0)).collect()
    };
    let number = match !number.is_empty() && parts(number) < parts(least) {
        true => least,
        false => number,
    };
    format!("{head}{number}{rest}")
}

/// The first function or entry in which a mask taken by `activemask` needs the lane's own bit and does not get it at
/// once. All functions need it, entries that call some, and those with a loop around two masks.
pub fn unguarded_mask(ptx: &str) -> Option<&str> {
    // Most texts without allocations have none: a look for the word is faster than reading the language.
    if !ptx.contains("activemask") {
        return None;
    }
    let mut body: Option<Body<'_>> = None;
    let mut depth = 0u32;
    let mut statements = Statements(ptx);
    while let Some(statement) = statements.next() {
        if let Some(body) = &mut body
            && body.cares(statement.text)
        {
            let words: Vec<&str> = words(statement.text).collect();
            body.read(&words);
        }
        match statement.end {
            '{' if depth == 0 => {
                body = Body::of(statement.text, statements.0);
                depth = 1;
            }
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0
                    && let Some(name) = body.take().and_then(|body| body.at_fault(statements.0))
                {
                    return Some(name);
                }
            }
            _ => {}
        }
    }
    None
}

/// What is known of a function or entry while its statements are read.
struct Body<'a> {
    name: &'a str,
    /// It is a function, or an entry that calls one. Loops are looked for at the end.
    needs_guards: bool,
    /// A mask was taken and not guarded.
    unguarded: bool,
    /// The statements that have to come next, the first of them last.
    wanted: Vec<Vec<&'a str>>,
    /// Masks to which the own bit was added in another register.
    bare: Vec<&'a str>,
    /// The text from its first statement on.
    rest: &'a str,
}

impl<'a> Body<'a> {
    /// From its header and the text behind its brace; `None` for anything else.
    fn of(header: &'a str, rest: &'a str) -> Option<Self> {
        let (function, name) = (words(header).any(|word| word == ".func"), name(header)?);
        Some(Body {
            name,
            needs_guards: function,
            unguarded: false,
            wanted: Vec::new(),
            bare: Vec::new(),
            rest,
        })
    }

    /// Whether a statement can matter: few do, and modules have a hundred thousand.
    fn cares(&self, statement: &str) -> bool {
        !self.wanted.is_empty() || statement.contains("activemask") || statement.contains("call")
    }

    fn read(&mut self, words: &[&'a str]) {
        if words.is_empty() {
            return;
        }
        match self.wanted.pop() {
            Some(wanted) if wanted == words => {}
            // The sum in another register than the mask.
            Some(wanted)
                if self.wanted.is_empty()
                    && words.len() == wanted.len()
                    && (words[0], &words[2..]) == (wanted[0], &wanted[2..]) =>
            {
                self.bare.push(wanted[2]);
            }
            Some(_) => {
                self.unguarded = true;
                self.wanted.clear();
            }
            None => {
                let at = words.iter().position(|word| word.starts_with("activemask"));
                if let Some(&mask) = at.and_then(|at| words.get(at + 1)) {
                    self.wanted = vec![
                        vec!["or.b32", mask, mask, "%own"],
                        vec!["mov.u32", "%own", "%lanemask_eq"],
                        vec![".reg", ".b32", "%own"],
                    ];
                }
            }
        }
        self.needs_guards |= calls(words);
    }

    /// Its name if it is wrong, told what text is behind it.
    fn at_fault(self, behind: &str) -> Option<&'a str> {
        let text = &self.rest[..self.rest.len().saturating_sub(behind.len())];
        // Once where the mask is taken and once where the bit is added to it.
        let used_bare = self.bare.iter().any(|mask| uses(text, mask) != 2);
        let wrong = self.unguarded || !self.wanted.is_empty() || used_bare;
        (wrong && (self.needs_guards || has_loop_of_masks(text))).then_some(self.name)
    }
}

/// What the header of a function or an entry calls it; `None` for anything else.
fn name(header: &str) -> Option<&str> {
    let mut words = words(header).skip_while(|&word| word != ".func" && word != ".entry");
    let mut name = words.nth(1)?;
    // What it returns stands before its name.
    if name.starts_with('(') {
        while !name.ends_with(')') {
            name = words.next()?;
        }
        name = words.next()?;
    }
    name.split('(').next()
}

/// How often a register stands in a text.
fn uses(text: &str, register: &str) -> usize {
    let whole = |(at, _)| {
        let after: &str = &text[at + register.len()..];
        !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$')
    };
    text.match_indices(register).filter(|&at| whole(at)).count()
}

/// Whether the statement of these words is a call.
fn calls(words: &[&str]) -> bool {
    // Only a predicate may come before.
    let mut words = words.iter().filter(|word| !word.starts_with('@'));
    words
        .next()
        .is_some_and(|word| *word == "call" || word.starts_with("call."))
}

/// Whether a line of PTX, as LLVM writes it, is a call.
pub fn is_call(line: &str) -> bool {
    calls(&words(line).collect::<Vec<_>>())
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
        let special = |byte: &u8| matches!(byte, b'/' | b'"' | b'{' | b'}' | b';');
        let mut at = 0;
        // Special bytes are ASCII, so `at` is always at the start of a character.
        while let Some(next) = bytes.get(at..)?.iter().position(special) {
            at += next;
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
                _ => 1,
            };
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
        .filter(|word| !word.is_empty() && !is_comment(word))
}

/// Whether a word is a comment of its own.
fn is_comment(word: &str) -> bool {
    word.starts_with("/*") && word.ends_with("*/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(function: &str, entry: &str) -> String {
        format!(
            ".version 6.3\n.target sm_70\n.address_size 64\n\n.func helper\n(\n\t.param .b32 a\n)\n;\n\
             .func  (.param .b32 r) helper\n(\n\t.param .b32 a // {{ .func not_this\n)\n{{\n\t.reg .b32 \t%r<4>;\n{function}\n\
             \t{{ // callseq\n\tcall.uni other, ();\n\t}}\n\tret;\n}}\n\
             .visible .entry kernel()\n{{\n{entry}\n\tret;\n}}\n"
        )
    }

    #[test]
    fn an_entry_needs_guards_if_it_calls() {
        let take = "\tactivemask.b32 \t%r1;";
        let call = "\t@%p1 call.uni (retval0), helper, (param0);";
        assert_eq!(unguarded_mask(&module("", take)), None);
        for both in [format!("{take}\n{call}"), format!("{call}\n{take}")] {
            assert_eq!(unguarded_mask(&module("", &both)), Some("kernel"));
        }
        let guarded = format!("{take}\n\t{}\n{call}", own_lane("%r1"));
        assert_eq!(unguarded_mask(&module("", &guarded)), None);
    }

    #[test]
    fn an_entry_needs_guards_if_it_has_a_loop_of_masks() {
        let take = "\tactivemask.b32 \t%r1;";
        let around = |body: &str| format!("$L1:\n{body}\n\t@%p1 bra \t$L1;");
        assert_eq!(unguarded_mask(&module("", &around(take))), None);
        let two = format!("{take}\n{take}");
        assert_eq!(unguarded_mask(&module("", &two)), None);
        assert_eq!(unguarded_mask(&module("", &around(&two))), Some("kernel"));
        let guarded = format!("{take}\n\t{}\n", own_lane("%r1"));
        let half = around(&format!("{guarded}{take}"));
        assert_eq!(unguarded_mask(&module("", &half)), Some("kernel"));
        let both = around(&guarded.repeat(2));
        assert_eq!(unguarded_mask(&module("", &both)), None);
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
    fn a_sum_in_another_register_guards_a_mask_that_is_used_for_nothing_else() {
        let sum = "\tactivemask.b32 \t%r1;\n\t// begin inline asm\n\t{ .reg .b32 %own; mov.u32 %own, %lanemask_eq; \
                   or.b32 %r2, %r1, %own; }\n\t// end inline asm\n\tbar.warp.sync %r2; mov.b32 %r3, %r10;";
        assert_eq!(unguarded_mask(&module(sum, "")), None);
        let used = format!("{sum}\n\tbar.warp.sync \t%r1;");
        assert_eq!(unguarded_mask(&module(&used, "")), Some("helper"));
        let before = format!("\tbar.warp.sync \t%r1;\n{sum}");
        assert_eq!(unguarded_mask(&module(&before, "")), Some("helper"));
        let of_another = sum.replace("%r2, %r1, %own", "%r2, %r4, %own");
        assert_eq!(unguarded_mask(&module(&of_another, "")), Some("helper"));
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
        // What is no number stays.
        let broken = both.replacen(".version ", ".version .func 2", 1);
        let text_of_broken = with_one_way_fences(&broken);
        assert!(text_of_broken.starts_with(".version .func 2"), "{broken}");
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
