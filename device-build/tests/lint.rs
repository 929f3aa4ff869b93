//! The lint against small modules, put together here word by word with the enumerants of the `spirv` crate.

use spirv::{AddressingModel, ExecutionModel, FunctionControl, MemoryModel, Op, StorageClass};
use warpheap_build::{LintError, LintKind, Location, lint_spirv};

/// The ids that every module below shares.
mod id {
    pub const FILE: u32 = 1;
    pub const VOID: u32 = 2;
    pub const VOID_FN: u32 = 3;
    pub const UINT: u32 = 4;
    /// A pointer to a word in a storage buffer.
    pub const POINTER: u32 = 5;
    /// A struct of a word and that pointer, named `Held`.
    pub const HELD: u32 = 6;
    /// An array of two such structs.
    pub const HELD_TWICE: u32 = 7;
    /// A struct of two words, named `Plain`.
    pub const PLAIN: u32 = 8;
    pub const KERNEL: u32 = 9;
    /// Constants, one of each type.
    pub const ZERO: u32 = 10;
    pub const NULL_POINTER: u32 = 11;
    pub const NULL_HELD: u32 = 12;
    pub const NULL_PLAIN: u32 = 13;
    pub const FIRST_BLOCK: u32 = 20;
    pub const LOOP: u32 = 21;
    pub const AFTER: u32 = 22;
    pub const VALUE: u32 = 30;
    pub const NEXT: u32 = 31;
    pub const VARIABLE: u32 = 32;
    pub const VARIABLE_TYPE: u32 = 33;
}

#[derive(Default)]
struct Assembler(Vec<u32>);

impl Assembler {
    /// A module with types, up to the first function.
    fn with_types() -> Self {
        let mut asm = Assembler(vec![spirv::MAGIC_NUMBER, 0x0001_0500, 0, 100, 0]);
        let class = StorageClass::StorageBuffer as u32;
        asm.op(
            Op::MemoryModel,
            &[AddressingModel::Logical as u32, MemoryModel::Vulkan as u32],
        );
        asm.text(
            Op::EntryPoint,
            &[ExecutionModel::GLCompute as u32, id::KERNEL],
            "the_kernel",
        );
        asm.text(Op::String, &[id::FILE], "kernels/src/lib.rs");
        asm.text(Op::Name, &[id::HELD], "Held");
        asm.text(Op::Name, &[id::PLAIN], "Plain");
        asm.op(Op::TypeVoid, &[id::VOID]);
        asm.op(Op::TypeFunction, &[id::VOID_FN, id::VOID]);
        asm.op(Op::TypeInt, &[id::UINT, 32, 0]);
        asm.op(Op::TypePointer, &[id::POINTER, class, id::UINT]);
        asm.op(Op::TypeStruct, &[id::HELD, id::UINT, id::POINTER]);
        asm.op(Op::Constant, &[id::UINT, id::ZERO, 0]);
        asm.op(Op::TypeArray, &[id::HELD_TWICE, id::HELD, id::ZERO]);
        asm.op(Op::TypeStruct, &[id::PLAIN, id::UINT, id::UINT]);
        asm.op(Op::ConstantNull, &[id::POINTER, id::NULL_POINTER]);
        asm.op(Op::ConstantNull, &[id::HELD, id::NULL_HELD]);
        asm.op(Op::ConstantNull, &[id::PLAIN, id::NULL_PLAIN]);
        asm
    }

    fn op(&mut self, op: Op, operands: &[u32]) {
        self.0.push(((operands.len() as u32 + 1) << 16) | op as u32);
        self.0.extend(operands);
    }

