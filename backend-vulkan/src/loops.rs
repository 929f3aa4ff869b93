//! Loops that branch once a round.
//!
//! rust-gpu writes `while c { body }` as an `if` that is all of the loop, and tests its outcome once more to go back, as on the left:
//!
//! ```text
//! header: LoopMerge merge next                 header: LoopMerge merge next
//!         Branch test                                  Branch test
//! test:   SelectionMerge after                 test:
//!         BranchConditional c body no                  BranchConditional c body merge
//! body:   …                                    body:   …
//!         Branch after                                 Branch after
//! no:     Branch after
//! after:  Branch next                          after:  Branch next
//! next:   BranchConditional c header merge     next:   Branch header
//! ```
//!
//! On the right is what this makes of it: lanes leave the loop where they hear that it ends. Loops of another shape stay as they are.

use crate::function::{Function, Words, go_to, is};
use crate::module::instructions;
use spirv::Op;
use std::collections::HashMap;

/// The module with such loops.
pub(crate) fn branch_once(words: Vec<u32>) -> Vec<u32> {
    let Some(first) = instructions(&words).find(|i| i.is(Op::Function)) else {
        return words;
    };
    let begin = first.range.start;
    let truths = truths(&words[..begin]);
    let mut out = words[..begin].to_vec();
    let mut function = Vec::new();
    for instruction in instructions(&words).skip_while(|i| i.range.start < begin) {
        if instruction.is(Op::FunctionEnd) {
            let function = Function::of(std::mem::take(&mut function));
            out.extend(with_loops(function, &truths).into_words());
        } else {
            function.push(words[instruction.range].to_vec());
        }
    }
    out
}

/// The constants that are true, and false.
fn truths(globals: &[u32]) -> HashMap<u32, bool> {
    let constants = instructions(globals).filter_map(|i| {
        let value = i.is(Op::ConstantTrue);
        (value || i.is(Op::ConstantFalse)).then(|| (i.operands[1], value))
    });
    constants.collect()
}

fn with_loops(mut function: Function, truths: &HashMap<u32, bool>) -> Function {
    let labels: Vec<u32> = function.blocks.iter().map(|block| block.label).collect();
    for label in labels {
        if let Some(found) = Loop::at(&function, label, truths) {
            found.change(&mut function);
        }
    }
    function
}

/// The labels of a loop on the left, and what its block `after` knows.
struct Loop {
    header: u32,
    merge: u32,
    next: u32,
    test: u32,
    no: u32,
    after: u32,
    joined: Joined,
}

impl Loop {
    /// The loop with this header, if there is one.
    fn at(function: &Function, header: u32, truths: &HashMap<u32, bool>) -> Option<Self> {
        let [.., turn, end] = &function.block(header)?.body[..] else {
            return None;
        };
        if !is(turn, Op::LoopMerge) || !is(end, Op::Branch) {
            return None;
        }
        let (merge, next, test) = (turn[1], turn[2], end[1]);
        let [.., selection, end] = &function.block(test)?.body[..] else {
            return None;
        };
        if !is(selection, Op::SelectionMerge) || !is(end, Op::BranchConditional) {
            return None;
        }
        let (after, condition) = (selection[1], end[1]);
        let is_empty = |&label: &u32| {
            function
                .block(label)?
                .only_goes_to()
                .filter(|&to| to == after)
        };
        let stays = is_empty(&end[3]).is_some();
        if !stays && is_empty(&end[2]).is_none() {
            return None;
        }
        let no = if stays { end[3] } else { end[2] };
        for (label, before) in [(test, header), (no, test), (next, after)] {
            if function.before(label)? != [before] {
                return None;
            }
        }
        let body_end = match function.before(after)?[..] {
            [a, b] if a == no && b != test => b,
            [a, b] if b == no && a != test => a,
            _ => return None,
        };
        let outcome = (condition, [stays, !stays]);
        let joined = Joined::of(function, after, [body_end, no], outcome, truths)?;

        let [end] = &function.block(next)?.body[..] else {
            return None;
        };
        if !is(end, Op::BranchConditional) {
            return None;
        }
        let way = |outcome| if outcome { end[2] } else { end[3] };
        let ways = joined.outcomes.get(&end[1])?.map(way);
        let found = Loop {
            header,
            merge,
            next,
            test,
            no,
            after,
            joined,
        };
        (ways == [header, merge] && found.keeps_to_itself(function, end[1])).then_some(found)
    }

