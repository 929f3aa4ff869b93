//! Links of the book that lead to the rest of the repository: in a book of its own there are no such files.

use super::check::target;
use super::markdown::Page;
use std::path::Path;

/// The repository, as the packages name it.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// A page's text, in which links to files outside of `docs/`, and to folders, lead to the repository.
pub fn mended(root: &Path, page: &str, text: &str) -> String {
    let mut mended = text.to_owned();
    // From the last one on, so that the places of the others stay.
    for link in Page::parse(text).links.iter().rev() {
        let file = link.to.split('#').next().unwrap_or_default();
        let Some(to) = target(page, file).filter(|_| !link.to.contains("://")) else {
            continue;
        };
        let kind = match root.join(&to).is_dir() {
            true => "tree",
            false if to.starts_with("docs/") => continue,
            false => "blob",
        };
        let written = format!("]({})", link.to);
        if let Some(at) = text[link.range.clone()].rfind(&written) {
            let at = link.range.start + at;
            let anchor = &link.to[file.len()..];
            let outwards = format!("]({REPOSITORY}/{kind}/main/{to}{anchor})");
            mended.replace_range(at..at + written.len(), &outwards);
        }
    }
    mended
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    #[test]
    fn only_what_is_not_in_the_book_leads_to_the_repository() {
        let text = "[`b`](bump.md) [root](../README.md#backends), [results](results/) and [w](https://w.org/).\n";
        let expected = format!(
            "[`b`](bump.md) [root]({REPOSITORY}/blob/main/README.md#backends), \
             [results]({REPOSITORY}/tree/main/docs/results) and [w](https://w.org/).\n"
        );
        assert_eq!(mended(root(), "docs/kernels.md", text), expected);
    }
}
