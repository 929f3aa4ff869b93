//! Whether somebody started this process as one of several.
//!
//! An MPI library can be started in a process that is alone, too. Some then start a helper, wait for a network, or refuse to run as
//! root: so it is started only where a launcher left its mark.

/// Variables with which launchers tell a process which one it is: Open MPI, MPICH and Intel MPI, MVAPICH, PMIx (`srun --mpi=pmix`).
const RANKS: [&str; 4] = [
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "MV2_COMM_WORLD_RANK",
    "PMIX_RANK",
];

/// Those that tell how many there are, in the order of [`RANKS`] where the launcher has one.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"];

/// Whether a launcher of MPI started this process.
#[cfg(feature = "mpi")]
pub fn by_mpi() -> bool {
    marked(|name| std::env::var_os(name).is_some())
}

#[cfg(any(feature = "mpi", test))]
fn marked(is_set: impl Fn(&str) -> bool) -> bool {
    RANKS.into_iter().any(is_set)
}

/// Which process this is, from 0, and how many there are, if a launcher of MPI started several and says so in its variables. Nothing is
/// joined: for what a process does alone, or refuses to.
pub fn one_of_several() -> Option<(usize, usize)> {
    several(|name| std::env::var(name).ok())
}

fn several(value: impl Fn(&str) -> Option<String>) -> Option<(usize, usize)> {
    let number = |name| value(name)?.trim().parse::<usize>().ok();
    let pairs = RANKS.into_iter().zip(SIZES);
    let mut known = pairs.filter_map(|(rank, size)| Some((number(rank)?, number(size)?)));
    known.find(|(_, size)| *size > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_is_known_by_its_variables() {
        assert!(!marked(|_| false));
        assert!(marked(|name| name == "PMIX_RANK"));
        let of = |rank: &'static str, size: &'static str, many: &'static str| {
            several(move |name| match name {
                _ if name == rank => Some("2".into()),
                _ if name == size => Some(many.into()),
                _ => None,
            })
        };
        assert_eq!(of("PMI_RANK", "PMI_SIZE", "4"), Some((2, 4)));
        let open_mpi = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
        assert_eq!(of(open_mpi.0, open_mpi.1, " 3 "), Some((2, 3)));
        // One process is what every build can do.
        assert_eq!(of("PMI_RANK", "PMI_SIZE", "1"), None);
        assert_eq!(of("PMI_RANK", "OMPI_COMM_WORLD_SIZE", "4"), None);
    }
}