    /// Whether what `after` knows is used where it goes on to, and nowhere else.
    fn keeps_to_itself(&self, function: &Function, outcome: u32) -> bool {
        let onward = [self.header, self.merge].map(|label| function.block(label));
        let phis: Vec<&Words> = onward
            .into_iter()
            .flatten()
            .flat_map(|block| &block.body)
            .filter(|instruction| is(instruction, Op::Phi))
            .collect();
        let by_phis = |id| {
            let pairs = phis.iter().flat_map(|phi| phi[3..].chunks(2));
            pairs.filter(|pair| *pair == [id, self.next]).count()
        };
        let by_outcome = |id| usize::from(id == outcome);
        // The first is where it is made.
        let all = |id| function.count(id) == 1 + by_phis(id) + by_outcome(id);
        self.joined.values.keys().all(|&id| all(id))
            && self
                .joined
                .turned
                .iter()
                .all(|&id| id == outcome && function.count(id) == 2)
    }

    fn change(&self, function: &mut Function) {
        if let Some(test) = function.block_mut(self.test)
            && let Some(at) = test.body.len().checked_sub(2)
        {
            test.body.remove(at);
            for target in test.body[at][2..4].iter_mut().filter(|t| **t == self.no) {
                *target = self.merge;
            }
        }
        for (label, to) in [(self.after, self.next), (self.next, self.header)] {
            if let Some(block) = function.block_mut(label) {
                block.body = vec![go_to(to)];
            }
        }
        function.blocks.retain(|block| block.label != self.no);
        // Who goes back comes from the body still; who leaves now comes from the test.
        for (side, label, from) in [(0, self.header, self.next), (1, self.merge, self.test)] {
            let Some(block) = function.block_mut(label) else {
                continue;
            };
            for phi in block.body.iter_mut().filter(|i| is(i, Op::Phi)) {
                for pair in phi[3..].chunks_mut(2).filter(|pair| pair[1] == self.next) {
                    let both = self.joined.values.get(&pair[0]);
                    pair[0] = both.map_or(pair[0], |both| both[side]);
                    pair[1] = from;
                }
            }
        }
    }
}

/// What the block behind the two sides of a test knows, as pairs: if lanes come from the body, and if not.
struct Joined {
    /// Values by the id that they have there.
    values: HashMap<u32, [u32; 2]>,
    /// Of these, and of the test, what is known to be true or false.
    outcomes: HashMap<u32, [bool; 2]>,
    /// Outcomes that it made of others.
    turned: Vec<u32>,
}

impl Joined {
    /// `None` if it does something else.
    fn of(
        function: &Function,
        label: u32,
        sides: [u32; 2],
        test: (u32, [bool; 2]),
        truths: &HashMap<u32, bool>,
    ) -> Option<Self> {
        let mut joined = Joined {
            values: HashMap::new(),
            outcomes: HashMap::from([test]),
            turned: Vec::new(),
        };
        let (end, before) = function.block(label)?.body.split_last()?;
        if !is(end, Op::Branch) {
            return None;
        }
        for instruction in before {
            if is(instruction, Op::Phi) {
                let from = |side| instruction[3..].chunks(2).find(|pair| pair[1] == side);
                let [body, no] = [from(sides[0])?[0], from(sides[1])?[0]];
                joined.values.insert(instruction[2], [body, no]);
                if let (Some(&body), Some(&no)) = (truths.get(&body), truths.get(&no)) {
                    joined.outcomes.insert(instruction[2], [body, no]);
                }
            } else if is(instruction, Op::Select) {
                let [_, _, id, of, yes, no] = instruction[..] else {
                    return None;
                };
                let (yes, no) = (*truths.get(&yes)?, *truths.get(&no)?);
                let turn = |of| if of { yes } else { no };
                joined.turn(id, of, turn)?;
            } else if is(instruction, Op::LogicalNot) {
                joined.turn(instruction[2], instruction[3], |of| !of)?;
            } else {
                return None;
            }
        }
        Some(joined)
    }

