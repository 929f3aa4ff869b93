use super::*;
use rspirv::dr::{Builder, Module};
use spirv::{
    AddressingModel, BuiltIn, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    LoopControl, MemoryModel,
};

/// A kernel with two loops, one in the other. The inner one loads which place it looks at, and the second value from there; the outer one loads the
/// first value behind it. Behind both loops the first value goes to the last place, and the second one to a phi. Gives which, place, first, second.
/// Lanes have numbers if `numbered`.
fn two_loops(numbered: bool) -> (Vec<u32>, [u32; 4]) {
    let mut b = Builder::new();
    b.set_version(1, 3);
    b.capability(spirv::Capability::Shader);
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let (void, bool, word) = (b.type_void(), b.type_bool(), b.type_int(32, 0));
    let [two, hundred] = [2, 100].map(|value| b.constant_bit32(word, value));
    let array = b.type_array(word, hundred);
    let whole = b.type_pointer(None, spirv::StorageClass::Workgroup, array);
    let element = b.type_pointer(None, spirv::StorageClass::Workgroup, word);
    let words = b.variable(whole, None, spirv::StorageClass::Workgroup, None);
    let kind = b.type_function(void, []);
    let mut interface = vec![];
    if numbered {
        let input = b.type_pointer(None, spirv::StorageClass::Input, word);
        let lane = b.variable(input, None, spirv::StorageClass::Input, None);
        let what = [Operand::BuiltIn(BuiltIn::LocalInvocationIndex)];
        b.decorate(lane, Decoration::BuiltIn, what);
        interface.push(lane);
    }
    let main = b
        .begin_function(void, None, FunctionControl::NONE, kind)
        .unwrap();
    let [entry, outer, inner, next, behind, last, end] = [(); 7].map(|()| b.id());
    let [which, place, first, second] = [(); 4].map(|()| b.id());
    let block = |b: &mut Builder, label| b.begin_block(Some(label)).unwrap();
    block(&mut b, entry);
    let begin = b
        .in_bounds_access_chain(element, None, words, [two])
        .unwrap();
    b.branch(outer).unwrap();
    block(&mut b, outer);
    b.loop_merge(end, last, LoopControl::NONE, []).unwrap();
    b.branch(inner).unwrap();
    block(&mut b, inner);
    b.load(word, Some(which), begin, None, []).unwrap();
    b.in_bounds_access_chain(element, Some(place), words, [which])
        .unwrap();
    b.load(word, Some(second), place, None, []).unwrap();
    let small = b.u_less_than(bool, None, second, two).unwrap();
    b.loop_merge(behind, next, LoopControl::NONE, []).unwrap();
    b.branch_conditional(small, next, behind, []).unwrap();
    block(&mut b, next);
    b.branch(inner).unwrap();
    block(&mut b, behind);
    b.load(word, Some(first), place, None, []).unwrap();
    let sum = b.i_add(word, None, first, second).unwrap();
    let small = b.u_less_than(bool, None, sum, two).unwrap();
    b.branch_conditional(small, last, end, []).unwrap();
    block(&mut b, last);
    b.branch(outer).unwrap();
    block(&mut b, end);
    b.phi(word, None, [(second, behind)]).unwrap();
    b.store(place, first, None, []).unwrap();
    b.ret().unwrap();
    b.end_function().unwrap();
    b.entry_point(ExecutionModel::GLCompute, main, "main", interface);
    b.execution_mode(main, ExecutionMode::LocalSize, [64, 1, 1]);
    (b.module().assemble(), [which, place, first, second])
}

fn module(words: &[u32]) -> Module {
    rspirv::dr::load_words(words).unwrap()
}

/// The block that ends with a return.
fn last_block(module: &Module) -> &Block {
    module.functions[0].blocks.last().unwrap()
}

fn ids(x: &Instruction) -> Vec<u32> {
    x.operands.iter().filter_map(Operand::id_ref_any).collect()
}

/// The instruction that makes an id.
fn maker(module: &Module, id: u32) -> Instruction {
    let mut all = module.all_inst_iter();
    all.find(|x| x.result_id == Some(id)).unwrap().clone()
}

