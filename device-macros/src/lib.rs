//! The attribute `#[kernel]`, the derives `HeapData` and `KernelError`, and format strings.
//!
//! | module | what |
//! |---|---|
//! | `kernel::options` | what the attribute says |
//! | `kernel::parameter` | what the parameters of a kernel are |
//! | `kernel::parse` | which functions can be kernels, and their entry points |
//! | `kernel::device` | the entry points: PTX, SPIR-V, host |
//! | `kernel::shared` | what the lanes of a block share, in the entry points |
//! | `kernel::launch` | the typed launch functions of the host |
//! | `global` | a global heap for each allocator |
//! | `listed` | a crate's own list of allocators |
//! | `heap_data`, `kernel_error` | the derives |
//! | `text` | format strings of `heap_write!` and `heap_print!` |
//! | `paths` | how the expansion names the runtime crate |

mod global;
mod heap_data;
mod kernel;
mod kernel_error;
mod listed;
mod paths;
mod text;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Makes a function a kernel: an entry point for every target and a launch function for the host.
///
/// ```text
/// #[kernel(allocators = all)]
/// pub fn squares<A: DeviceAlloc>(heap: Heap<A>, list: &mut HeapVec<u32>) -> Result<(), AllocError> { … }
///
/// #[kernel]
/// pub fn scale(values: &[f32], mut out: PerLane<f32>, factor: f32) { … }
/// ```
///
/// # Parameters
///
/// | parameter | what a lane has | the host gives |
/// |---|---|---|
/// | `heap: Heap<A>`, with a type parameter `A` | a heap of any of the allocators that the attribute names | `&Pool<A>` |
/// | `heap: Heap<WarpHeap>` | a heap of this allocator | `&Pool<WarpHeap>` |
/// | `x: &mut T` | its own element, that with its number; lanes beyond the last do not run | `&mut DeviceVec<T>` |
/// | `x: PerLane<T>` | the same through an index; all lanes run | `&mut DeviceVec<T>` |
/// | `x: Scatter<T>` | any element, by `unsafe` calls | `&mut DeviceVec<T>` |
/// | `x: &[T]` | all elements, to be read | `&DeviceVec<T>` |
/// | `x: &[AtomicWord]` | all words, to be changed atomically | `&DeviceVec<u32>` |
/// | `x: &mut [T]` | all elements; **every lane has the same slice**, and no two may access one element of which one writes | `&DeviceVec<T>` |
/// | `x: &T` | one value, the same for all lanes, of any size | `&DeviceBox<T>` |
/// | `x: SharedWords<N>` | words that the lanes of its block share | nothing |
/// | `x: Log` | where `heap_print!` leaves lines | `&DeviceLog` |
/// | `x: T` | a value | the value; a `SharedArg<T>` for a container that lanes share |
///
/// Elements are anything that is an `Element`: `HeapData`, and except on Vulkan numbers of 8, 16 and 64 bits. Values are
/// anything that is an `Argument`: `HeapData`, `DevicePtr` among them, `bool` and numbers.
///
/// # Allocators
///
/// A kernel with a type parameter says which allocators it is compiled for: `allocators = all` for the
/// library's list, `allocators = Counted<all>` for the same list in an adaptor, or a list of types,
/// `allocators = [ScatterAlloc, Counted<Bump>]`, in which `all` or `Counted<all>` may be the first.
/// `allocators = listed` is the crate's own list, `device_module!(allocators = [WarpHeap, Gallatin])`, which stands before its kernels; whoever launches such a kernel is
/// generic over the crate's trait `Allocator`. With several type parameters each has its own by its name, `A = all,
/// B = [Bump]`, one at most `all`, and there is an entry point for each combination. A kernel with several heaps is
/// an `unsafe fn`, whose promise is that a container is used through the heap alone that its memory is from.
///
/// # Result
///
/// Nothing, `Result<(), AllocError>`, or `Result<(), Failure<E>>` with an enum `E` of the program's own errors that
/// derives `KernelError`. Errors are counted and reach the host with the place of the first.
///
/// # Registers
///
/// `max_registers = 32`, also behind the allocators, is the most registers that a lane of this kernel has
/// on CUDA; it means nothing elsewhere. `max_registers = lean` is for kernels that do little beside
/// allocating: the number that suits the allocator, `DeviceAlloc::LEAN_REGISTERS`. With 32 or fewer as
/// many warps as possible are on a multiprocessor; a kernel that computes much would store values in
/// memory for lack of registers.
///
/// # On the host
///
/// It becomes a method of the crate's `Kernels` (see `device_module!`): the pools if there are
/// any, then the `LaunchConfig`, then the other arguments in order. `name_launch` instead of `name` prepares the launch
/// without running it. The launch of an `unsafe fn` is `unsafe`.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let (tokens, code) = (attribute.clone().into(), item.clone().into());
    let options = parse_macro_input!(attribute as kernel::Options);
    if options.asks_for_the_list() {
        return listed::ask(&tokens, &code).into();
    }
    let function = parse_macro_input!(item as syn::ItemFn);
    kernel::expand(options, function)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// What `device_module!(allocators = […])` makes of the list.
#[doc(hidden)]
#[proc_macro]
pub fn __listed(list: TokenStream) -> TokenStream {
    use syn::punctuated::Punctuated;
    let list =
        parse_macro_input!(list with Punctuated::<syn::Type, syn::Token![,]>::parse_terminated);
    listed::expand(&list).into()
}

/// The global allocators of `global_heap!(all)`: of each image that of its allocator.
#[doc(hidden)]
#[proc_macro]
pub fn __global_allocators(_: TokenStream) -> TokenStream {
    global::expand().into()
}

/// The text of a format string and its arguments, behind the path of the runtime crate and a semicolon.
#[doc(hidden)]
#[proc_macro]
pub fn __text(tokens: TokenStream) -> TokenStream {
    let text = parse_macro_input!(tokens as text::Text);
    text::expand(text)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
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

/// Implements `KernelError` for an enum without fields that is `#[repr(u32)]`: the numbers of its errors are its
/// discriminants.
#[proc_macro_derive(KernelError)]
pub fn derive_kernel_error(item: TokenStream) -> TokenStream {
    let input = parse_macro_input!(item as syn::DeriveInput);
    kernel_error::expand(input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
