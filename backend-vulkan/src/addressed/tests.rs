//! Kernels before and behind the change. That they still do what they did, devices tell: `tests/addresses.rs`.

use super::changed::align_access;
use super::*;
use crate::isolate::isolate;
use crate::memory::tests::backend;
use crate::module::Module;
use crate::{VulkanConfig, open_unchecked};
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use spirv::{Capability, Decoration, FunctionControl, MemoryAccess, StorageClass};
use warpheap_api::host::{DeviceVec, LaunchConfig};

#[test]
fn what_no_descriptor_shows_has_none() {
    let bound = |most| {
        let config = VulkanConfig {
            descriptor_bytes: Some(most),
            ..VulkanConfig::from_env().unwrap()
        };
        let device = match open_unchecked(&config) {
            Ok(device) => device,
            Err(error) => {
                let required = std::env::var("WARPHEAP_REQUIRE_VULKAN").as_deref() == Ok("1");
                assert!(!required, "WARPHEAP_REQUIRE_VULKAN=1: {error}");
                eprintln!("SKIPPED: {error}");
                return None;
            }
        };
        let numbers = DeviceVec::<u32>::zeroed(&device, 128).unwrap();
        let kernels = warpheap_kernels::load(&device).unwrap();
        let launch = kernels.selftest_index_launch(LaunchConfig::for_num_elems(64), &numbers);
        let ready =
            backend(&device).call_compiled(|state| state.prepare(&[launch.launch().unwrap()]));
        Some(ready.unwrap()[0].buffers[0].range == 512)
    };
    assert_ne!(bound(512), Some(false));
    assert_ne!(bound(511), Some(true));
}

/// The kernels of the self-test, one by one.
fn kernels() -> impl Iterator<Item = (String, Vec<u32>)> {
    let packed = warpheap_kernels::IMAGES.packed[0].2.unwrap();
    let module = Module::parse(&warpheap_api::host::unpack(packed).unwrap()).unwrap();
    let entries = module.entries.clone();
    entries.into_iter().map(move |entry| {
        let words = isolate(&module, &entry, 64).unwrap();
        (entry.name, words)
    })
}

/// Only the buffer with this binding.
fn only(binding: usize) -> Addressed {
    let mut addressed = Addressed::default();
    addressed.add(binding, 4);
    addressed
}

/// How many instructions of functions use a buffer by its descriptor, and how many accesses state their alignment.
fn uses(words: &[u32], binding: u32) -> (usize, usize) {
    let module = rspirv::dr::load_words(words).unwrap();
    let variables: Vec<u32> = module
        .annotations
        .iter()
        .filter(|i| {
            i.operands[1..]
                == [
                    Operand::Decoration(Decoration::Binding),
                    Operand::LiteralBit32(binding),
                ]
        })
        .filter_map(|i| i.operands[0].id_ref_any())
        .collect();
    let body = || module.functions.iter().flat_map(|f| f.all_inst_iter());
    let by_descriptor = body().filter(|i| {
        let ids = i.operands.iter().filter_map(Operand::id_ref_any);
        ids.into_iter().any(|id| variables.contains(&id))
    });
    let aligned = body().filter(|i| {
        let masks = i.operands.iter();
        let mut masks = masks.filter(
            |o| matches!(o, Operand::MemoryAccess(mask) if mask.contains(MemoryAccess::ALIGNED)),
        );
        masks.next().is_some()
    });
    (by_descriptor.count(), aligned.count())
}

#[test]
fn kernels_find_the_buffers_by_address_that_they_are_to_find_so() {
    let mut found = 0;
    for (name, words) in kernels() {
        let before = uses(&words, 0);
        assert_eq!(before.1, 0, "{name}");
        let changed = by_address(words.clone(), &only(0), true).expect(&name);
        let after = uses(&changed, 0);
        assert_eq!(after.0, 0, "{name}");
        found += before.0;
        // The others stay.
        assert_eq!(uses(&words, 1).0, uses(&changed, 1).0, "{name}");
        let bytes: Vec<u8> = changed.iter().flat_map(|word| word.to_le_bytes()).collect();
        let module = Module::parse(&bytes).unwrap();
        let has = |capability: Capability| module.capabilities.contains(&(capability as u32));
        assert!(
            has(Capability::PhysicalStorageBufferAddresses) && has(Capability::Int64),
            "{name}"
        );
        let narrow = by_address(words, &only(0), false).expect(&name);
        let bytes: Vec<u8> = narrow.iter().flat_map(|word| word.to_le_bytes()).collect();
        let module = Module::parse(&bytes).unwrap();
        assert!(
            !module.capabilities.contains(&(Capability::Int64 as u32)),
            "{name}"
        );
    }
    assert!(found > 0);
}

