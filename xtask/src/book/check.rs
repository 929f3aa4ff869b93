//! Whether every link of every page leads somewhere, and whether the book names every page.

use super::markdown::{Link, Page};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use warpheap_toolchain::error::Result;
use warpheap_toolchain::sh;

/// The book's table of contents.
const SUMMARY: &str = "docs/SUMMARY.md";

/// The pages of `docs/` and those at the root, by their paths from the root.
pub struct Pages {
    root: PathBuf,
    pages: BTreeMap<String, Page>,
}

/// What is wrong with a page.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistake {
    page: String,
    line: usize,
    what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.page, self.line, self.what)
    }
}

impl Pages {
    /// Reads the pages of a checkout.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        find(root, false, &mut files)?;
        find(&root.join("docs"), true, &mut files)?;
        let mut pages = Pages {
            root: root.to_path_buf(),
            pages: BTreeMap::new(),
        };
        for file in files {
            let page = Page::parse(&sh::read(&file)?);
            pages.pages.insert(pages.name_of(&file), page);
        }
        Ok(pages)
    }

    /// A page's path from the root.
    pub fn name_of(&self, file: &Path) -> String {
        let name = file.strip_prefix(&self.root).unwrap_or(file);
        name.to_string_lossy().into_owned()
    }

    /// How many pages there are.
    pub fn count(&self) -> usize {
        self.pages.len()
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.pages.values().map(|page| page.links.len()).sum()
    }

    /// Links that lead nowhere, and pages that the book leaves out or names twice.
    pub fn mistakes(&self) -> Vec<Mistake> {
        let links = self
            .pages
            .iter()
            .flat_map(|(name, page)| page.links.iter().map(move |link| (name, link)));
        let dead = links.filter_map(|(name, link)| {
            let what = self.fault(name, &link.to)?;
            Some(Mistake {
                page: name.clone(),
                line: link.line,
                what,
            })
        });
        dead.chain(self.left_out()).collect()
    }

    /// Why a link of a page leads nowhere; `None` for one that does not, and for one that leaves the repository.
    fn fault(&self, page: &str, to: &str) -> Option<String> {
        if to.contains("://") || to.starts_with("mailto:") {
            return None;
        }
        let (file, anchor) = to
            .split_once('#')
            .map_or((to, None), |(file, anchor)| (file, Some(anchor)));
        let Some(target) = target(page, file) else {
            return Some(format!("`{to}` leaves the repository"));
        };
        if target == SUMMARY && page.starts_with("docs/") {
            return Some(format!(
                "`{to}`: the book has no such page, it is made from it"
            ));
        }
        if !self.root.join(&target).exists() {
            return Some(format!("`{to}`: there is no {target}"));
        }
        let anchor = anchor?;
        match self.pages.get(&target) {
            Some(page) if page.anchors.contains(anchor) => None,
            Some(_) => Some(format!("`{to}`: {target} has no heading for #{anchor}")),
            None => Some(format!(
                "`{to}`: {target} is no page, so it has no #{anchor}"
            )),
        }
    }

    /// What the table of contents lacks, or has twice.
    fn left_out(&self) -> Vec<Mistake> {
        let mistake = |line, what| Mistake {
            page: SUMMARY.to_owned(),
            line,
            what,
        };
        let links: &[Link] = self.pages.get(SUMMARY).map_or(&[], |page| &page.links);
        let mut named = BTreeSet::new();
        let mut found = Vec::new();
        for link in links {
            if target(SUMMARY, &link.to).is_some_and(|target| !named.insert(target)) {
                found.push(mistake(link.line, format!("`{}` is here twice", link.to)));
            }
        }
        let pages = self
            .pages
            .keys()
            .filter(|page| page.starts_with("docs/") && *page != SUMMARY);
        let missing = pages.filter(|page| !named.contains(*page));
        found.extend(missing.map(|page| mistake(1, format!("{page} is missing"))));
        found
    }
}

/// The path from the root that a path means in a page; `None` outside of the repository.
pub fn target(page: &str, file: &str) -> Option<String> {
    if file.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<&OsStr> = Path::new(page).parent()?.iter().collect();
    for part in Path::new(file).components() {
        match part {
            Component::Normal(part) => parts.push(part),
            Component::ParentDir => drop(parts.pop()?),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let path: PathBuf = parts.iter().collect();
    Some(path.to_string_lossy().into_owned())
}

/// The pages of a folder.
fn find(folder: &Path, deep: bool, found: &mut Vec<PathBuf>) -> Result {
    let entries = std::fs::read_dir(folder).map_err(|e| sh::file("read", folder, e))?;
    for entry in entries {
        let path = entry.map_err(|e| sh::file("read", folder, e))?.path();
        if path.is_dir() && deep {
            find(&path, deep, found)?;
        } else if path.is_file() && path.extension() == Some(OsStr::new("md")) {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mistakes of a folder with these pages, as a person sees them.
    fn mistakes(pages: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in pages {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let pages = Pages::read(root.path()).unwrap();
        pages.mistakes().iter().map(ToString::to_string).collect()
    }

    const SUMMARY: (&str, &str) = ("docs/SUMMARY.md", "- [One](one.md)\n");

    #[test]
    fn links_that_lead_somewhere_are_fine() {
        let one = "# One\n[self](#one) [root](../README.md#read-me) [folder](results/) [web](https://example.org/#x)\n";
        let readme = "# Read me\n[one](docs/one.md)\n";
        let two = ("docs/results/two.md", "[up](../one.md#one)\n");
        let summary = (
            "docs/SUMMARY.md",
            "- [One](one.md)\n- [Two](results/two.md)\n",
        );
        let found = mistakes(&[summary, ("docs/one.md", one), ("README.md", readme), two]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn dead_links_are_named_with_file_and_line() {
        let one = "# One\n[contents](SUMMARY.md)\n[gone](two.md)\n[no heading](#two)\n[not a page](data.csv#one)\n[out](../../x.md)\n![p](p.svg)\n";
        let found = mistakes(&[
            SUMMARY,
            ("docs/one.md", one),
            ("docs/data.csv", ""),
            ("README.md", "[one](one.md)\n"),
        ]);
        let expected = [
            "README.md:1: `one.md`: there is no one.md",
            "docs/one.md:2: `SUMMARY.md`: the book has no such page, it is made from it",
            "docs/one.md:3: `two.md`: there is no docs/two.md",
            "docs/one.md:4: `#two`: docs/one.md has no heading for #two",
            "docs/one.md:5: `data.csv#one`: docs/data.csv is no page, so it has no #one",
            "docs/one.md:6: `../../x.md` leaves the repository",
            "docs/one.md:7: `p.svg`: there is no docs/p.svg",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_summary_names_each_page_once() {
        let summary = ("docs/SUMMARY.md", "- [One](one.md)\n- [Again](one.md)\n");
        let found = mistakes(&[summary, ("docs/one.md", ""), ("docs/results/two.md", "")]);
        let expected = [
            "docs/SUMMARY.md:2: `one.md` is here twice",
            "docs/SUMMARY.md:1: docs/results/two.md is missing",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_pages_of_this_checkout_are_right() {
        let pages = Pages::read(crate::workspace::root()).unwrap();
        let found: Vec<_> = pages.mistakes().iter().map(ToString::to_string).collect();
        assert_eq!(found, Vec::<String>::new());
    }
}
