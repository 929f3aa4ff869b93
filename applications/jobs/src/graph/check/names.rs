//! How rows and vertices are called in messages.

/// Which vertices the rows of a device are, and how vertices are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names {
    /// The vertex of the first row.
    pub first: u32,
    /// What is added to the number of a vertex when it is shown.
    pub base: u32,
}

impl From<u32> for Names {
    /// Rows of all vertices, to whose numbers this is added.
    fn from(base: u32) -> Self {
        Names { first: 0, base }
    }
}

impl Names {
    /// A vertex as it is shown.
    pub fn of(self, vertex: u32) -> u64 {
        u64::from(vertex) + u64::from(self.base)
    }

    /// The vertex of a row as it is shown.
    pub fn of_row(self, row: u64) -> u64 {
        row + self.of(self.first)
    }
}