#[test]
fn kernels_of_descriptors_alone_stay_as_they_are() {
    let (_, words) = kernels().next().unwrap();
    assert_eq!(
        by_address(words.clone(), &Addressed::default(), true),
        Some(words)
    );
}

/// A kernel that loads a word of its buffer: by itself, or by a function that it hands the buffer to.
fn loads(by_function: bool) -> Vec<u32> {
    let mut b = Builder::new();
    let (void, word) = (b.type_void(), b.type_int(32, 0));
    let endless = b.type_runtime_array(word);
    let buffer = b.type_struct([endless]);
    let arguments = b.type_struct([word]);
    let to = |b: &mut Builder, class, pointee| b.type_pointer(None, class, pointee);
    let to_buffer = to(&mut b, StorageClass::StorageBuffer, buffer);
    let to_word = to(&mut b, StorageClass::StorageBuffer, word);
    let to_arguments = to(&mut b, StorageClass::PushConstant, arguments);
    let zero = b.constant_bit32(word, 0);
    let kernel = b.id();
    let [words, pushed] = [b.id(), b.id()];
    b.entry_point(
        spirv::ExecutionModel::GLCompute,
        kernel,
        "loads",
        [words, pushed],
    );
    b.decorate(words, Decoration::Binding, [Operand::LiteralBit32(0)]);
    b.decorate(endless, Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
    b.variable(to_buffer, Some(words), StorageClass::StorageBuffer, None);
    b.variable(to_arguments, Some(pushed), StorageClass::PushConstant, None);
    let load = |b: &mut Builder, buffer| {
        let at = b.access_chain(to_word, None, buffer, [zero, zero]).unwrap();
        b.load(word, None, at, None, []).unwrap();
        b.ret().unwrap();
        b.end_function().unwrap();
    };
    let kind = b.type_function(void, []);
    let taking = b.type_function(void, [to_buffer]);
    let begin = |b: &mut Builder, id, kind| {
        b.begin_function(void, id, FunctionControl::NONE, kind)
            .unwrap()
    };
    begin(&mut b, Some(kernel), kind);
    b.begin_block(None).unwrap();
    if !by_function {
        load(&mut b, words);
        return b.module().assemble();
    }
    let called = b.id();
    b.function_call(void, None, called, [words]).unwrap();
    b.ret().unwrap();
    b.end_function().unwrap();
    begin(&mut b, Some(called), taking);
    let taken = b.function_parameter(to_buffer).unwrap();
    b.begin_block(None).unwrap();
    load(&mut b, taken);
    b.module().assemble()
}

#[test]
fn a_kernel_that_hands_its_buffer_on_is_not_changed() {
    assert!(by_address(loads(false), &only(0), true).is_some());
    assert_eq!(by_address(loads(true), &only(0), true), None);
}

/// What NVIDIA's compiler makes of an access chain to an element comes back to the beginning behind 4 GiB.
#[test]
fn elements_are_found_by_numbers_of_64_bits_where_there_are_some() {
    let count = |wide, op| {
        let changed = by_address(loads(false), &only(0), wide).unwrap();
        instructions(&changed).filter(|i| i.is(op)).count()
    };
    // Two chains lead to the words of the address.
    assert_eq!(count(true, Op::AccessChain), 2);
    assert_eq!(count(true, Op::ConvertUToPtr), 1);
    assert_eq!(count(false, Op::AccessChain), 3);
    assert_eq!(count(false, Op::ConvertUToPtr), 0);
}

#[test]
fn accesses_keep_what_else_they_say() {
    let aligned = MemoryAccess::ALIGNED.bits();
    let volatile = MemoryAccess::VOLATILE.bits();
    let visible = MemoryAccess::MAKE_POINTER_VISIBLE.bits();
    let after = |operands: &[u32]| {
        let mut operands = operands.to_vec();
        align_access(&mut operands, 1, 4);
        operands
    };
    assert_eq!(after(&[7]), [7, aligned, 4]);
    assert_eq!(after(&[7, volatile]), [7, volatile | aligned, 4]);
    // Its scope stays behind the alignment.
    assert_eq!(after(&[7, visible, 9]), [7, visible | aligned, 4, 9]);
    assert_eq!(after(&[7, aligned, 16]), [7, aligned, 16]);
}
