//! The typed launch functions of the host.

use super::parse::{Entry, Kernel, Kind};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Attribute;

pub fn expand(kernel: &Kernel, entries: &[Entry], rt: &TokenStream) -> TokenStream {
    let has_heap = kernel
        .parameters
        .iter()
        .any(|p| matches!(p.kind, Kind::Heap));
    let body = if has_heap {
        with_heap(kernel, entries, rt)
    } else {
        without_heap(kernel, entries, rt)
    };
    quote! {
        #rt::__on_host! { #body }
    }
}

/// The parameters of a launch function beside the pool, and the code that makes the arguments.
fn arguments(
    kernel: &Kernel,
    rt: &TokenStream,
) -> (Vec<TokenStream>, Vec<Ident>, Vec<TokenStream>) {
    let host = quote!(#rt::api::host);
    let mut parameters = Vec::new();
    let mut names = Vec::new();
    let mut arguments = Vec::new();
    for parameter in &kernel.parameters {
        let name = &parameter.name;
        match &parameter.kind {
            Kind::Heap => {
                arguments.push(quote!(pool.arg()));
                continue;
            }
            Kind::Slice { element, mutable } => {
                parameters.push(quote! {
                    #name: &#host::DeviceVec<<#element as #rt::entry::SliceElement>::Host>
                });
                arguments.push(match mutable {
                    false => quote!(#name.arg()),
                    true => quote!(#name.arg_mut()),
                });
            }
            Kind::Scalar(ty) => {
                parameters.push(quote!(#name: #ty));
                arguments.push(quote!(#host::IntoArg::into_arg(#name)));
            }
        }
        names.push(name.clone());
    }
    (parameters, names, arguments)
}

fn docs(kernel: &Kernel) -> Vec<&Attribute> {
    let attributes = kernel.function.attrs.iter();
    attributes.filter(|a| a.path().is_ident("doc")).collect()
}

fn without_heap(kernel: &Kernel, entries: &[Entry], rt: &TokenStream) -> TokenStream {
    let host = quote!(#rt::api::host);
    let visibility = &kernel.function.vis;
    let name = kernel.name();
    let launch = format_ident!("{name}_launch");
    let (parameters, names, arguments) = arguments(kernel, rt);
    let docs = docs(kernel);
    let entry = &entries[0];
    let (entry_name, entry_function, image) = (&entry.name, &entry.function, entry.image);
    quote! {
        #[allow(clippy::too_many_arguments)]
        impl crate::Kernels {
            #(#docs)*
            ///
            /// Runs the kernel and waits for its end.
            ///
            /// # Errors
            /// Lanes that returned errors; bad shapes; errors of the device.
            #visibility fn #name(
                &self,
                config: #host::LaunchConfig,
                #(#parameters),*
            ) -> ::core::result::Result<#host::LaunchReport, #host::DeviceError> {
                self.#launch(config, #(#names),*).run()
            }

            /// Prepares the launch of this kernel without running it.
            #visibility fn #launch(
                &self,
                config: #host::LaunchConfig,
                #(#parameters),*
            ) -> #host::Prepared {
                // SAFETY: name, function and arguments are those of one kernel of this module.
                unsafe {
                    #host::Prepared::new(
                        self.module(#image).clone(),
                        #entry_name,
                        #entry_function,
                        config,
                        [#(#arguments),*].into(),
                    )
                }
            }
        }
    }
}

fn with_heap(kernel: &Kernel, entries: &[Entry], rt: &TokenStream) -> TokenStream {
    let host = quote!(#rt::api::host);
    let visibility = &kernel.function.vis;
    let name = kernel.name();
    let launch = format_ident!("{name}_launch");
    let entry_trait = format_ident!("{}Entry", camel_case(&name.to_string()));
    let (parameters, names, arguments) = arguments(kernel, rt);
    let docs = docs(kernel);
    let allocators = entries.iter().map(|entry| &entry.allocator);
    let entry_names = entries.iter().map(|entry| &entry.name);
    let entry_functions = entries.iter().map(|entry| &entry.function);
    let entry_images = entries.iter().map(|entry| entry.image);
    let message = format!("the kernel `{name}` is not compiled for the allocator `{{Self}}`");
    let trait_docs = format!("The allocators that the kernel `{name}` is compiled for.");
    quote! {
        #[doc = #trait_docs]
        #[diagnostic::on_unimplemented(
            message = #message,
            note = "name it in the kernel's attribute: #[kernel(allocators = [...])]",
        )]
        #visibility trait #entry_trait: #host::HostAlloc {
            /// The entry point.
            const ENTRY: &'static str;
            /// The same for the emulator.
            const HOST: #host::HostEntry;
            /// Whose image it lies in, if a crate has an image for each allocator.
            const IMAGE: &'static str;
        }

        #(
            impl #entry_trait for #allocators {
                const ENTRY: &'static str = #entry_names;
                const HOST: #host::HostEntry = #entry_functions;
                const IMAGE: &'static str = #entry_images;
            }
        )*

        #[allow(clippy::too_many_arguments)]
        impl crate::Kernels {
            #(#docs)*
            ///
            /// Runs the kernel and waits for its end.
            ///
            /// # Errors
            /// Lanes that returned errors; bad shapes; errors of the device.
            #visibility fn #name<A: #entry_trait>(
                &self,
                pool: &#host::Pool<A>,
                config: #host::LaunchConfig,
                #(#parameters),*
            ) -> ::core::result::Result<#host::LaunchReport, #host::DeviceError> {
                self.#launch(pool, config, #(#names),*).run()
            }

            /// Prepares the launch of this kernel without running it.
            #visibility fn #launch<A: #entry_trait>(
                &self,
                pool: &#host::Pool<A>,
                config: #host::LaunchConfig,
                #(#parameters),*
            ) -> #host::Prepared {
                // SAFETY: name, function and arguments are those of one kernel of this module, for
                // the allocator of the pool.
                unsafe {
                    #host::Prepared::new(
                        self.module(<A as #entry_trait>::IMAGE).clone(),
                        <A as #entry_trait>::ENTRY,
                        <A as #entry_trait>::HOST,
                        config,
                        [#(#arguments),*].into(),
                    )
                }
            }
        }
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
