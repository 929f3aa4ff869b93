//! Loops in which several masks are taken.

use crate::{Statements, words};
use std::collections::HashMap;

/// Whether a function or entry, given from its header or first statement on, has a loop in which masks are taken at two
/// places or more: groups of two branches may meet there.
pub fn has_loop_of_masks(body: &str) -> bool {
    // Most have no two.
    body.matches("activemask").nth(1).is_some() && Graph::of(body).has_loop_of_masks()
}

/// Blocks of statements without labels and jumps inside, by number.
struct Graph {
    /// How many masks each takes.
    masks: Vec<u32>,
    /// Which may follow each.
    next: Vec<Vec<usize>>,
}

/// What comes behind a statement.
enum Behind<'a> {
    /// The next one alone.
    Next,
    /// A label, and the next one, too, if a predicate decides.
    Jump(&'a str, bool),
    /// One of the labels that are listed somewhere in the body, or the next one.
    Listed,
    /// Nothing.
    End,
}

impl Graph {
    fn of(body: &str) -> Self {
        let mut graph = Graph {
            masks: vec![0],
            next: vec![Vec::new()],
        };
        let mut labels = HashMap::new();
        let (mut jumps, mut listed, mut listing) = (Vec::new(), Vec::new(), Vec::new());
        for statement in Statements(body) {
            let mut words: Vec<&str> = words(statement.text).collect();
            while let Some((label, rest)) = words.first().and_then(|word| label(word)) {
                labels.insert(label, graph.begin(true));
                words[0] = rest;
                if rest.is_empty() {
                    words.remove(0);
                }
            }
            let block = graph.masks.len() - 1;
            match behind(&words) {
                Behind::Next => {}
                Behind::Jump(label, perhaps) => {
                    jumps.push((block, label));
                    graph.begin(perhaps);
                }
                Behind::Listed => {
                    listing.push(block);
                    graph.begin(true);
                }
                Behind::End => {
                    graph.begin(false);
                }
            }
            if words.iter().any(|word| word.starts_with("activemask")) {
                graph.masks[block] += 1;
            }
            if words.first() == Some(&".branchtargets") {
                listed.extend_from_slice(&words[1..]);
            }
        }
        jumps.extend(
            listing
                .iter()
                .flat_map(|&block| listed.iter().map(move |&label| (block, label))),
        );
        for (block, label) in jumps {
            graph.next[block].extend(labels.get(label));
        }
        graph
    }

    /// Begins the next block, which may follow the one before if `follows`; gives its number.
    fn begin(&mut self, follows: bool) -> usize {
        let number = self.masks.len();
        if follows {
            self.next[number - 1].push(number);
        }
        self.masks.push(0);
        self.next.push(Vec::new());
        number
    }

    /// Looks at the parts in which each block leads to each other one (S. R. Kosaraju's two passes).
    fn has_loop_of_masks(&self) -> bool {
        let blocks = self.masks.len();
        let mut back = vec![Vec::new(); blocks];
        for (block, next) in self.next.iter().enumerate() {
            next.iter().for_each(|&other| back[other].push(block));
        }
        let mut seen = vec![false; blocks];
        let mut order = Vec::new();
        for block in 0..blocks {
            visit(&self.next, block, &mut seen, &mut order);
        }
        seen.fill(false);
        for &block in order.iter().rev() {
            let mut part = Vec::new();
            visit(&back, block, &mut seen, &mut part);
            let loops = part.len() > 1 || self.next[block].contains(&block);
            if loops && part.iter().map(|&block| self.masks[block]).sum::<u32>() > 1 {
                return true;
            }
        }
        false
    }
}

/// Adds what is to be reached from a block and was not seen yet to `done`, each behind all that it leads to.
fn visit(next: &[Vec<usize>], from: usize, seen: &mut [bool], done: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[from], true) {
        return;
    }
    let mut path = vec![(from, 0)];
    while let Some((block, at)) = path.last_mut() {
        match next[*block].get(*at) {
            Some(&other) => {
                *at += 1;
                if !std::mem::replace(&mut seen[other], true) {
                    path.push((other, 0));
                }
            }
            None => {
                done.push(*block);
                path.pop();
            }
        }
    }
}

/// The label that a word is or begins with, and what is behind it.
fn label(word: &str) -> Option<(&str, &str)> {
    let (label, rest) = word.split_once(':')?;
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
    (!label.is_empty() && label.chars().all(name)).then_some((label, rest))
}

fn behind<'a>(words: &[&'a str]) -> Behind<'a> {
    let perhaps = words.first().is_some_and(|word| word.starts_with('@'));
    let what = words.iter().find(|word| !word.starts_with('@'));
    match what.map(|word| word.split('.').next().unwrap_or_default()) {
        Some("bra") => Behind::Jump(words[words.len() - 1], perhaps),
        Some("brx") => Behind::Listed,
        Some("ret" | "exit") if !perhaps => Behind::End,
        _ => Behind::Next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: &str = "\tactivemask.b32 \t%r1;\n";

    fn loops(body: &str) -> bool {
        has_loop_of_masks(&format!(".visible .entry k()\n{{\n{body}\tret;\n}}\n"))
    }

    #[test]
    fn two_masks_of_a_loop_are_seen() {
        assert!(loops(&format!(
            "$L1:\n{MASK}\tbra.uni \t$L3;\n$L2:\n{MASK}$L3:\n\t@%p1 bra \t$L2;\n\t@%p2 bra \t$L1;\n"
        )));
        // In one block.
        assert!(loops(&format!("$L1:\n{MASK}{MASK}\t@%p1 bra \t$L1;\n")));
        // The second branch stands behind the end, and comes back behind the first one.
        assert!(loops(&format!(
            "$L1:\n{MASK}\t@%p1 bra \t$L3;\n$L2:\n\t@%p2 bra \t$L1;\n\tret;\n$L3: // far\n{MASK}\tbra.uni \t$L2;\n"
        )));
        // By a table of labels.
        let table = "$T: .branchtargets $L1, $L2;\n\tbrx.idx \t%r2, $T;\n";
        assert!(loops(&format!("$L1:\n{MASK}$L2:\n{MASK}{table}")));
    }

    #[test]
    fn one_mask_a_loop_is_not() {
        assert!(!loops(&format!(
            "$L1:\n{MASK}\t@%p1 bra \t$L1;\n$L2:\n{MASK}\t@%p1 bra \t$L2;\n"
        )));
        assert!(!loops(&format!(
            "{MASK}$L1:\n\t@%p1 bra \t$L1;\n{MASK}{MASK}"
        )));
        // Two ways that meet behind both, none of which leads back.
        assert!(!loops(&format!(
            "\t@%p1 bra \t$L1;\n{MASK}\tbra.uni \t$L2;\n$L1:\n{MASK}$L2:\n"
        )));
        // What looks like a label is none, and one that is not there leads nowhere.
        assert!(!loops(&format!(
            "\tld.global.L1::no_allocate.u32 %r2, [%rd1];\n{MASK}{MASK}\t@%p1 bra \t$L9;\n"
        )));
        // Behind the end of a loop that is never left.
        assert!(!loops(&format!("$L1:\n\tbra.uni \t$L1;\n{MASK}{MASK}")));
    }

    #[test]
    fn large_bodies_take_no_recursion() {
        let body: String = (0..100_000)
            .map(|k| format!("$L{k}:\n{MASK}\t@%p1 bra \t$L{};\n", (k + 7) % 100_000))
            .collect();
        assert!(loops(&body));
    }
}
