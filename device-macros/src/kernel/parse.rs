//! Which functions can be kernels, and their entry points.

use super::LAYOUT_VERSION;
use super::options::{Allocators, Choice, Options, Registers};
use super::parameter::{Kind, Parameter};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Error, GenericParam, Ident, ItemFn, Result, ReturnType, Type};
use warpheap_allocators::ALL;

/// One entry point of a kernel.
pub struct Entry {
    /// The allocators that its type parameters stand for.
    pub allocators: Vec<TokenStream>,
    /// The Rust name of the function.
    pub function: Ident,
    /// The name of the entry point.
    pub name: String,
    /// Which image it lies in if a crate's images are divided: the allocator's of the library, or for an
    /// empty name the one of the remaining kernels.
    pub image: &'static str,
}

/// A function that can be a kernel.
pub struct Kernel {
    pub function: ItemFn,
    pub parameters: Vec<Parameter>,
    /// Its type parameters, each the allocator of a heap.
    pub types: Vec<Ident>,
    /// Most registers of a lane on CUDA.
    pub registers: Option<Registers>,
    /// Whether these are the crate's list.
    pub listed: bool,
    /// For which allocators each type parameter stands.
    allocators: Vec<Allocators>,
}

impl Kernel {
    pub fn new(options: Options, function: ItemFn) -> Result<Self> {
        let signature = &function.sig;
        for (unwanted, what) in [
            (signature.asyncness.map(|t| t.span), "async"),
            (signature.constness.map(|t| t.span), "const"),
            (
                signature.abi.as_ref().map(|t| t.extern_token.span),
                "extern",
            ),
        ] {
            if let Some(span) = unwanted {
                return Err(Error::new(span, format!("a kernel cannot be `{what}`")));
            }
        }
        if signature.ident == "module" {
            return Err(Error::new_spanned(
                &signature.ident,
                "a kernel cannot be called `module`: `Kernels`, which launches it, has a function of this name",
            ));
        }
        let types = type_parameters(&function)?;
        let mut parameters = Vec::new();
        for input in &signature.inputs {
            parameters.push(Parameter::new(input, &types)?);
        }
        for (number, name) in types.iter().enumerate() {
            let heap = |p: &Parameter| matches!(p.kind, Kind::Heap(of) if of == number);
            if !parameters.iter().any(heap) {
                return Err(Error::new_spanned(
                    name,
                    "a kernel is generic over the allocators of its heaps alone: \
                     take a `heap: Heap<A>`, or remove the parameter",
                ));
            }
        }
        let heaps = parameters.iter().filter(|p| p.kind.is_heap()).count();
        if heaps > 1 && signature.unsafety.is_none() {
            return Err(Error::new_spanned(
                &signature.inputs,
                "a kernel with several heaps is an `unsafe fn`: nothing keeps it from changing a container of one heap \
                 through another",
            ));
        }
        let shared = |kind: &Kind| matches!(kind, Kind::Slice { mutable: true, .. });
        let slice = parameters.iter().position(|p| shared(&p.kind));
        match slice.map(|at| &signature.inputs[at]) {
            Some(slice) if !options.slices && signature.unsafety.is_none() => {
                return Err(Error::new_spanned(
                    slice,
                    "every lane has the same `&mut [T]`, and two that write one element race: take the lane's own element, \
                     `&mut T`, or `PerLane<T>`, or `Scatter<T>`; or promise that no two lanes access an element that one \
                     of them writes, #[kernel(unsafe(slices))]",
                ));
            }
            None if options.slices => {
                return Err(Error::new_spanned(
                    &signature.ident,
                    "this kernel takes no `&mut [T]`, so `unsafe(slices)` promises nothing",
                ));
            }
            _ => {}
        }
        if let ReturnType::Type(_, result) = &signature.output
            && matches!(**result, Type::Never(_))
        {
            return Err(Error::new_spanned(result, "a kernel must return"));
        }
        let (registers, listed) = (options.registers, options.listed);
        let named = (options.allocators, options.named);
        Ok(Kernel {
            allocators: allocators_of(named.0, named.1, &types, &signature.ident)?,
            types,
            listed,
            registers,
            function,
            parameters,
        })
    }

    pub fn name(&self) -> &Ident {
        &self.function.sig.ident
    }

    /// Whether it is an `unsafe fn`, and so is its launch.
    pub fn is_unsafe(&self) -> bool {
        self.function.sig.unsafety.is_some()
    }

    /// The function as it was written, always inlined into its entries: a call would pass heaps through memory, and
    /// keep there what a quick malloc has in registers.
    pub fn function_without_docs_changed(&self) -> TokenStream {
        let function = &self.function;
        quote! {
            #[inline(always)]
            #[allow(clippy::too_many_arguments, clippy::inline_always)]
            #function
        }
    }

