//! Which functions can be kernels, and what their parameters are.

use super::{ALL_ALLOCATORS, LAYOUT_VERSION};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Error, FnArg, GenericArgument, GenericParam, Ident, ItemFn, LitInt, Pat, PathArguments, Result,
    ReturnType, Token, Type, bracketed,
};

/// The arguments of the attribute.
pub struct Options {
    allocators: Option<Allocators>,
    registers: Option<Registers>,
}

enum Allocators {
    /// The library's list, each wrapped in this adaptor if there is one.
    All {
        adaptor: Option<Ident>,
    },
    These(Punctuated<Type, Token![,]>),
}

impl Parse for Options {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut options = Options {
            allocators: None,
            registers: None,
        };
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>().map_err(|_| unknown(&key))?;
            if key == "allocators" && options.allocators.is_none() {
                options.allocators = Some(allocators(input)?);
            } else if key == "max_registers" && options.registers.is_none() {
                options.registers = Some(registers(input)?);
            } else {
                return Err(unknown(&key));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

fn unknown(key: &Ident) -> Error {
    Error::new_spanned(
        key,
        "unknown setting, or given twice: `allocators = all`, `allocators = Counted<all>`, \
         `allocators = [A, B]` and `max_registers = 32` is what there is",
    )
}

/// Most registers of a lane on CUDA.
pub enum Registers {
    Number(LitInt),
    /// What the kernel's allocator runs fastest with.
    Lean,
}

fn registers(input: ParseStream) -> Result<Registers> {
    if input.peek(Ident) {
        let word: Ident = input.parse()?;
        return match word == "lean" {
            true => Ok(Registers::Lean),
            false => Err(Error::new_spanned(word, "write a number or `lean`")),
        };
    }
    let number: LitInt = input.parse()?;
    match number.base10_parse::<u32>() {
        Ok(16..=255) => Ok(Registers::Number(number)),
        _ => Err(Error::new_spanned(number, "a lane has 16 to 255 registers")),
    }
}

fn allocators(input: ParseStream) -> Result<Allocators> {
    if input.peek(syn::token::Bracket) {
        let list;
        let bracket = bracketed!(list in input);
        let list = list.parse_terminated(Type::parse, Token![,])?;
        if list.is_empty() {
            return Err(Error::new(
                bracket.span.join(),
                "the list of allocators is empty: name one, or write `allocators = all`",
            ));
        }
        return Ok(Allocators::These(list));
    }
    let word: Ident = input.parse()?;
    let wrapped = input.peek(Token![<]);
    let all = if wrapped {
        input.parse::<Token![<]>()?;
        let all: Ident = input.parse()?;
        input.parse::<Token![>]>()?;
        all
    } else {
        word.clone()
    };
    if all != "all" {
        return Err(Error::new_spanned(
            all,
            "write `all`, `Counted<all>` or a list in brackets, `[ScatterAlloc, Bump]`",
        ));
    }
    Ok(Allocators::All {
        adaptor: wrapped.then_some(word),
    })
}

/// What a parameter is.
pub enum Kind {
    Heap,
    Slice { element: Box<Type>, mutable: bool },
    Scalar(Box<Type>),
}

pub struct Parameter {
    pub name: Ident,
    pub kind: Kind,
}

/// One entry point of a kernel.
pub struct Entry {
    /// The allocator, for kernels with a heap.
    pub allocator: Option<TokenStream>,
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
    /// Most registers of a lane on CUDA.
    pub registers: Option<Registers>,
    allocators: Option<Allocators>,
}

impl Kernel {
    pub fn new(options: Options, function: ItemFn) -> Result<Self> {
        let signature = &function.sig;
        for (unwanted, what) in [
            (signature.asyncness.map(|t| t.span), "async"),
            (signature.constness.map(|t| t.span), "const"),
            (signature.unsafety.map(|t| t.span), "unsafe"),
            (
                signature.abi.as_ref().map(|t| t.extern_token.span),
                "extern",
            ),
        ] {
            if let Some(span) = unwanted {
                return Err(Error::new(span, format!("a kernel cannot be `{what}`")));
            }
        }
        let type_parameter = only_type_parameter(&function)?;
        let mut parameters = Vec::new();
        for input in &signature.inputs {
            parameters.push(parameter(input, type_parameter.as_ref())?);
        }
        let heaps = parameters
            .iter()
            .filter(|p| matches!(p.kind, Kind::Heap))
            .count();
        if heaps > 1 {
            return Err(Error::new_spanned(
                &signature.inputs,
                "a kernel takes one heap at most",
            ));
        }
        match (&options.allocators, heaps, &type_parameter) {
            (None, 1, _) => Err(Error::new_spanned(
                &signature.ident,
                "a kernel with a heap says for which allocators it is compiled: \
                 #[kernel(allocators = all)] or #[kernel(allocators = [A, B])]",
            )),
            (Some(_), 0, _) => Err(Error::new_spanned(
                &signature.ident,
                "this kernel takes no heap, so `allocators` means nothing: \
                 take a `heap: Heap<A>`, or write #[kernel]",
            )),
            (None, 0, Some(name)) => Err(Error::new_spanned(
                name,
                "a kernel is generic over its heap's allocator alone: \
                 take a `heap: Heap<A>`, or remove the parameter",
            )),
            _ => Ok(()),
        }?;
        if let ReturnType::Type(_, result) = &signature.output
            && matches!(**result, Type::Never(_))
        {
            return Err(Error::new_spanned(result, "a kernel must return"));
        }
        Ok(Kernel {
            allocators: options.allocators,
            registers: options.registers,
            function,
            parameters,
        })
    }

    pub fn name(&self) -> &Ident {
        &self.function.sig.ident
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

    /// The entry points, one for each allocator.
    pub fn entries(&self, rt: &TokenStream) -> Vec<Entry> {
        let kernel = self.name().to_string();
        let one = |stem: String, allocator| Entry {
            allocator,
            name: format!("{stem}_l{LAYOUT_VERSION}"),
            function: format_ident!("__warpheap_{stem}"),
            image: "",
        };
        match &self.allocators {
            None => vec![one(kernel, None)],
            Some(Allocators::All { adaptor }) => ALL_ALLOCATORS
                .iter()
                .map(|&name| {
                    let ident = format_ident!("{name}");
                    let allocator = quote!(#rt::alloc::#ident);
                    let (stem, allocator) = match adaptor {
                        None => (format!("{kernel}__{name}"), allocator),
                        Some(adaptor) => (
                            format!("{kernel}__{adaptor}_{name}"),
                            quote!(#rt::adaptor::#adaptor<#allocator>),
                        ),
                    };
                    Entry {
                        image: name,
                        ..one(stem, Some(allocator))
                    }
                })
                .collect(),
            Some(Allocators::These(list)) => list
                .iter()
                .map(|ty| one(format!("{kernel}__{}", spelled(ty)), Some(quote!(#ty))))
                .collect(),
        }
    }
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

fn only_type_parameter(function: &ItemFn) -> Result<Option<Ident>> {
    let mut found = None;
    for parameter in &function.sig.generics.params {
        match parameter {
            GenericParam::Type(parameter) if found.is_none() => {
                found = Some(parameter.ident.clone());
            }
            other => {
                return Err(Error::new_spanned(
                    other,
                    "a kernel has one generic parameter at most, the allocator of its heap",
                ));
            }
        }
    }
    Ok(found)
}

fn parameter(input: &FnArg, allocator: Option<&Ident>) -> Result<Parameter> {
    let FnArg::Typed(input) = input else {
        return Err(Error::new_spanned(input, "a kernel is a free function"));
    };
    let Pat::Ident(name) = &*input.pat else {
        return Err(Error::new_spanned(
            &input.pat,
            "a kernel's parameters are plain names",
        ));
    };
    let kind = match &*input.ty {
        Type::Reference(reference) => match &*reference.elem {
            Type::Slice(slice) => Kind::Slice {
                element: slice.elem.clone(),
                mutable: reference.mutability.is_some(),
            },
            other => {
                return Err(Error::new_spanned(
                    other,
                    "a kernel takes device memory as a slice: `&[T]` or `&mut [T]`",
                ));
            }
        },
        ty if is_heap(ty, allocator) => Kind::Heap,
        ty => Kind::Scalar(Box::new(ty.clone())),
    };
    Ok(Parameter {
        name: name.ident.clone(),
        kind,
    })
}

/// Whether a type is `Heap<A>` with the kernel's type parameter.
fn is_heap(ty: &Type, allocator: Option<&Ident>) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return false;
    };
    let [GenericArgument::Type(Type::Path(argument))] =
        arguments.args.iter().collect::<Vec<_>>()[..]
    else {
        return false;
    };
    last.ident == "Heap" && allocator.is_some_and(|a| argument.path.is_ident(a))
}