    fn turn(&mut self, id: u32, of: u32, turn: impl Fn(bool) -> bool) -> Option<()> {
        let outcome = self.outcomes.get(&of)?.map(turn);
        self.outcomes.insert(id, outcome);
        self.turned.push(id);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::Module;
    use rspirv::binary::Assemble;
    use rspirv::dr::{Builder, Operand};
    use spirv::{FunctionControl, LoopControl, SelectionControl};

    /// `while i < 10 { i += 1 }`, as rust-gpu writes it, where `more` blocks go to `next` by themselves. The module, and the
    /// labels header, test, body, after, next, merge.
    fn counting(more: bool) -> (Vec<u32>, [u32; 6]) {
        let mut b = Builder::new();
        let (void, bool, word) = (b.type_void(), b.type_bool(), b.type_int(32, 0));
        let [zero, one, ten] = [0, 1, 10].map(|value| b.constant_bit32(word, value));
        let (undefined, kind) = (b.undef(word, None), b.type_function(void, []));
        b.begin_function(void, None, FunctionControl::NONE, kind)
            .unwrap();
        let [entry, header, test, body, no, after, next, merge, extra] = [(); 9].map(|()| b.id());
        let [i, later, sum] = [(); 3].map(|()| b.id());
        let block = |b: &mut Builder, label| b.begin_block(Some(label)).unwrap();
        block(&mut b, entry);
        b.branch(header).unwrap();
        block(&mut b, header);
        b.phi(word, Some(i), [(zero, entry), (later, next)])
            .unwrap();
        b.loop_merge(merge, next, LoopControl::NONE, []).unwrap();
        b.branch(test).unwrap();
        block(&mut b, test);
        let less = b.u_less_than(bool, None, i, ten).unwrap();
        b.selection_merge(after, SelectionControl::NONE).unwrap();
        b.branch_conditional(less, body, no, []).unwrap();
        block(&mut b, body);
        b.i_add(word, Some(sum), i, one).unwrap();
        b.branch(after).unwrap();
        block(&mut b, no);
        b.branch(after).unwrap();
        block(&mut b, after);
        b.phi(word, Some(later), [(sum, body), (undefined, no)])
            .unwrap();
        b.branch(next).unwrap();
        if more {
            block(&mut b, extra);
            b.branch(next).unwrap();
        }
        block(&mut b, next);
        b.branch_conditional(less, header, merge, []).unwrap();
        block(&mut b, merge);
        b.phi(word, None, [(later, next)]).unwrap();
        b.ret().unwrap();
        b.end_function().unwrap();
        (
            b.module().assemble(),
            [header, test, body, after, next, merge],
        )
    }

    fn function(words: &[u32]) -> Vec<rspirv::dr::Block> {
        let module = rspirv::dr::load_words(words).unwrap();
        module.functions[0].blocks.clone()
    }

    fn labels(block: &rspirv::dr::Block) -> Vec<u32> {
        let operands = &block.instructions.last().unwrap().operands;
        operands.iter().filter_map(Operand::id_ref_any).collect()
    }

    #[test]
    fn the_outcome_is_tested_once_and_values_come_from_where_lanes_do() {
        let (words, [header, test, body, after, next, merge]) = counting(false);
        let blocks = function(&branch_once(words));
        let block = |label| {
            let is = |block: &&rspirv::dr::Block| block.label_id() == Some(label);
            blocks.iter().find(is).unwrap()
        };
        assert_eq!(labels(block(test))[1..], [body, merge]);
        assert_eq!(block(test).instructions.len(), 2, "no merge of its own");
        assert_eq!(labels(block(after)), [next]);
        assert_eq!(labels(block(next)), [header]);
        let phi = |label| -> Vec<u32> {
            let operands = &block(label).instructions[0].operands;
            operands.iter().filter_map(Operand::id_ref_any).collect()
        };
        let sum = block(body).instructions[0].result_id.unwrap();
        assert_eq!(phi(header)[2..], [sum, next]);
        assert_eq!(phi(merge)[1], test);
        assert_ne!(phi(merge)[0], sum);
    }

    #[test]
    fn a_loop_with_another_way_to_its_next_round_stays_as_it_is() {
        let (words, _) = counting(true);
        assert_eq!(branch_once(words.clone()), words);
    }

    #[test]
    fn kernels_keep_their_loops_with_fewer_branches() {
        let count = |words: &[u32], op| instructions(words).filter(|i| i.is(op)).count();
        for packed in warpheap_kernels::IMAGES.packed {
            let Some(spirv) = packed.2 else { continue };
            let bytes = warpheap_api::host::unpack(spirv).unwrap();
            let before = Module::parse(&bytes).unwrap().words;
            let once = branch_once(before.clone());
            let [old, new] = [&before, &once].map(|words| {
                let of = |op| count(words, op);
                (of(Op::LoopMerge), of(Op::BranchConditional))
            });
            assert_eq!(old.0, new.0);
            assert!(new.1 < old.1 || old.0 == 0, "{}: {old:?} {new:?}", packed.0);
            assert_eq!(branch_once(once.clone()), once, "{}", packed.0);
            let bytes: Vec<u8> = once.iter().flat_map(|word| word.to_le_bytes()).collect();
            Module::parse(&bytes).unwrap();
        }
    }
}
