//! How a job tells how far it is.

/// Who is told.
pub trait Progress {
    /// Begins something of `total` steps that `label` names. It ends when what is returned is dropped.
    fn bar(&self, label: String, total: u64) -> Box<dyn Bar>;
}

/// Something that is under way.
pub trait Bar {
    /// So many steps more are done.
    fn advance(&self, steps: u64);
}

/// Nobody is told.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn bar(&self, _label: String, _total: u64) -> Box<dyn Bar> {
        Box::new(Silent)
    }
}

impl Bar for Silent {
    fn advance(&self, _steps: u64) {}
}
