//! The attribute `#[kernel]` and the derive `HeapData`.
//!
//! | module | what |
//! |---|---|
//! | `kernel::parse` | which functions can be kernels, and what their parameters are |
//! | `kernel::device` | the entry points: PTX, SPIR-V, host |
//! | `kernel::launch` | the typed launch functions of the host |
//! | `global` | a global heap for each allocator |
//! | `heap_data` | the derive |
//! | `paths` | how the expansion names the runtime crate |

mod global;
mod heap_data;
mod kernel;
mod paths;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Makes a function a kernel: an entry point for every target and a launch function for the host.
///
/// ```text
/// #[kernel(allocators = all)]
/// pub fn squares<A: DeviceAlloc>(heap: Heap<A>, out: &mut [HeapVec<u32>]) -> Result<(), AllocError> { … }
///
/// #[kernel]
/// pub fn scale(values: &mut [f32], factor: f32) { … }
/// ```
///
/// *Parameters*: one `Heap<A>` at most, where `A` is the function's only type parameter; slices
/// `&[T]` and `&mut [T]` of `HeapData` (or `&[AtomicWord]` for words that several lanes change);
/// and scalars that are `HeapData`, `DevicePtr` among them. *Result*: nothing, or
/// `Result<(), AllocError>`; errors are counted and reach the host with the place of the first.
///
/// A kernel with a heap says which allocators it is compiled for: `allocators = all` for the
/// library's list, `allocators = Counted<all>` for the same list in an adaptor, or a list of types,
/// `allocators = [ScatterAlloc, Counted<Bump>]`.
///
/// `max_registers = 32`, also behind the allocators, is the most registers that a lane of this kernel has
/// on CUDA; it means nothing elsewhere. `max_registers = lean` is for kernels that do little beside
/// allocating: the number that suits the allocator, `DeviceAlloc::LEAN_REGISTERS`. With 32 or fewer as
/// many warps as possible are on a multiprocessor; a kernel that computes much would store values in
/// memory for lack of registers.
///
/// On the host it becomes a method of the crate's `Kernels` (see `device_module!`): the pool if there
/// is one, then the `LaunchConfig`, then the other arguments in order: a `&DeviceVec<T>` for a slice,
/// the value for a scalar. `name_launch` instead of `name` prepares the launch without running it.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(attribute as kernel::Options);
    let function = parse_macro_input!(item as syn::ItemFn);
    kernel::expand(options, function)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// The global allocators of `global_heap!(all)`: of each image that of its allocator.
#[doc(hidden)]
#[proc_macro]
pub fn __global_allocators(_: TokenStream) -> TokenStream {
    global::expand().into()
}

/// Implements `HeapData` for a `#[repr(C)]` or `#[repr(transparent)]` struct whose fields all are
/// `HeapData`.
#[proc_macro_derive(HeapData)]
pub fn derive_heap_data(item: TokenStream) -> TokenStream {
    let input = parse_macro_input!(item as syn::DeriveInput);
    heap_data::expand(input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