#[test]
fn values_that_leave_loops_are_stored_in_them_and_loaded_behind() {
    for numbered in [false, true] {
        let (words, [which, place, first, second]) = two_loops(numbered);
        let changed = module(&keep_for_each_lane(words).unwrap());
        let blocks = &changed.functions[0].blocks;
        // Where each value goes that is kept.
        let variables = [first, second, which].map(|id| {
            let body = blocks.iter().flat_map(|block| &block.instructions);
            let body: Vec<&Instruction> = body.collect();
            let at = body.iter().position(|x| x.result_id == Some(id)).unwrap();
            assert_eq!(body[at + 1].class.opcode, Op::Store);
            assert_eq!(ids(body[at + 1])[1], id);
            ids(body[at + 1])[0]
        });
        for variable in variables {
            let chain = maker(&changed, variable);
            assert_eq!(chain.class.opcode, Op::InBoundsAccessChain);
            let zero = maker(&changed, ids(&chain)[1]);
            assert_eq!(zero.class.opcode, Op::ShiftRightLogical);
        }
        // The store behind both goes to a place that is made there, and takes what was loaded before.
        let end = last_block(&changed);
        let store = end
            .instructions
            .iter()
            .find(|x| x.class.opcode == Op::Store)
            .unwrap();
        let [to, value] = ids(store)[..] else {
            panic!("{store:?}")
        };
        assert_ne!(to, place);
        let again = ids(&maker(&changed, to));
        assert_eq!(again[0], ids(&maker(&changed, place))[0]);
        assert_eq!(ids(&maker(&changed, again[1])), [variables[2]]);
        assert_eq!(ids(&maker(&changed, value)), [variables[0]]);
        // So does the phi, from the block from which lanes come.
        let from = ids(&end.instructions[0]);
        assert_eq!(ids(&maker(&changed, from[0])), [variables[1]]);
        let before = blocks
            .iter()
            .find(|block| label(block) == Some(from[1]))
            .unwrap();
        assert!(
            before
                .instructions
                .iter()
                .any(|x| x.result_id == Some(from[0]))
        );
        // A lane has a number, and one only.
        let numbers = changed.annotations.iter().filter(|x| {
            x.operands
                .contains(&Operand::BuiltIn(BuiltIn::LocalInvocationIndex))
        });
        let numbers: Vec<u32> = numbers.map(|x| ids(x)[0]).collect();
        assert_eq!(numbers.len(), 1);
        assert!(ids(&changed.entry_points[0]).contains(&numbers[0]));
    }
}

#[test]
fn values_that_each_round_computes_again_stay_as_they_are() {
    let mut b = Builder::new();
    let (void, bool, word) = (b.type_void(), b.type_bool(), b.type_int(32, 0));
    let [zero, ten] = [0, 10].map(|value| b.constant_bit32(word, value));
    let kind = b.type_function(void, []);
    b.begin_function(void, None, FunctionControl::NONE, kind)
        .unwrap();
    let [entry, header, next, end, i, more] = [(); 6].map(|()| b.id());
    let block = |b: &mut Builder, label| b.begin_block(Some(label)).unwrap();
    block(&mut b, entry);
    b.branch(header).unwrap();
    block(&mut b, header);
    b.phi(word, Some(i), [(zero, entry), (more, next)]).unwrap();
    b.i_add(word, Some(more), i, ten).unwrap();
    let less = b.u_less_than(bool, None, more, ten).unwrap();
    b.loop_merge(end, next, LoopControl::NONE, []).unwrap();
    b.branch_conditional(less, next, end, []).unwrap();
    block(&mut b, next);
    b.branch(header).unwrap();
    block(&mut b, end);
    b.i_add(word, None, more, i).unwrap();
    b.ret().unwrap();
    b.end_function().unwrap();
    let words = b.module().assemble();
    assert_eq!(keep_for_each_lane(words.clone()).unwrap(), words);
}

#[test]
fn what_is_changed_has_nothing_left_to_change() {
    let (words, _) = two_loops(true);
    let once = keep_for_each_lane(words).unwrap();
    assert_eq!(keep_for_each_lane(once.clone()).unwrap(), once);
}

#[test]
fn words_that_are_no_module_are_refused() {
    assert!(keep_for_each_lane(vec![1, 2, 3]).is_err());
}
