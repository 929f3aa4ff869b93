//! One kernel of a text, with what it needs of the rest.

use super::{Statements, is_call, words};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// How LLVM calls the tables that it makes of a `match`. They hold constants, so each kernel may have its own.
const TABLES: &str = "switch_$_table_$_";

/// What a text has outside of functions, or a function.
struct Item {
    name: Range<usize>,
    text: Range<usize>,
    entry: bool,
}

/// Where the parts of a text lie.
pub struct Parts {
    /// The end of version, target and size of addresses.
    head: usize,
    items: Vec<Item>,
}

impl Parts {
    /// The parts of a text, if each kernel may be compiled by itself: not if kernels share variables, and not if it has what is not
    /// known here.
    pub fn of(ptx: &str) -> Option<Self> {
        const LAST: &str = ".address_size ";
        let line = ptx.find(LAST)?;
        let head = line + ptx[line..].find('\n')? + 1;
        let mut items = Vec::new();
        let mut statements = Statements(&ptx[head..]);
        let (mut begin, mut depth) = (head, 0u32);
        let mut item: Option<Declared<'_>> = None;
        while let Some(statement) = statements.next() {
            if depth == 0 && item.is_none() {
                item = Some(Declared::of(statement.text)?);
            }
            match statement.end {
                '{' => depth += 1,
                '}' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            // Values of a variable are in braces, and end with a semicolon.
            let ends = match statement.end {
                ';' => true,
                '}' => item.as_ref().is_some_and(|item| item.has_body),
                _ => false,
            };
            if depth == 0 && ends {
                let Declared { name, entry, .. } = item.take()?;
                let at = name.as_ptr() as usize - ptx.as_ptr() as usize;
                let end = ptx.len() - statements.0.len();
                items.push(Item {
                    name: at..at + name.len(),
                    text: begin..end,
                    entry,
                });
                begin = end;
            }
        }
        let is_all = depth == 0 && item.is_none() && words(statements.0).next().is_none();
        is_all.then_some(Parts { head, items })
    }

    /// The names of the kernels. `ptx` is the text whose parts these are.
    pub fn entries<'a>(&self, ptx: &'a str) -> impl Iterator<Item = &'a str> {
        let entries = self.items.iter().filter(|item| item.entry);
        entries.map(|item| &ptx[item.name.clone()])
    }

    /// Whether a kernel itself calls functions by their names, and not by addresses alone. `ptx` is the text whose parts these are.
    pub fn calls_by_name(&self, ptx: &str, entry: &str) -> bool {
        let is_entry = |item: &&Item| item.entry && &ptx[item.name.clone()] == entry;
        let kernel = self.items.iter().find(is_entry).into_iter();
        let mut lines = kernel.flat_map(|item| ptx[item.text.clone()].lines());
        lines.any(|line| {
            // Behind the call itself and where its answer goes.
            let mut behind = words(line).filter(|word| !word.starts_with(['@', '(']));
            let target = behind.nth(1);
            is_call(line) && target.is_some_and(|target| !target.starts_with('%'))
        })
    }

    /// The text of one kernel alone, with all that it may reach; `None` if there is no such kernel. `ptx` is the text whose parts these are.
    pub fn alone(&self, ptx: &str, entry: &str) -> Option<String> {
        let name = |item: &Item| &ptx[item.name.clone()];
        let mut items: BTreeMap<&str, Vec<&Item>> = BTreeMap::new();
        for item in &self.items {
            items.entry(name(item)).or_default().push(item);
        }
        items.get(entry)?.iter().find(|item| item.entry)?;
        let mut needed = BTreeSet::from([entry]);
        let mut open = vec![entry];
        while let Some(name) = open.pop() {
            for item in items.get(name).into_iter().flatten() {
                let names = ptx[item.text.clone()].split(|c: char| !is_of_name(c));
                for name in names.filter(|name| items.contains_key(name)) {
                    if needed.insert(name) {
                        open.push(name);
                    }
                }
            }
        }
        let parts = self.items.iter().filter(|item| needed.contains(name(item)));
        let texts =
            std::iter::once(&ptx[..self.head]).chain(parts.map(|item| &ptx[item.text.clone()]));
        Some(texts.chain(["\n"]).collect())
    }
}

/// What a statement outside of functions begins.
struct Declared<'a> {
    name: &'a str,
    entry: bool,
    /// It is a function or an entry.
    has_body: bool,
}

