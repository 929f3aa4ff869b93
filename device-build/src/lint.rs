//! Refuses the SPIR-V shapes that validators accept and drivers miscompile: a pointer that is chosen
//! by a phi, or that is kept in a variable.
//!
//! Logical addressing has no pointers at run time. A driver that meets such a shape reads garbage,
//! loses stores or crashes. They come from a reference or slice inside a value that changes in a loop
//! or differs between branches.

mod module;

use std::collections::{HashSet, VecDeque};
use std::fmt;

use module::{Function, Instruction, Module, op};

pub use module::Location;

/// One place of a module that the lint refuses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LintError {
    /// What is wrong.
    pub kind: LintKind,
    /// The function, by its entry point name if it is one; else as the module names it.
    pub function: String,
    /// The source line, if the module holds debug information.
    pub location: Option<Location>,
}

/// What the lint refuses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LintKind {
    /// The bytes are no SPIR-V module.
    Malformed(String),
    /// An `OpPhi` whose type is a pointer, or holds one.
    PointerPhi {
        /// The type, by name where the module has names.
        ty: String,
    },
    /// An `OpVariable` of the `Function` or `Private` class that keeps a pointer.
    PointerVariable {
        /// The type of what the variable keeps, by name where the module has names.
        ty: String,
    },
}

impl fmt::Display for LintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let LintKind::Malformed(reason) = &self.kind {
            return write!(f, "not a SPIR-V module: {reason}");
        }
        match &self.location {
            Some(Location { file, line }) => write!(f, "{file}:{line}: ")?,
            None => f.write_str("(no source line) ")?,
        }
        write!(f, "in `{}`: ", self.function)?;
        match &self.kind {
            LintKind::Malformed(_) => Ok(()),
            LintKind::PointerPhi { ty } => {
                write!(
                    f,
                    "a value of type `{ty}`, which holds a pointer, changes in a loop or branch (OpPhi)"
                )
            }
            LintKind::PointerVariable { ty } => {
                write!(f, "a variable of type `{ty}` keeps a pointer (OpVariable)")
            }
        }
    }
}

/// Checks a module.
///
/// # Errors
/// Every place that is refused, each once, in the order of the module.
pub fn lint_spirv(bytes: &[u8]) -> Result<(), Vec<LintError>> {
    let module = Module::parse(bytes).map_err(|reason| {
        vec![LintError {
            kind: LintKind::Malformed(reason),
            function: String::new(),
            location: None,
        }]
    })?;
    let mut errors = Vec::new();
    for function in module.functions() {
        for (at, instruction) in function.body.iter().enumerate() {
            let Some(kind) = refuse(&module, instruction) else {
                continue;
            };
            let error = LintError {
                kind,
                function: module.function_name(function.id),
                location: instruction
                    .result()
                    .and_then(|id| locate(&module, function, at, id)),
            };
            errors.push(error);
        }
    }
    for variable in module.globals() {
        if let Some(kind) = refuse(&module, variable) {
            let user = |function: &Function| {
                function
                    .body
                    .iter()
                    .any(|i| variable.result().is_some_and(|v| i.uses(v)))
            };
            let function = module.functions().iter().find(|function| user(function));
            errors.push(LintError {
                kind,
                function: function
                    .map_or_else(|| "no function".to_owned(), |f| module.function_name(f.id)),
                location: function
                    .zip(variable.result())
                    .and_then(|(f, id)| locate(&module, f, 0, id)),
            });
        }
    }
    // One value of the source is often several phis.
    let mut seen = HashSet::new();
    errors.retain(|error| seen.insert(error.clone()));
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

fn refuse(module: &Module, instruction: &Instruction) -> Option<LintKind> {
    let ty = *instruction.operands.first()?;
    match instruction.opcode {
        op::PHI if module.holds_pointer(ty) => Some(LintKind::PointerPhi {
            ty: module.type_name(ty),
        }),
        op::VARIABLE => {
            let class = *instruction.operands.get(2)?;
            let kept = module.pointee(ty)?;
            let refused = (class == op::CLASS_FUNCTION || class == op::CLASS_PRIVATE)
                && module.holds_pointer(kept);
            refused.then(|| LintKind::PointerVariable {
                ty: module.type_name(kept),
            })
        }
        _ => None,
    }
}

/// The source line of the value `id`, defined at `at`. Phis and variables carry none themselves: it is
/// the line of the first use, through other phis if need be, in the user's own sources if there is one.
fn locate(module: &Module, function: &Function, at: usize, id: u32) -> Option<Location> {
    let mut elsewhere = function.body.get(at).and_then(|i| i.line);
    let mut open = VecDeque::from([id]);
    let mut seen = HashSet::from([id]);
    while let Some(value) = open.pop_front() {
        for user in function.body.iter().filter(|i| i.uses(value)) {
            match user.line {
                Some(line) if !in_library(&module.location(line).file) => {
                    return Some(module.location(line));
                }
                Some(line) => elsewhere = elsewhere.or(Some(line)),
                None => {}
            }
            if let (op::PHI | op::COMPOSITE_INSERT | op::COPY_OBJECT, Some(result)) =
                (user.opcode, user.result())
                && seen.insert(result)
            {
                open.push_back(result);
            }
        }
    }
    let before = || function.body.iter().take(at).rev().find_map(|i| i.line);
    elsewhere.or_else(before).map(|line| module.location(line))
}

/// Whether a file belongs to `core`.
fn in_library(file: &str) -> bool {
    file.contains("/rustlib/src/") || file.starts_with("/rustc/")
}
