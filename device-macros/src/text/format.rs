//! Format strings, taken apart.

use super::spec::Spec;

/// A part of a format string.
#[derive(Debug, PartialEq)]
pub enum Piece {
    /// What is written as it is.
    Literal(String),
    /// A placeholder.
    Argument(Name, Spec),
}

/// Which argument a placeholder shows.
#[derive(Debug, PartialEq)]
pub enum Name {
    /// The next one.
    Next,
    /// The one with this number.
    Number(usize),
    /// The one with this name, or the variable.
    Named(String),
}

/// The pieces of a format string; or what is wrong with it.
pub fn pieces(format: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = format;
    while let Some(first) = rest.chars().next() {
        if let Some(behind) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
            literal.push(first);
            rest = behind;
        } else if first == '{' {
            let end = rest
                .find('}')
                .ok_or("a `{` has no `}`; a brace itself is written `{{`")?;
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(argument(&rest[1..end])?);
            rest = &rest[end + 1..];
        } else if first == '}' {
            return Err("a `}` has no `{`; a brace itself is written `}}`".into());
        } else {
            literal.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

/// What stands between braces.
fn argument(text: &str) -> Result<Piece, String> {
    let (name, spec) = text.split_once(':').unwrap_or((text, ""));
    let name = match name.trim() {
        "" => Name::Next,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            let number = digits.parse();
            Name::Number(number.map_err(|_| format!("`{{{text}}}`: there is no such argument"))?)
        }
        name if syn::parse_str::<syn::Ident>(name).is_ok() => Name::Named(name.into()),
        other => {
            return Err(format!(
                "`{{{text}}}`: `{other}` is neither a number nor a name: write the value behind the format string"
            ));
        }
    };
    let spec = Spec::parse(spec.trim_end()).map_err(|wrong| format!("`{{{text}}}`: {wrong}"))?;
    Ok(Piece::Argument(name, spec))
}

#[cfg(test)]
mod tests {
    use super::{Name, Piece, Spec, pieces};

    fn plain(name: Name) -> Piece {
        Piece::Argument(name, Spec::default())
    }

    #[test]
    fn taken_apart() {
        let literal = |text: &str| Piece::Literal(text.into());
        assert_eq!(pieces(""), Ok(vec![]));
        assert_eq!(pieces("a{{}}ä"), Ok(vec![literal("a{}ä")]));
        assert_eq!(
            pieces("a{}b{1}{x}"),
            Ok(vec![
                literal("a"),
                plain(Name::Next),
                literal("b"),
                plain(Name::Number(1)),
                plain(Name::Named("x".into())),
            ])
        );
    }

    #[test]
    fn refused() {
        for wrong in [
            "{", "a}", "{a b}", "{x.y}", "{:?}", "{:e}", "{:.10}", "{:70000}", "{:w$}",
        ] {
            assert!(pieces(wrong).is_err(), "{wrong}");
        }
    }
}
