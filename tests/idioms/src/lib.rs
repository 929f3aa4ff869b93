//! The shapes on which the device code rests, as small programs for a model checker.
//!
//! Each module has the same sequence of relaxed atomics and fences as the device code that it names, with two or
//! three threads. See the README for what was found and for what this cannot say.

pub mod check;
pub mod claim;
pub mod empty;
pub mod free;
pub mod late;
pub mod leaf;
pub mod litmus;
pub mod mailbox;
pub mod memory;
pub mod name;
pub mod passed;
pub mod ptx;
pub mod rename;
pub mod slot;

use check::Idiom;

/// All of them.
pub const IDIOMS: &[&Idiom] = &[
    &claim::TWO,
    &claim::THREE,
    &name::NAMING,
    &rename::RENAMING,
    &free::WARP,
    &mailbox::HAND_OVER,
    &mailbox::PASS_ON,
    &leaf::READ_WRITE,
    &leaf::TWO_WRITERS,
    &leaf::REMOVE_INSERT,
    &leaf::LOOKING,
    &late::LATE,
    &slot::SLOT,
    &passed::PASSED,
    &passed::MARKED_AHEAD,
    &empty::EMPTY,
];

/// The two tests of an idiom.
#[macro_export]
macro_rules! tests {
    ($($idiom:ident),*) => {
        #[cfg(test)]
        mod tests {
            $(
                #[allow(non_snake_case)]
                mod $idiom {
                    #[test]
                    fn holds() {
                        super::super::$idiom.assert_holds();
                    }
                    #[test]
                    fn mutants() {
                        super::super::$idiom.assert_mutants();
                    }
                }
            )*
        }
    };
}