impl<'a> Declared<'a> {
    /// What begins with these words; `None` if it has to stay with all the rest.
    fn of(text: &'a str) -> Option<Self> {
        let is = |directive| words(text).any(|word| word == directive);
        let entry = is(".entry");
        let has_body = entry || is(".func");
        let name = if has_body {
            super::name(text)?
        } else if !is(".extern") && (is(".shared") || is(".global")) {
            let before = text.split('=').next()?;
            let name = words(before).last()?.split(['[', ';']).next()?;
            if is(".global") && !name.starts_with(TABLES) {
                return None;
            }
            name
        } else {
            return None;
        };
        let named = !name.is_empty() && name.chars().all(is_of_name);
        named.then_some(Declared {
            name,
            entry,
            has_body,
        })
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "//\n// Generated by LLVM\n//\n.version 6.3\n.target sm_70\n.address_size 64\n";
    const BODY: &str = "\n\t// .globl\tone\n.shared .align 4 .b32 word;\n\
        .func  (.param .b32 func_retval0) far\n(\n\t.param .b64 far_param_0\n)\n;\n\
        .global .align 4 .b8 switch_$_table_$_two[8] = {1, 0, 0, 0, 2, 0, 0, 0};\n\
        .visible .entry one(\n\t.param .b64 one_param_0\n) // -- Begin function {\n{\n\tst.shared.b32 [word], 1;\n\
        \t{ // callseq 0, 0\n\tmov.b64 %rd1, far;\n\t}\n\tret;\n}\n\
        .visible .entry two(.param .b64 two_param_0)\n.maxntid 256\n{\n\tmov.b64 %rd1, switch_$_table_$_two;\n\tret;\n}\n\
        .func  (.param .b32 func_retval0) far(\n\t.param .b64 far_param_0\n)\n{\n\tcall.uni near, ();\n\tret;\n}\n\
        .func near()\n{\n\tret;\n}\n.func nobodys()\n{\n\tret;\n}\n";

    #[test]
    fn a_kernel_has_what_it_reaches_and_no_more() {
        let text = format!("{HEAD}{BODY}");
        let parts = Parts::of(&text).unwrap();
        assert!(parts.entries(&text).eq(["one", "two"]));
        let one = parts.alone(&text, "one").unwrap();
        assert!(one.starts_with(HEAD));
        for there in [
            ".shared .align 4 .b32 word;",
            ".entry one(",
            "far_param_0\n)\n;",
            ".func near()",
            "far(\n",
        ] {
            assert_eq!(one.matches(there).count(), 1, "{there} in {one}");
        }
        for missing in ["nobodys", ".entry two", "switch"] {
            assert!(!one.contains(missing), "{missing} in {one}");
        }
        let two = parts.alone(&text, "two").unwrap();
        let body = ".global .align 4 .b8 switch_$_table_$_two[8] = {1, 0, 0, 0, 2, 0, 0, 0};";
        assert!(two.contains(body) && two.contains(".maxntid 256"), "{two}");
        assert!(!two.contains("far") && !two.contains("word"), "{two}");
        for (text, name) in [(&one, "one"), (&two, "two")] {
            assert!(Parts::of(text).is_some_and(|parts| parts.entries(text).eq([name])));
        }
        assert!(parts.alone(&text, "far").is_none() && parts.alone(&text, "three").is_none());
    }

    #[test]
    fn what_a_kernel_calls_by_its_name_counts_and_no_more() {
        let calls_by_name = |calls: &str| {
            let text = format!(
                "{HEAD}.func called(.param .b64 p)\n{{\n\tcall.uni near, ();\n\tret;\n}}\n.func near()\n{{\n\tret;\n}}\n\
                 .visible .entry one()\n{{\n{calls}\n\tret;\n}}\n.visible .entry two()\n{{\n\tcall.uni near, ();\n\tret;\n}}\n"
            );
            let parts = Parts::of(&text).unwrap();
            assert!(parts.calls_by_name(&text, "two"));
            assert!(!parts.calls_by_name(&text, "three") && !parts.calls_by_name(&text, "called"));
            parts.calls_by_name(&text, "one")
        };
        for by_name in [
            "\tcall.uni near, ();",
            "\tcall.uni (retval0), called, (param0);",
            "\t@%p1 call called, (param0, param1); // %r1",
        ] {
            assert!(calls_by_name(by_name), "{by_name}");
        }
        for not in [
            "",
            "\tmov.b64 %rd1, called;\n\tcall (retval0), %rd1, (param0), prototype_1;",
            "\t@!%p1 call %rd1, (param0), prototype_1;",
            "\t// call.uni near, ();",
        ] {
            assert!(!calls_by_name(not), "{not}");
        }
    }

    #[test]
    fn all_parts_together_are_the_text() {
        let text = format!("{HEAD}{BODY}");
        let parts = Parts::of(&text).unwrap();
        let all: String = parts
            .items
            .iter()
            .map(|item| &text[item.text.clone()])
            .collect();
        assert_eq!(format!("{}{all}\n", &text[..parts.head]), text);
    }

    #[test]
    fn what_kernels_share_keeps_them_together() {
        for shared in [
            ".visible .global .align 4 .b8 warpheap_global_heap[128];",
            ".global .align 4 .u32 counter;",
            ".global .align 4 .b8 anon_$_1[4] = {1, 2, 3, 4};",
            ".extern .shared .align 4 .b8 room[];",
            ".const .align 4 .b32 number = 3;",
            ".alias one, two;",
        ] {
            let text = format!("{HEAD}{shared}\n{BODY}");
            assert!(Parts::of(&text).is_none(), "{shared}");
        }
        for broken in [
            "",
            ".version 6.3\n",
            &format!("{HEAD}.func f()\n{{\n"),
            &format!("{HEAD}}}"),
            &format!("{HEAD}{BODY}.alias one, two"),
        ] {
            assert!(Parts::of(broken).is_none(), "{broken}");
        }
        assert!(Parts::of(HEAD).is_some_and(|parts| parts.entries(HEAD).next().is_none()));
    }
}
