//! Every job with every allocator.

use crate::jobs;
use crate::report::Outcome;
use crate::stage::Stage;
use warpheap::api::DeviceAlloc;
use warpheap::device::*;

/// A job with one allocator.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The allocator's.
    pub allocator: &'static str,
    /// Does it.
    pub run: fn(&Stage) -> Outcome,
}

/// The kernels' names, in the order in which they are run.
pub const KERNELS: [&str; 8] = [
    "branches",
    "trees",
    "exploration",
    "blocks",
    "octrees",
    "agents",
    "products",
    "collections",
];

macro_rules! list {
    ($($allocator:ident),* $(,)?) => {
        /// The allocators of the library's list, each with all jobs.
        pub fn all() -> Vec<Job> {
            let mut all = Vec::new();
            $(
                let runs: [fn(&Stage) -> Outcome; KERNELS.len()] = [
                    jobs::branches::run::<$allocator>,
                    jobs::trees::run::<$allocator>,
                    jobs::exploration::run::<$allocator>,
                    jobs::blocks::run::<$allocator>,
                    jobs::octrees::run::<$allocator>,
                    jobs::agents::run::<$allocator>,
                    jobs::products::run::<$allocator>,
                    jobs::collections::run::<$allocator>,
                ];
                let allocator = <$allocator as DeviceAlloc>::NAME;
                all.extend(KERNELS.into_iter().zip(runs).map(|(kernel, run)| Job {
                    kernel,
                    allocator,
                    run,
                }));
            )*
            all
        }
    };
}

warpheap::rt::for_each_allocator!(list);

/// The jobs with this kernel and this allocator; `all` is every one.
///
/// # Errors
/// There is none, and what there is.
pub fn chosen(kernel: &str, allocator: &str) -> Result<Vec<Job>, String> {
    let is = |wanted: &str, name: &str| wanted == "all" || wanted.eq_ignore_ascii_case(name);
    let all = all();
    let mut names: Vec<&str> = all.iter().map(|job| job.allocator).collect();
    names.dedup();
    if !names.iter().any(|name| is(allocator, name)) {
        return Err(format!(
            "no allocator `{allocator}`: {}, or all",
            names.join(", ")
        ));
    }
    if !KERNELS.iter().any(|name| is(kernel, name)) {
        return Err(format!(
            "no kernel `{kernel}`: {}, or all",
            KERNELS.join(", ")
        ));
    }
    let mut jobs = all;
    jobs.retain(|job| is(kernel, job.kernel) && is(allocator, job.allocator));
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_chosen_by_name() {
        assert_eq!(all().len(), 18 * KERNELS.len());
        assert_eq!(
            chosen("all", "bump").expect("there is").len(),
            KERNELS.len()
        );
        assert_eq!(chosen("trees", "all").expect("there are").len(), 18);
        assert!(chosen("trees", "malloc").is_err_and(|text| text.contains("WarpHeap")));
        assert!(chosen("forest", "all").is_err_and(|text| text.contains("trees")));
    }
}