    /// The entry points, one for each choice of allocators.
    pub fn entries(&self, rt: &TokenStream) -> Vec<Entry> {
        let mut chosen: Vec<Vec<Choice>> = vec![Vec::new()];
        for allocators in &self.allocators {
            let choices = choices(allocators, self.listed, rt);
            chosen = chosen
                .iter()
                .flat_map(|before| {
                    let with = |choice: &Choice| {
                        [before.as_slice(), std::slice::from_ref(choice)].concat()
                    };
                    choices.iter().map(with).collect::<Vec<_>>()
                })
                .collect();
        }
        chosen.iter().map(|choice| self.entry(choice)).collect()
    }

    fn entry(&self, choices: &[Choice]) -> Entry {
        let mut stem = self.name().unraw().to_string();
        for choice in choices {
            stem = format!("{stem}__{}", choice.name);
        }
        Entry {
            allocators: choices.iter().map(|choice| choice.ty.clone()).collect(),
            name: format!("{stem}_l{LAYOUT_VERSION}"),
            function: format_ident!("__warpheap_{stem}"),
            // Of several type parameters one at most stands for all of the library.
            image: choices.iter().find_map(|choice| choice.image).unwrap_or(""),
        }
    }
}

/// For which allocators each type parameter stands.
fn allocators_of(
    only: Option<Allocators>,
    mut named: Vec<(Ident, Allocators)>,
    types: &[Ident],
    kernel: &Ident,
) -> Result<Vec<Allocators>> {
    if let Some((name, _)) = named.iter().find(|(name, _)| !types.contains(name)) {
        return Err(Error::new_spanned(
            name,
            "the kernel has no type parameter of this name",
        ));
    }
    let mut lists = Vec::new();
    match (only, types) {
        (Some(_), []) => {
            return Err(Error::new_spanned(
                kernel,
                "this kernel takes no heap of any allocator, so `allocators` means nothing: \
                 take a `heap: Heap<A>`, or write #[kernel]",
            ));
        }
        (Some(_), [_, _, ..]) => {
            return Err(Error::new_spanned(
                kernel,
                "the kernel has several type parameters: say for each which allocators it stands for, \
                 #[kernel(A = all, B = [Bump])]",
            ));
        }
        (Some(list), [_]) if named.is_empty() => lists.push(list),
        (_, types) => {
            for name in types {
                let Some(at) = named.iter().position(|(of, _)| of == name) else {
                    return Err(Error::new_spanned(
                        kernel,
                        "a kernel with a heap says for which allocators it is compiled: \
                         #[kernel(allocators = all)] or #[kernel(allocators = [A, B])], and with several type parameters \
                         #[kernel(A = all, B = [Bump])]",
                    ));
                };
                lists.push(named.swap_remove(at).1);
            }
        }
    }
    let all = lists
        .iter()
        .filter(|list| matches!(list, Allocators::All { .. }));
    if all.count() > 1 {
        return Err(Error::new_spanned(
            kernel,
            "one type parameter at most stands for all allocators: name those of the others",
        ));
    }
    Ok(lists)
}

/// The allocators of a list.
fn choices(allocators: &Allocators, listed: bool, rt: &TokenStream) -> Vec<Choice> {
    match allocators {
        Allocators::All { adaptor, also } => ALL
            .iter()
            .map(|&name| {
                let ident = format_ident!("{name}");
                let allocator = quote!(#rt::alloc::#ident);
                let (name_in_entry, ty) = match adaptor {
                    None => (name.to_string(), allocator),
                    Some(adaptor) => (
                        format!("{adaptor}_{name}"),
                        quote!(#rt::adaptor::#adaptor<#allocator>),
                    ),
                };
                Choice {
                    ty,
                    name: name_in_entry,
                    image: Some(name),
                }
            })
            .chain(also.iter().map(|ty| Choice {
                ty: quote!(#ty),
                name: spelled(ty),
                image: library_name(ty),
            }))
            .collect(),
        Allocators::These(list) => list
            .iter()
            .map(|ty| Choice {
                ty: quote!(#ty),
                name: spelled(ty),
                image: if listed { library_name(ty) } else { None },
            })
            .collect(),
    }
}

/// The library's allocator that a type is, or that an adaptor around it has.
fn library_name(ty: &Type) -> Option<&'static str> {
    let name = spelled(ty);
    let last = name.rsplit('_').next().unwrap_or(&name);
    ALL.into_iter().find(|known| *known == last)
}

/// A type as part of a name: its words, joined by underscores.
fn spelled(ty: &Type) -> String {
    let text = quote!(#ty).to_string();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_")
}

/// The type parameters of a function that has nothing else among its generic parameters.
fn type_parameters(function: &ItemFn) -> Result<Vec<Ident>> {
    let parameters = function.sig.generics.params.iter();
    parameters
        .map(|parameter| match parameter {
            GenericParam::Type(parameter) => Ok(parameter.ident.clone()),
            other => Err(Error::new_spanned(
                other,
                "a kernel has type parameters alone, each the allocator of a heap",
            )),
        })
        .collect()
}
