//! The entry points: one function for each target, of which one is kept.
//!
//! The runtime's `__on_…!` macros decide which, because a `cfg` in the expansion would be the user's own:
//! it would warn of `target_arch = "spirv"`, which their compiler has not heard of.

use super::LAYOUT_VERSION;
use super::parse::{Entry, Kernel, Kind, Registers};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

pub fn expand(kernel: &Kernel, entries: &[Entry], rt: &TokenStream) -> TokenStream {
    let offsets = offsets(kernel, rt);
    let entries = entries.iter().map(|entry| {
        let nvptx = nvptx(kernel, entry, rt, &offsets);
        let spirv = spirv(kernel, entry, rt, &offsets);
        let host = host(kernel, entry, rt, &offsets);
        quote!(#nvptx #spirv #host)
    });
    quote! {
        const _: () = assert!(
            #rt::api::LAYOUT_VERSION == #LAYOUT_VERSION,
            "warpheap-macros and warpheap-api are of different versions",
        );
        #(#entries)*
    }
}

/// The name of the constant that says where a parameter's words begin.
fn offset_name(i: usize) -> Ident {
    format_ident!("AT{i}")
}

/// Constants: where each parameter's words begin in the block.
fn offsets(kernel: &Kernel, rt: &TokenStream) -> TokenStream {
    let mut next = quote!(#rt::api::abi::ARG_FIRST);
    let mut constants = TokenStream::new();
    for (i, parameter) in kernel.parameters.iter().enumerate() {
        let name = offset_name(i);
        constants.extend(quote!(const #name: usize = #next;));
        let words = match &parameter.kind {
            Kind::Heap => quote!(#rt::api::abi::HEAP_WORDS),
            Kind::Slice { .. } => quote!(#rt::api::abi::SLICE_WORDS),
            Kind::Scalar(ty) => quote!(<#ty as #rt::api::HeapData>::WORDS as usize),
        };
        next = quote!(#name + #words);
    }
    constants.extend(quote! {
        const _: () = assert!(
            #next <= #rt::api::abi::ARG_WORDS,
            "the kernel's arguments take more than 32 words: put scalars into a slice",
        );
    });
    constants
}

/// Code that makes the arguments from the block in `args` and calls the kernel, on targets whose
/// memory has addresses.
fn addressed_body(
    kernel: &Kernel,
    entry: &Entry,
    rt: &TokenStream,
    offsets: &TokenStream,
) -> TokenStream {
    let arguments = kernel.parameters.iter().enumerate().map(|(i, parameter)| {
        let at = offset_name(i);
        match &parameter.kind {
            Kind::Heap => {
                let allocator = &entry.allocator;
                // SAFETY: as `addressed_body` says in the expansion.
                quote!(unsafe {
                    #rt::entry::heap::<#allocator>(#rt::arch::heap_words(args, #at), args, #at)
                })
            }
            Kind::Slice {
                element,
                mutable: false,
            } => {
                // SAFETY: the same.
                quote!(unsafe { #rt::arch::slice::<#element>(args, #at) })
            }
            Kind::Slice {
                element,
                mutable: true,
            } => {
                // SAFETY: the same.
                quote!(unsafe { #rt::arch::slice_mut::<#element>(args, #at) })
            }
            Kind::Scalar(ty) => quote!(<#ty as #rt::api::HeapData>::from_args(args, #at)),
        }
    });
    let call = call(kernel, entry);
    quote! {
        #offsets
        // SAFETY: the host made the arguments to match these parameters, and keeps their memory for the launch; so it
        // is for the arguments below.
        let report = unsafe { #rt::arch::report(args) };
        #rt::entry::finish(report, #call(#(#arguments),*));
    }
}

fn call(kernel: &Kernel, entry: &Entry) -> TokenStream {
    let name = kernel.name();
    match &entry.allocator {
        Some(allocator) => quote!(#name::<#allocator>),
        None => quote!(#name),
    }
}

/// Keeps an entry in the images that it belongs to; the builder says which one is being compiled.
fn in_image(entry: &Entry) -> TokenStream {
    let image = match entry.image {
        "" => "rest",
        allocator => allocator,
    };
    quote!(#[cfg(any(warpheap_image = "all", warpheap_image = #image))])
}

fn nvptx(kernel: &Kernel, entry: &Entry, rt: &TokenStream, offsets: &TokenStream) -> TokenStream {
    let function = &entry.function;
    let name = Literal::string(&entry.name);
    let body = addressed_body(kernel, entry, rt, offsets);
    // PTX has a directive for it, which no Rust attribute makes: the builder puts it where this line of
    // assembly, a comment, stands in the kernel's body.
    let registers = match (&kernel.registers, &entry.allocator) {
        (Some(Registers::Number(number)), _) => Some(quote!(#number)),
        (Some(Registers::Lean), Some(allocator)) => {
            Some(quote!(<#allocator as #rt::api::DeviceAlloc>::LEAN_REGISTERS))
        }
        _ => None,
    };
    let in_image = in_image(entry);
    let registers = registers.map(|number| {
        quote! {
            // SAFETY: a comment does nothing.
            unsafe { ::core::arch::asm!("// warpheap: max_registers {}", const #number) };
        }
    });
    quote! {
        #rt::__on_cuda! {
            #in_image
            #[doc(hidden)]
            #[allow(non_snake_case, clippy::undocumented_unsafe_blocks)]
            #[unsafe(export_name = #name)]
            pub unsafe extern "ptx-kernel" fn #function(args: #rt::api::abi::ArgBlock) {
                let args = &args;
                #registers
                #body
            }
        }
    }
}

fn host(kernel: &Kernel, entry: &Entry, rt: &TokenStream, offsets: &TokenStream) -> TokenStream {
    let function = &entry.function;
    let body = addressed_body(kernel, entry, rt, offsets);
    quote! {
        #rt::__on_host! {
            #[allow(non_snake_case, clippy::undocumented_unsafe_blocks)]
            unsafe fn #function(args: &#rt::api::abi::ArgBlock) {
                #body
            }
        }
    }
}

fn spirv(kernel: &Kernel, entry: &Entry, rt: &TokenStream, offsets: &TokenStream) -> TokenStream {
    let function = &entry.function;
    let name = Literal::string(&entry.name);
    let mut bindings = Vec::new();
    let mut arguments = Vec::new();
    for (i, parameter) in kernel.parameters.iter().enumerate() {
        let at = offset_name(i);
        let buffer = format_ident!("buffer{i}");
        let element = match &parameter.kind {
            Kind::Heap => {
                let allocator = &entry.allocator;
                // SAFETY: the host binds the heap's memory and gives its length and parameters.
                arguments.push(quote!(unsafe {
                    #rt::entry::heap::<#allocator>(
                        #rt::arch::Words::from_buffer(#buffer, args.words[#at + 2]),
                        args,
                        #at,
                    )
                }));
                quote!(u32)
            }
            Kind::Slice { element, .. } => {
                arguments.push(quote!(#rt::arch::bounded::<#element>(#buffer, args, #at)));
                quote!(#element)
            }
            Kind::Scalar(ty) => {
                arguments.push(quote!(<#ty as #rt::api::HeapData>::from_args(args, #at)));
                continue;
            }
        };
        let binding = Literal::usize_unsuffixed(bindings.len());
        bindings.push(quote! {
            #[rust_gpu::spirv_v0_10(storage_buffer, descriptor_set = 0, binding = #binding)]
            #buffer: &mut [#element]
        });
    }
    let in_image = in_image(entry);
    let last = Literal::usize_unsuffixed(bindings.len());
    let call = call(kernel, entry);
    quote! {
        #rt::__on_vulkan! {
            #in_image
            #[doc(hidden)]
            #[allow(non_snake_case, clippy::undocumented_unsafe_blocks, clippy::too_many_arguments)]
            #[rust_gpu::spirv_v0_10(compute(threads(64), entry_point_name = #name))]
            pub fn #function(
                #[rust_gpu::spirv_v0_10(workgroup_id)] workgroup: #rt::arch::UVec3,
                #[rust_gpu::spirv_v0_10(num_workgroups)] workgroups: #rt::arch::UVec3,
                #[rust_gpu::spirv_v0_10(local_invocation_index)] thread: u32,
                #[rust_gpu::spirv_v0_10(subgroup_local_invocation_id)] lane: u32,
                #[rust_gpu::spirv_v0_10(subgroup_size)] width: u32,
                #[rust_gpu::spirv_v0_10(spec_constant(id = 0, default = 1))] company: u32,
                #[rust_gpu::spirv_v0_10(push_constant)] args: &#rt::api::abi::ArgBlock,
                #(#bindings,)*
                #[rust_gpu::spirv_v0_10(storage_buffer, descriptor_set = 0, binding = #last)]
                report: &mut [u32],
            ) {
                #offsets
                if #rt::arch::enters(args, workgroup, workgroups, thread, lane, width, company) {
                    // SAFETY: the host binds a report of so many words last.
                    let report = unsafe {
                        #rt::arch::Words::from_buffer(report, #rt::api::abi::REPORT_WORDS as u32)
                    };
                    #rt::entry::finish(report, #call(#(#arguments),*));
                }
            }
        }
    }
}
