//! Where the words of the model lie.

use super::word::Word;
use std::collections::HashMap;

/// Words of a page.
const PAGE: usize = 64;

/// Words by address; those that nobody accessed take no room.
#[derive(Default)]
pub(super) struct Shadow {
    pages: Vec<[Word; PAGE]>,
    index: HashMap<usize, usize>,
    /// The last page that was asked for: most accesses have neighbours.
    last: Option<(usize, usize)>,
}

impl Shadow {
    /// The word at an address.
    #[inline]
    pub fn word(&mut self, address: usize) -> &mut Word {
        let (number, at) = (address / 4 / PAGE, address / 4 % PAGE);
        let page = match self.last {
            Some((last, page)) if last == number => page,
            _ => self.page(number),
        };
        &mut self.pages[page][at]
    }

    fn page(&mut self, number: usize) -> usize {
        let pages = &mut self.pages;
        let page = *self.index.entry(number).or_insert_with(|| {
            pages.push(std::array::from_fn(|_| Word::default()));
            pages.len() - 1
        });
        self.last = Some((number, page));
        page
    }
}