    fn text(&mut self, op: Op, operands: &[u32], text: &str) {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize((text.len() / 4 + 1) * 4, 0);
        let mut all = operands.to_vec();
        all.extend(
            bytes
                .chunks(4)
                .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))),
        );
        self.op(op, &all);
    }

    fn begin_kernel(&mut self) {
        self.op(
            Op::Function,
            &[
                id::VOID,
                id::KERNEL,
                FunctionControl::NONE.bits(),
                id::VOID_FN,
            ],
        );
        self.op(Op::Label, &[id::FIRST_BLOCK]);
    }

    fn end_kernel(mut self) -> Vec<u8> {
        self.op(Op::Return, &[]);
        self.op(Op::FunctionEnd, &[]);
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// A loop that carries a value of type `ty`, which `user` uses on line 42.
fn carried_in_a_loop(ty: u32, start: u32, lines: bool, user: (Op, &[u32])) -> Vec<u8> {
    let mut asm = Assembler::with_types();
    asm.begin_kernel();
    if lines {
        asm.op(Op::Line, &[id::FILE, 7, 1]);
    }
    asm.op(Op::Branch, &[id::LOOP]);
    asm.op(Op::Label, &[id::LOOP]);
    asm.op(
        Op::Phi,
        &[ty, id::VALUE, start, id::FIRST_BLOCK, id::NEXT, id::LOOP],
    );
    if lines {
        asm.op(Op::Line, &[id::FILE, 42, 5]);
    }
    asm.op(user.0, user.1);
    asm.op(Op::CopyObject, &[ty, id::NEXT, id::VALUE]);
    asm.op(Op::NoLine, &[]);
    asm.op(Op::BranchConditional, &[id::ZERO, id::LOOP, id::AFTER]);
    asm.op(Op::Label, &[id::AFTER]);
    asm.end_kernel()
}

/// A variable of `class` that keeps a value of type `ty`; line 42 stores to it.
fn kept_in_a_variable(class: StorageClass, ty: u32, value: u32) -> Vec<u8> {
    let mut asm = Assembler::with_types();
    asm.op(Op::TypePointer, &[id::VARIABLE_TYPE, class as u32, ty]);
    let variable = [id::VARIABLE_TYPE, id::VARIABLE, class as u32];
    if class != StorageClass::Function {
        asm.op(Op::Variable, &variable);
    }
    asm.begin_kernel();
    if class == StorageClass::Function {
        asm.op(Op::Variable, &variable);
    }
    asm.op(Op::Line, &[id::FILE, 42, 5]);
    asm.op(Op::Store, &[id::VARIABLE, value]);
    asm.end_kernel()
}

fn only_error(module: &[u8]) -> LintError {
    let errors = lint_spirv(module).expect_err("the lint accepts a bad module");
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.into_iter().next().expect("one error")
}

fn line_42() -> Option<Location> {
    Some(Location {
        file: "kernels/src/lib.rs".to_owned(),
        line: 42,
    })
}

const LOAD: (Op, &[u32]) = (Op::Load, &[id::UINT, 50, id::VALUE]);
const EXTRACT: (Op, &[u32]) = (Op::CompositeExtract, &[id::UINT, 50, id::VALUE, 0]);

#[test]
fn plain_values_may_be_carried_and_kept() {
    assert_eq!(
        lint_spirv(&carried_in_a_loop(id::UINT, id::ZERO, true, LOAD)),
        Ok(())
    );
    assert_eq!(
        lint_spirv(&carried_in_a_loop(id::PLAIN, id::NULL_PLAIN, true, EXTRACT)),
        Ok(())
    );
    assert_eq!(
        lint_spirv(&kept_in_a_variable(
            StorageClass::Function,
            id::PLAIN,
            id::NULL_PLAIN
        )),
        Ok(())
    );
    assert_eq!(
        lint_spirv(&kept_in_a_variable(
            StorageClass::Private,
            id::UINT,
            id::ZERO
        )),
        Ok(())
    );
}

#[test]
fn a_phi_of_a_pointer_is_refused() {
    let error = only_error(&carried_in_a_loop(
        id::POINTER,
        id::NULL_POINTER,
        true,
        LOAD,
    ));
    assert_eq!(
        error.kind,
        LintKind::PointerPhi {
            ty: "pointer".to_owned()
        }
    );
    assert_eq!(error.function, "the_kernel");
    assert_eq!(error.location, line_42());
}

#[test]
fn a_phi_of_a_struct_with_a_pointer_is_refused() {
    let error = only_error(&carried_in_a_loop(id::HELD, id::NULL_HELD, true, EXTRACT));
    assert_eq!(
        error.kind,
        LintKind::PointerPhi {
            ty: "Held".to_owned()
        }
    );
    assert_eq!(error.location, line_42());
    let text = error.to_string();
    for part in ["kernels/src/lib.rs:42", "`the_kernel`", "`Held`", "OpPhi"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
}

#[test]
fn a_phi_of_an_array_of_such_structs_is_refused() {
    let error = only_error(&carried_in_a_loop(
        id::HELD_TWICE,
        id::NULL_HELD,
        true,
        EXTRACT,
    ));
    assert!(
        matches!(error.kind, LintKind::PointerPhi { .. }),
        "{error:?}"
    );
}

#[test]
fn a_function_variable_that_keeps_a_pointer_is_refused() {
    let error = only_error(&kept_in_a_variable(
        StorageClass::Function,
        id::POINTER,
        id::NULL_POINTER,
    ));
    assert_eq!(
        error.kind,
        LintKind::PointerVariable {
            ty: "pointer".to_owned()
        }
    );
    assert_eq!(
        (error.function.as_str(), error.location),
        ("the_kernel", line_42())
    );
    let error = only_error(&kept_in_a_variable(
        StorageClass::Function,
        id::HELD,
        id::NULL_HELD,
    ));
    assert_eq!(
        error.kind,
        LintKind::PointerVariable {
            ty: "Held".to_owned()
        }
    );
}

#[test]
fn a_private_variable_that_keeps_a_pointer_is_refused() {
    let error = only_error(&kept_in_a_variable(
        StorageClass::Private,
        id::HELD,
        id::NULL_HELD,
    ));
    assert_eq!(
        error.kind,
        LintKind::PointerVariable {
            ty: "Held".to_owned()
        }
    );
    assert_eq!(
        (error.function.as_str(), error.location),
        ("the_kernel", line_42())
    );
}

#[test]
fn modules_without_debug_information_are_refused_without_a_line() {
    let error = only_error(&carried_in_a_loop(id::HELD, id::NULL_HELD, false, EXTRACT));
    assert_eq!(error.location, None);
    assert!(error.to_string().contains("no source line"), "{error}");
}

#[test]
fn the_other_byte_order_is_read() {
    let mut module = carried_in_a_loop(id::HELD, id::NULL_HELD, true, EXTRACT);
    module.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    assert!(matches!(
        only_error(&module).kind,
        LintKind::PointerPhi { .. }
    ));
}

#[test]
fn what_is_no_module_is_said_to_be_none() {
    let good = carried_in_a_loop(id::UINT, id::ZERO, true, LOAD);
    let mut zero_length = good.clone();
    zero_length[20..24].fill(0);
    for bytes in [
        &b"spv"[..],
        b"nothing!",
        &[],
        &good[..12],
        &good[..good.len() - 4],
        &good[..22],
        &zero_length,
    ] {
        let error = only_error(bytes);
        assert!(matches!(error.kind, LintKind::Malformed(_)), "{error:?}");
        assert!(
            error.to_string().starts_with("not a SPIR-V module"),
            "{error}"
        );
    }
}
