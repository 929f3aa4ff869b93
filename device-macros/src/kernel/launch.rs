//! The typed launch functions of the host.

use super::device::local;
use super::parameter::Kind;
use super::parse::{Entry, Kernel};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Type};

pub fn expand(kernel: &Kernel, entries: &[Entry], rt: &TokenStream) -> TokenStream {
    let body = match kernel.types.is_empty() {
        true => plain(kernel, entries, rt),
        false => generic(kernel, entries, rt),
    };
    quote! {
        #rt::__on_host! { #body }
    }
}

/// What a launch function takes, and what it makes of that.
struct Signature {
    /// The pools of its heaps.
    pools: Vec<TokenStream>,
    /// The other parameters.
    others: Vec<TokenStream>,
    /// The names of both, in this order, with the launch's shape between them.
    names: Vec<TokenStream>,
    /// The arguments of the launch.
    arguments: Vec<TokenStream>,
}

impl Signature {
    fn new(kernel: &Kernel, rt: &TokenStream) -> Signature {
        let host = quote!(#rt::api::host);
        let heaps = kernel.parameters.iter().filter(|p| p.kind.is_heap());
        let alone = heaps.count() == 1;
        let (mut pools, mut others) = (Vec::new(), Vec::new());
        let (mut pool_names, mut other_names) = (Vec::new(), Vec::new());
        let config = local("config");
        let mut arguments = Vec::new();
        for parameter in &kernel.parameters {
            let name = &parameter.name;
            let pool = match alone {
                true => local("pool"),
                false => name.clone(),
            };
            let written = |ty: &Type| quote!(#name: &mut #host::DeviceVec<#ty>);
            match &parameter.kind {
                kind @ (Kind::Heap(_) | Kind::HeapOf(_)) => {
                    let allocator = match kind {
                        Kind::Heap(number) => {
                            let name = &kernel.types[*number];
                            quote!(#name)
                        }
                        Kind::HeapOf(ty) => quote!(#ty),
                        _ => TokenStream::new(),
                    };
                    pools.push(quote!(#pool: &#host::Pool<#allocator>));
                    pool_names.push(quote!(#pool));
                    arguments.push(quote!(#pool.arg()));
                    continue;
                }
                Kind::Slice { element, mutable } => {
                    others.push(quote! {
                        #name: &#host::DeviceVec<<#element as #rt::entry::SliceElement>::Host>
                    });
                    arguments.push(match mutable {
                        false => quote!(#name.arg()),
                        true => quote!(#name.arg_mut()),
                    });
                }
                Kind::One(ty) => {
                    others.push(quote!(#name: &#host::DeviceBox<#ty>));
                    arguments.push(quote!(#name.arg()));
                }
                Kind::Own(ty) | Kind::PerLane(ty) | Kind::Scatter(ty) => {
                    others.push(written(ty));
                    arguments.push(quote!(#name.arg_mut()));
                }
                Kind::Log => {
                    others.push(quote!(#name: &#rt::host::DeviceLog));
                    arguments.push(quote!(#name.arg()));
                }
                Kind::Shared(number) => {
                    arguments.push(quote!(#host::Arg::Shared(4 * #number as u32)));
                    continue;
                }
                Kind::Scalar(ty) => {
                    others.push(match is_plain(ty) {
                        true => quote!(#name: #ty),
                        false => quote!(#name: impl #host::IntoArg<#ty>),
                    });
                    arguments.push(quote!(#host::IntoArg::<#ty>::into_arg(#name)));
                }
            }
            other_names.push(quote!(#name));
        }
        Signature {
            pools,
            others,
            names: [pool_names, vec![quote!(#config)], other_names].concat(),
            arguments,
        }
    }
}

/// Whether a value is passed as it is, told by the type's name. Any other may be a container, for which its owner's
/// `SharedArg` is passed. A name that means something else here is found out where the value becomes an argument.
fn is_plain(ty: &Type) -> bool {
    const NUMBERS: &[&str] = &[
        "bool", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "f32", "f64",
    ];
    match ty {
        Type::Array(array) => is_plain(&array.elem),
        Type::Path(path) => NUMBERS.iter().any(|name| path.path.is_ident(name)),
        _ => false,
    }
}

fn docs(kernel: &Kernel) -> Vec<&Attribute> {
    let attributes = kernel.function.attrs.iter();
    attributes.filter(|a| a.path().is_ident("doc")).collect()
}

/// The two launch functions: `bounds` are their generic parameters and where clause, `entry` where the entry point is
/// named.
fn functions(
    kernel: &Kernel,
    rt: &TokenStream,
    bounds: [TokenStream; 2],
    entry: [TokenStream; 3],
) -> TokenStream {
    let host = quote!(#rt::api::host);
    let visibility = &kernel.function.vis;
    let name = kernel.name();
    let launch = format_ident!("{name}_launch");
    let config = local("config");
    let docs = docs(kernel);
    let Signature {
        pools,
        others,
        names,
        arguments,
    } = Signature::new(kernel, rt);
    let [generics, bounds] = bounds;
    let [image, entry, function] = entry;
    let prepares = quote!(self.#launch(#(#names),*));
    let (qualifier, prepares, safety) = match kernel.is_unsafe() {
        false => (None, prepares, None),
        // SAFETY: the caller's promise.
        true => (
            Some(quote!(unsafe)),
            quote!(unsafe { #prepares }),
            Some(quote! {
                ///
                /// # Safety
                /// As that of the function that launches it, for the time at which it runs.
            }),
        ),
    };
    quote! {
        #[allow(clippy::too_many_arguments, clippy::undocumented_unsafe_blocks)]
        impl crate::Kernels {
            #(#docs)*
            ///
            /// Runs the kernel and waits for its end.
            ///
            /// # Errors
            /// Lanes that returned errors; bad shapes; errors of the device.
            #visibility #qualifier fn #name #generics(
                &self,
                #(#pools,)*
                #config: #host::LaunchConfig,
                #(#others),*
            ) -> ::core::result::Result<#host::LaunchReport, #host::DeviceError> #bounds {
                #prepares.run()
            }

            /// Prepares the launch of this kernel without running it.
            #safety
            #visibility #qualifier fn #launch #generics(
                &self,
                #(#pools,)*
                #config: #host::LaunchConfig,
                #(#others),*
            ) -> #host::Prepared #bounds {
                // SAFETY: name, function and arguments are those of one kernel of this module, for
                // the allocators of the pools.
                unsafe {
                    #host::Prepared::new(
                        self.module(#image).clone(),
                        #entry,
                        #function,
                        #config,
                        [#(#arguments),*].into(),
                    )
                }
            }
        }
    }
}

/// Of a kernel with one entry point.
fn plain(kernel: &Kernel, entries: &[Entry], rt: &TokenStream) -> TokenStream {
    let Entry {
        name,
        function,
        image,
        ..
    } = &entries[0];
    let entry = [quote!(#image), quote!(#name), quote!(#function)];
    functions(kernel, rt, Default::default(), entry)
}

/// Of a kernel with an entry point for each choice of allocators.
fn generic(kernel: &Kernel, entries: &[Entry], rt: &TokenStream) -> TokenStream {
    let host = quote!(#rt::api::host);
    let visibility = &kernel.function.vis;
    let name = kernel.name();
    let entry_trait = format_ident!("{}Entry", camel_case(&name.unraw().to_string()));
    let entry_names = entries.iter().map(|entry| &entry.name);
    let entry_functions = entries.iter().map(|entry| &entry.function);
    let entry_images = entries.iter().map(|entry| entry.image);
    let types = &kernel.types;
    // One allocator has the trait itself, several as a tuple.
    let alone = types.len() == 1;
    let tuple = |types: &[TokenStream]| match alone {
        true => quote!(#(#types)*),
        false => quote!((#(#types),*)),
    };
    if kernel.listed {
        return listed(kernel, entries, rt);
    }
    let chosen = entries.iter().map(|entry| tuple(&entry.allocators));
    let names: Vec<_> = types.iter().map(|name| quote!(#name)).collect();
    let all = tuple(&names);
    let (message, supertrait, bounds) = match alone {
        true => (
            format!("the kernel `{name}` is not compiled for the allocator `{{Self}}`"),
            quote!(: #host::HostAlloc),
            [quote!(<#(#types: #entry_trait),*>), TokenStream::new()],
        ),
        false => (
            format!("the kernel `{name}` is not compiled for the allocators `{{Self}}`"),
            TokenStream::new(),
            [
                quote!(<#(#types: #host::HostAlloc),*>),
                quote!(where #all: #entry_trait),
            ],
        ),
    };
    let trait_docs = format!("The allocators that the kernel `{name}` is compiled for.");
    let functions = functions(
        kernel,
        rt,
        bounds,
        [
            quote!(<#all as #entry_trait>::IMAGE),
            quote!(<#all as #entry_trait>::ENTRY),
            quote!(<#all as #entry_trait>::HOST),
        ],
    );
    quote! {
        #[doc = #trait_docs]
        #[diagnostic::on_unimplemented(
            message = #message,
            note = "name it in the kernel's attribute: #[kernel(allocators = [...])]",
        )]
        #visibility trait #entry_trait #supertrait {
            /// The entry point.
            const ENTRY: &'static str;
            /// The same for the emulator.
            const HOST: #host::HostEntry;
            /// Whose image it lies in, if a crate has an image for each allocator.
            const IMAGE: &'static str;
        }

        #(
            impl #entry_trait for #chosen {
                const ENTRY: &'static str = #entry_names;
                const HOST: #host::HostEntry = #entry_functions;
                const IMAGE: &'static str = #entry_images;
            }
        )*

        #functions
    }
}

/// Of a kernel for the crate's list, whose allocators have numbers.
fn listed(kernel: &Kernel, entries: &[Entry], rt: &TokenStream) -> TokenStream {
    let host = quote!(#rt::api::host);
    let name = &kernel.types[0];
    let rows = entries.iter().map(|entry| {
        let Entry {
            name,
            function,
            image,
            ..
        } = entry;
        quote!((#name, #function, #image))
    });
    let number = entries.len();
    let table = format_ident!(
        "__WARPHEAP_{}",
        kernel.name().unraw().to_string().to_uppercase()
    );
    let row = quote!(#table[<#name as crate::Allocator>::NUMBER]);
    let functions = functions(
        kernel,
        rt,
        [quote!(<#name: crate::Allocator>), TokenStream::new()],
        [quote!(#row.2), quote!(#row.0), quote!(#row.1)],
    );
    quote! {
        #[doc(hidden)]
        static #table: [(&str, #host::HostEntry, &str); #number] = [#(#rows),*];

        #functions
    }
}

fn camel_case(name: &str) -> String {
    let mut out = String::new();
    for part in name.split('_') {
        let mut letters = part.chars();
        out.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        out.extend(letters);
    }
    out
}
