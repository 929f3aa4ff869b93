//! Instructions, and what they are in an execution.

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Weak.
    Read(usize),
    Write(usize, u32),
    /// Strong.
    Load(usize),
    Store(usize, u32),
    Rmw(usize, fn(u32) -> u32),
    /// Only executions in which the last read gave this value; what follows depends on it.
    When(u32),
    /// `fence.release.gpu` and `fence.acquire.gpu`; `fence.acq_rel.gpu` is both, one behind the other.
    Release,
    Acquire,
    /// Of the warp, for all threads that have this number.
    Barrier(u32),
}

/// An instruction in an execution.
pub struct Event {
    /// None for what memory begins with.
    pub thread: Option<usize>,
    pub op: Op,
    /// What it has to read, if a `When` comes behind it.
    pub expected: Option<u32>,
}

impl Event {
    pub fn word(&self) -> Option<usize> {
        match self.op {
            Op::Read(w) | Op::Write(w, _) | Op::Load(w) | Op::Store(w, _) | Op::Rmw(w, _) => {
                Some(w)
            }
            _ => None,
        }
    }

    pub fn reads(&self) -> bool {
        matches!(self.op, Op::Read(_) | Op::Load(_) | Op::Rmw(..))
    }

    pub fn writes(&self) -> bool {
        matches!(self.op, Op::Write(..) | Op::Store(..) | Op::Rmw(..))
    }

    pub fn strong(&self) -> bool {
        matches!(self.op, Op::Load(_) | Op::Store(..) | Op::Rmw(..))
    }
}

/// What memory begins with, and behind it the threads' instructions.
pub fn events(memory: &[u32], threads: &[Vec<Op>]) -> Vec<Event> {
    let event = |thread, op| Event {
        thread,
        op,
        expected: None,
    };
    let begin = memory.iter().enumerate();
    let mut events: Vec<Event> = begin
        .map(|(word, &value)| event(None, Op::Store(word, value)))
        .collect();
    for (thread, ops) in threads.iter().enumerate() {
        for &op in ops {
            if let Op::When(value) = op {
                let read = events.last_mut().filter(|event| event.reads());
                read.expect("a read right before").expected = Some(value);
            } else {
                events.push(event(Some(thread), op));
            }
        }
    }
    events
}
