//! A function of a module as its blocks, to change them.

use spirv::Op;

/// An instruction: its words, of which the first has the opcode.
pub(crate) type Words = Vec<u32>;

/// Whether it has this opcode.
pub(crate) fn is(instruction: &[u32], op: Op) -> bool {
    instruction
        .first()
        .is_some_and(|word| word & 0xffff == op as u32)
}

/// The instruction that goes to a block.
pub(crate) fn go_to(label: u32) -> Words {
    vec![2 << 16 | Op::Branch as u32, label]
}

/// Instructions without a branch in between.
pub(crate) struct Block {
    pub(crate) label: u32,
    /// Without the label; the last one says where it goes on.
    pub(crate) body: Vec<Words>,
}

impl Block {
    /// Where it goes on, unless that is a switch.
    fn targets(&self) -> &[u32] {
        match self.body.last() {
            Some(end) if is(end, Op::Branch) => &end[1..2],
            Some(end) if is(end, Op::BranchConditional) => &end[2..4],
            _ => &[],
        }
    }

    fn switches_to(&self, label: u32) -> bool {
        let end = self.body.last().filter(|end| is(end, Op::Switch));
        end.is_some_and(|end| end[2..].contains(&label))
    }

    /// The block that all it does is to go to.
    pub(crate) fn only_goes_to(&self) -> Option<u32> {
        match &self.body[..] {
            [end] if is(end, Op::Branch) => Some(end[1]),
            _ => None,
        }
    }
}

/// A function.
pub(crate) struct Function {
    /// In front of the first block.
    head: Vec<Words>,
    pub(crate) blocks: Vec<Block>,
}

impl Function {
    /// That of these instructions, without the one that ends it.
    pub(crate) fn of(instructions: Vec<Words>) -> Self {
        let (mut head, mut blocks) = (Vec::new(), Vec::<Block>::new());
        for instruction in instructions {
            if is(&instruction, Op::Label) {
                blocks.push(Block {
                    label: instruction[1],
                    body: Vec::new(),
                });
            } else if let Some(block) = blocks.last_mut() {
                block.body.push(instruction);
            } else {
                head.push(instruction);
            }
        }
        Function { head, blocks }
    }

    /// Its words, the end included.
    pub(crate) fn into_words(self) -> Words {
        let mut words = self.head.concat();
        for block in &self.blocks {
            words.extend([2 << 16 | Op::Label as u32, block.label]);
            words.extend(block.body.concat());
        }
        words.push(1 << 16 | Op::FunctionEnd as u32);
        words
    }

    pub(crate) fn block(&self, label: u32) -> Option<&Block> {
        self.blocks.iter().find(|block| block.label == label)
    }

    pub(crate) fn block_mut(&mut self, label: u32) -> Option<&mut Block> {
        self.blocks.iter_mut().find(|block| block.label == label)
    }

    /// The blocks that go to one, twice if both sides of a branch do; `None` if a switch does.
    pub(crate) fn before(&self, label: u32) -> Option<Vec<u32>> {
        if self.blocks.iter().any(|block| block.switches_to(label)) {
            return None;
        }
        let each = self.blocks.iter().flat_map(|block| {
            let times = block.targets().iter().filter(|&&target| target == label);
            times.map(|_| block.label)
        });
        Some(each.collect())
    }

    /// How often a word stands in it, which is at least how often an id does.
    pub(crate) fn count(&self, word: u32) -> usize {
        let all = self.blocks.iter().flat_map(|block| &block.body);
        all.flat_map(|instruction| &instruction[1..])
            .filter(|&&other| other == word)
            .count()
    }
}
