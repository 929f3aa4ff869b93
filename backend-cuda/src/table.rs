//! Things by their numbers, found in one step.

use crate::ids::next_id;

/// Bits of a number that say where it is. The rest makes it another one than all others of the process.
const BITS: u32 = 28;

/// A table. What another one has is unknown here, and so is what was taken out.
pub(crate) struct Table<T> {
    places: Vec<Option<(u64, T)>>,
    free: Vec<usize>,
}

impl<T> Table<T> {
    pub(crate) fn new() -> Self {
        Table {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Puts something in; its number.
    pub(crate) fn insert(&mut self, it: T) -> u64 {
        let place = self.free.pop().unwrap_or(self.places.len());
        let number = (next_id() << BITS) | (place as u64 & mask());
        match self.places.get_mut(place) {
            Some(free) => *free = Some((number, it)),
            None => self.places.push(Some((number, it))),
        }
        number
    }

    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        let (found, it) = self.places.get(place(number))?.as_ref()?;
        (*found == number).then_some(it)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let (found, it) = self.places.get_mut(place(number))?.as_mut()?;
        (*found == number).then_some(it)
    }

    /// Takes something out.
    pub(crate) fn remove(&mut self, number: u64) -> Option<T> {
        self.get(number)?;
        let place = place(number);
        let (_, it) = self.places.get_mut(place)?.take()?;
        self.free.push(place);
        Some(it)
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.places.iter().flatten().map(|(number, _)| *number)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.places.iter().flatten().map(|(_, it)| it)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().flatten().map(|(_, it)| it)
    }

    pub(crate) fn into_values(self) -> impl Iterator<Item = T> {
        self.places.into_iter().flatten().map(|(_, it)| it)
    }
}

const fn mask() -> u64 {
    (1 << BITS) - 1
}

fn place(number: u64) -> usize {
    (number & mask()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_until_it_is_taken_out() {
        let (mut table, mut other) = (Table::new(), Table::new());
        let numbers = ["a", "b", "c"].map(|it| table.insert(it));
        let foreign = other.insert("d");
        assert_eq!(table.get(numbers[1]), Some(&"b"));
        assert_eq!(table.get(foreign), None);
        assert_eq!(table.remove(numbers[1]), Some("b"));
        assert_eq!(table.remove(numbers[1]), None);
        let again = table.insert("e");
        assert!(table.numbers().eq([numbers[0], again, numbers[2]]));
        table.values_mut().for_each(|it| *it = &it[..1]);
        assert!(table.values().eq(&["a", "e", "c"]));
        assert_eq!(table.get_mut(numbers[1]), None);
        assert_eq!(
            (table.get(numbers[1]), table.get(again)),
            (None, Some(&"e"))
        );
        assert_eq!(table.get(0), None);
        assert_eq!(table.into_values().collect::<Vec<_>>(), ["a", "e", "c"]);
    }
}
