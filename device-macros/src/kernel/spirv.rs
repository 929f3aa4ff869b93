//! The entry point for Vulkan: its parameters are bindings of buffers and built-in variables.

use super::device::{Own, allocator, attached, in_image, local, log, offset_name, run, scalar};
use super::parameter::Kind;
use super::parse::{Entry, Kernel};
use super::shared;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

pub fn entry(
    kernel: &Kernel,
    entry: &Entry,
    rt: &TokenStream,
    offsets: &TokenStream,
) -> TokenStream {
    let function = &entry.function;
    let name = Literal::string(&entry.name);
    let (args, report) = (local("args"), local("report"));
    let mut bindings = Vec::new();
    let mut elements = Vec::new();
    let mut variables = Vec::new();
    let mut arguments = Vec::new();
    let mut own = Vec::new();
    for (i, parameter) in kernel.parameters.iter().enumerate() {
        let at = offset_name(i);
        let buffer = local(&format!("buffer{i}"));
        let bounded = |ty| quote!(#rt::arch::bounded::<#ty>(#buffer, #args, #at));
        let element = match &parameter.kind {
            kind @ (Kind::Heap(_) | Kind::HeapOf(_)) => {
                let allocator = allocator(kind, entry);
                // SAFETY: the host binds the heap's memory and gives its length and parameters.
                arguments.push(quote!(unsafe {
                    #rt::entry::heap::<#allocator>(
                        #rt::arch::Words::from_buffer(#buffer, #args.words[#at + 2]),
                        #args,
                        #at,
                    )
                }));
                quote!(u32)
            }
            Kind::Slice { element, .. } => {
                arguments.push(bounded(element));
                quote!(#element)
            }
            Kind::One(ty) => {
                let value = bounded(ty);
                arguments.push(quote!(&#value[0]));
                quote!(#ty)
            }
            Kind::Own(ty) => {
                let one = Own::new(i, bounded(ty));
                let copy = &one.copy;
                arguments.push(quote!(&mut #copy));
                own.push(one);
                quote!(#ty)
            }
            Kind::PerLane(ty) => {
                arguments.push(attached(rt, "PerLane", &bounded(ty)));
                quote!(#ty)
            }
            Kind::Scatter(ty) => {
                arguments.push(attached(rt, "Scatter", &bounded(ty)));
                quote!(#ty)
            }
            Kind::Log => {
                // SAFETY: the host binds the log's memory and gives its length.
                let words = quote!(unsafe {
                    #rt::arch::Words::from_buffer(#buffer, #args.words[#at + 2])
                });
                arguments.push(log(rt, &words));
                quote!(u32)
            }
            Kind::Scalar(ty) => {
                arguments.push(scalar(rt, ty, &at));
                continue;
            }
            Kind::Shared(number) => {
                let name = local(&format!("shared{i}"));
                let words = shared::of_variable(rt, &name, number);
                arguments.push(shared::attached(rt, number, &words));
                variables.push(shared::variable(rt, &name, number));
                continue;
            }
        };
        // Said here, since what the code generator says of such elements names no line.
        elements.push(quote!(const _: () = #rt::entry::is_element::<#element>();));
        let binding = Literal::usize_unsuffixed(bindings.len());
        bindings.push(quote! {
            #[rust_gpu::spirv_v0_10(storage_buffer, descriptor_set = 0, binding = #binding)]
            #buffer: &mut [#element]
        });
    }
    let in_image = in_image(entry);
    let last = Literal::usize_unsuffixed(bindings.len());
    let run = run(kernel, entry, rt, &own, &arguments);
    let place = [
        "workgroup",
        "workgroups",
        "thread",
        "lane",
        "width",
        "company",
    ];
    let [workgroup, workgroups, thread, lane, width, company] = place.map(local);
    quote! {
        #rt::__on_vulkan! {
            #in_image
            #[doc(hidden)]
            #[allow(non_snake_case, unused_unsafe, clippy::undocumented_unsafe_blocks, clippy::too_many_arguments)]
            #[rust_gpu::spirv_v0_10(compute(threads(64), entry_point_name = #name))]
            pub fn #function(
                #[rust_gpu::spirv_v0_10(workgroup_id)] #workgroup: #rt::arch::UVec3,
                #[rust_gpu::spirv_v0_10(num_workgroups)] #workgroups: #rt::arch::UVec3,
                #[rust_gpu::spirv_v0_10(local_invocation_index)] #thread: u32,
                #[rust_gpu::spirv_v0_10(subgroup_local_invocation_id)] #lane: u32,
                #[rust_gpu::spirv_v0_10(subgroup_size)] #width: u32,
                #[rust_gpu::spirv_v0_10(spec_constant(id = 0, default = 1))] #company: u32,
                #[rust_gpu::spirv_v0_10(push_constant)] #args: &#rt::api::abi::ArgBlock,
                #(#bindings,)*
                #(#variables,)*
                #[rust_gpu::spirv_v0_10(storage_buffer, descriptor_set = 0, binding = #last)]
                #report: &mut [u32],
            ) {
                #offsets
                #(#elements)*
                if #rt::arch::enters(#args, #workgroup, #workgroups, #thread, #lane, #width, #company) {
                    // SAFETY: the host binds a report of so many words last.
                    let #report = unsafe {
                        #rt::arch::Words::from_buffer(#report, #rt::api::abi::REPORT_WORDS as u32)
                    };
                    #run
                }
            }
        }
    }
}
