//! Runs an idiom under the checker, whole and with fences left out.

use loom::model::Builder;
use loom::sync::atomic::{Ordering, fence};
use loom::thread;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Fences of an idiom, one bit for each: those that are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Out(u32);

impl Out {
    /// All fences are there.
    pub const NONE: Out = Out(0);

    /// Fence number `n`.
    pub const fn fence(n: u32) -> Out {
        Out(1 << n)
    }

    /// These and those.
    pub const fn and(self, other: Out) -> Out {
        Out(self.0 | other.0)
    }

    /// Whether a fence is left out.
    pub fn has(self, which: Out) -> bool {
        self.0 & which.0 != 0
    }

    /// `words.release()`, unless it is left out.
    pub fn release(self, which: Out) {
        if !self.has(which) {
            fence(Ordering::Release);
        }
    }

    /// `words.acquire()`, unless it is left out.
    pub fn acquire(self, which: Out) {
        if !self.has(which) {
            fence(Ordering::Acquire);
        }
    }
}

/// What the checker should say of an idiom without some fences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Says {
    /// There is an execution that breaks the claim.
    Caught,
    /// There is none: the fence is not needed for the claim.
    Holds,
}

/// An idiom without some of its fences.
pub struct Mutant {
    /// Which fences, by the functions of the device code that they stand in.
    pub name: &'static str,
    pub out: Out,
    pub says: Says,
}

/// A shape of the device code, as a program for the checker.
pub struct Idiom {
    pub name: &'static str,
    /// Where the device code has it, below `device-rt/src`.
    pub source: &'static str,
    pub program: fn(Out) -> Program,
    /// Thread switches other than at an end or a wait: all, or at most so many.
    pub preemptions: Option<usize>,
    pub mutants: &'static [Mutant],
}

/// One thread of a program.
type Role = Box<dyn FnOnce() + Send>;

/// The threads of an idiom, and what is looked at when all are done.
pub struct Program {
    roles: Vec<Role>,
    end: Box<dyn FnOnce()>,
}

impl Program {
    /// Threads that share something.
    pub fn new<T: Send + Sync + 'static>(
        shared: T,
        out: Out,
        roles: &[fn(&Arc<T>, Out)],
        end: fn(&T),
    ) -> Self {
        let shared = Arc::new(shared);
        let role = |&run: &fn(&Arc<T>, Out)| -> Role {
            let shared = shared.clone();
            Box::new(move || run(&shared, out))
        };
        Program {
            roles: roles.iter().map(role).collect(),
            end: Box::new({
                let shared = shared.clone();
                move || end(&shared)
            }),
        }
    }

    fn run(mut self, order: &[usize]) {
        let mut roles: Vec<Option<Role>> = self.roles.drain(..).map(Some).collect();
        let start = |&role: &usize| thread::spawn(roles[role].take().expect("each once"));
        let threads: Vec<_> = order.iter().map(start).collect();
        for thread in threads {
            thread.join().expect("it ended");
        }
        (self.end)();
    }
}

/// All orders of `0..count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for _ in 0..count {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            let free = (0..count).filter(move |role| !order.contains(role));
            free.collect::<Vec<_>>()
        };
        all = all
            .iter()
            .flat_map(|order| {
                longer(order)
                    .into_iter()
                    .map(|role| [&order[..], &[role]].concat())
            })
            .collect();
    }
    all
}

/// What a run came to.
pub struct Outcome {
    /// Executions until the end, or until the first bad one.
    pub executions: usize,
    /// What was wrong in that one.
    pub violation: Option<String>,
}

impl Idiom {
    /// Goes through the executions of the idiom without some fences: once for each order in which its threads begin,
    /// since from one order alone the checker does not reach all executions (see the README).
    pub fn explore(&self, out: Out) -> Outcome {
        let count = Arc::new(AtomicUsize::new(0));
        // Once under the checker for the number of roles: atomics exist only there.
        let roles = Arc::new(AtomicUsize::new(0));
        let (program, number) = (self.program, roles.clone());
        loom::model(move || number.store(program(out).roles.len(), SeqCst));
        let mut violation = None;
        for order in orders(roles.load(SeqCst)) {
            let (program, preemptions, counter) = (self.program, self.preemptions, count.clone());
            // A thread of its own: the checker's state does not outlive a violation.
            let done = std::thread::spawn(move || {
                let mut builder = Builder::new();
                builder.preemption_bound = preemptions;
                builder.check(move || {
                    counter.fetch_add(1, SeqCst);
                    program(out).run(&order);
                });
            })
            .join();
            violation = done.err().map(text);
            if violation.is_some() {
                break;
            }
        }
        Outcome {
            executions: count.load(SeqCst),
            violation,
        }
    }

    /// The claim is true in every execution.
    pub fn assert_holds(&self) {
        let outcome = self.explore(Out::NONE);
        assert_eq!(outcome.violation, None, "{}", self.name);
    }

    /// The checker says of each mutant what is written there.
    pub fn assert_mutants(&self) {
        for mutant in self.mutants {
            let outcome = self.explore(mutant.out);
            match outcome.violation {
                Some(message) => {
                    assert!(is_violation(&message), "{}: {message}", mutant.name);
                    assert_eq!(mutant.says, Says::Caught, "{}: {message}", mutant.name);
                }
                None => assert_eq!(mutant.says, Says::Holds, "{}", mutant.name),
            }
        }
    }
}

/// What a thread leaves for the end of its execution. The checker does not see it, so it orders nothing.
#[derive(Default)]
pub struct Note(AtomicUsize);

impl Note {
    pub fn set(&self, value: u32) {
        self.0.store(value as usize, SeqCst);
    }
    pub fn get(&self) -> u32 {
        self.0.load(SeqCst) as u32
    }
}

/// Begins the message of a claim that is not true in an execution.
pub const BROKEN: &str = "broken: ";

/// A race or a broken claim, and not that the checker gave up.
fn is_violation(message: &str) -> bool {
    message.contains("Causality violation") || message.contains(BROKEN)
}

fn text(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(other) => match other.downcast::<&str>() {
            Ok(text) => text.to_string(),
            Err(_) => "no message".to_string(),
        },
    }
}
