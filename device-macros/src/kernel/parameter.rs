//! What the parameters of a kernel are.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Expr, FnArg, GenericArgument, Ident, Pat, PathArguments, Result, Type, TypePath};

/// What a parameter is.
pub enum Kind {
    /// `Heap<A>` of the type parameter with this number …
    Heap(usize),
    /// … or `Heap<WarpHeap>`, of one allocator.
    HeapOf(Box<Type>),
    /// `&[T]`, `&mut [T]`.
    Slice { element: Box<Type>, mutable: bool },
    /// `&T`: one value for all lanes.
    One(Box<Type>),
    /// `&mut T`: the lane's own element.
    Own(Box<Type>),
    /// `PerLane<T>`.
    PerLane(Box<Type>),
    /// `Scatter<T>`.
    Scatter(Box<Type>),
    /// `SharedWords<N>`: the number, in braces.
    Shared(TokenStream),
    /// `Log`.
    Log,
    /// A value.
    Scalar(Box<Type>),
}

impl Kind {
    /// Whether it is a heap.
    pub fn is_heap(&self) -> bool {
        matches!(self, Kind::Heap(_) | Kind::HeapOf(_))
    }
}

/// A parameter of a kernel.
pub struct Parameter {
    pub name: Ident,
    pub kind: Kind,
}

impl Parameter {
    /// What an input of a function with these type parameters is.
    pub fn new(input: &FnArg, types: &[Ident]) -> Result<Parameter> {
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
                element if reference.mutability.is_some() => Kind::Own(Box::new(element.clone())),
                value => Kind::One(Box::new(value.clone())),
            },
            Type::Path(path) => named(path, types),
            ty => Kind::Scalar(Box::new(ty.clone())),
        };
        Ok(Parameter {
            name: name.ident.clone(),
            kind,
        })
    }
}

/// What a type is that has a name: told by the name, since a macro sees no more.
fn named(path: &TypePath, types: &[Ident]) -> Kind {
    let scalar = || Kind::Scalar(Box::new(Type::Path(path.clone())));
    let Some(last) = path.path.segments.last() else {
        return scalar();
    };
    if last.ident == "SharedWords"
        && let Some(number) = number(&last.arguments)
    {
        return Kind::Shared(number);
    }
    if last.ident == "Log" && only_type(&last.arguments).is_none() {
        return Kind::Log;
    }
    let Some(argument) = only_type(&last.arguments) else {
        return scalar();
    };
    let argument = Box::new(argument.clone());
    match last.ident.to_string().as_str() {
        "Heap" => match types.iter().position(|name| is_parameter(&argument, name)) {
            Some(number) => Kind::Heap(number),
            None => Kind::HeapOf(argument),
        },
        "PerLane" => Kind::PerLane(argument),
        "Scatter" => Kind::Scatter(argument),
        _ => scalar(),
    }
}

/// The last generic argument, where a number is expected: a constant's name looks like a type.
fn number(arguments: &PathArguments) -> Option<TokenStream> {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return None;
    };
    match arguments.args.last()? {
        GenericArgument::Const(block @ Expr::Block(_)) => Some(quote!(#block)),
        GenericArgument::Const(number) => Some(quote!({ #number })),
        GenericArgument::Type(name) => Some(quote!({ #name })),
        _ => None,
    }
}

/// The only type among generic arguments, lifetimes aside.
fn only_type(arguments: &PathArguments) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return None;
    };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    let first = types.next();
    if types.next().is_some() { None } else { first }
}

fn is_parameter(ty: &Type, name: &Ident) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}
