//! Which images are compiled at the same time, and in which folders.
//!
//! PTX and SPIR-V are compiled side by side, each in a folder of the builder's, so that what images have in common is compiled once
//! for each format. A worker whose format is done helps with the other one if several images of it wait; then it compiles what they
//! have in common once more, in a folder of its own, which costs less than waiting. Workers beyond the first of each format always
//! have folders of their own.

use crate::error::Result;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle};
use warpheap_build::{DeviceCrate, Format, Toolchain};

/// A crate as one of its images, a format, and what makes it.
pub(super) type Job = (DeviceCrate, Format, Toolchain);

/// The fewest workers: one for each format.
pub(super) const FEWEST: usize = Format::ALL.len();

/// From how many waiting images on the first worker of a format helps with the other format.
const WORTH_HELPING: usize = 2;

/// What is left to do, by format; the last is done first.
struct Queue([Vec<Job>; FEWEST]);

impl Queue {
    fn new(jobs: Vec<Job>) -> Self {
        let mut queue = Queue([const { Vec::new() }; FEWEST]);
        for job in jobs {
            if let Some(at) = Format::ALL.iter().position(|format| *format == job.1) {
                queue.0[at].push(job);
            }
        }
        queue
    }

    /// The next job for a worker, and whether its place is the folder that images of this format share.
    fn next(&mut self, worker: usize) -> Option<(Job, bool)> {
        let first = worker < FEWEST;
        if let Some(job) = self.0[worker % FEWEST].pop() {
            return Some((job, first));
        }
        let enough = if first { WORTH_HELPING } else { 1 };
        let mut others = self.0.iter_mut();
        let other = others.find(|jobs| jobs.len() >= enough)?;
        other.pop().map(|job| (job, false))
    }
}

/// Does every job, as many at a time as there are workers, at least one for each format, and gives their complaints. What comes last
/// is done first. Workers for which the system gives no thread work one after the other.
///
/// # Errors
/// The first error of a worker, which does nothing more then; the others end what is left.
pub(super) fn side_by_side(
    jobs: Vec<Job>,
    workers: usize,
    work: impl Fn(&DeviceCrate, Format, &Toolchain) -> Result<Option<String>> + Sync,
) -> Result<Vec<String>> {
    on_threads(Builder::new, jobs, workers, work)
}

/// The same on threads that are begun with what `thread` gives.
fn on_threads(
    thread: impl Fn() -> Builder,
    jobs: Vec<Job>,
    workers: usize,
    work: impl Fn(&DeviceCrate, Format, &Toolchain) -> Result<Option<String>> + Sync,
) -> Result<Vec<String>> {
    let queue = Mutex::new(Queue::new(jobs));
    let next = |worker| {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.next(worker)
    };
    let worker = &|number: usize| -> Result<Vec<String>> {
        let mut complaints = Vec::new();
        while let Some(((krate, format, toolchain), shared)) = next(number) {
            // A cargo locks the folder that it works in.
            let krate = match shared {
                true => krate,
                false => {
                    let place = krate.target_dir().join(format!("worker{number}"));
                    krate.with_target_dir(place)
                }
            };
            complaints.extend(work(&krate, format, &toolchain)?);
        }
        Ok(complaints)
    };
    std::thread::scope(|scope| {
        let numbers = 0..workers.max(FEWEST);
        let workers: Vec<_> = numbers
            .map(|number| {
                let work = move || worker(number);
                thread().spawn_scoped(scope, work).map_err(|_| work())
            })
            .collect();
        let mut complaints = Vec::new();
        for worker in workers {
            let outcome = match worker.map(ScopedJoinHandle::join) {
                Ok(Ok(outcome)) | Err(outcome) => outcome,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
            };
            complaints.extend(outcome?);
        }
        Ok(complaints)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::sync::Barrier;
    use warpheap_build::toolchain::Origin;

    fn job(dir: &std::path::Path, format: Format) -> Job {
        let toolchain = Toolchain {
            origin: Origin::Environment,
            sysroot: PathBuf::new(),
            rustc: PathBuf::new(),
            cargo: PathBuf::new(),
            version: String::new(),
            host: String::new(),
            spirv_backend: None,
        };
        (DeviceCrate::read(dir).unwrap(), format, toolchain)
    }

    fn project() -> tempfile::TempDir {
        let temp = tempfile::tempdir().unwrap();
        let text =
            "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        std::fs::write(temp.path().join("Cargo.toml"), text).unwrap();
        temp
    }

    #[test]
    fn both_formats_are_compiled_at_the_same_time() {
        let project = project();
        let jobs = Format::ALL.map(|format| job(project.path(), format));
        // Whoever comes first waits for the other: one after the other, this would not end.
        let together = Barrier::new(2);
        let complaints = side_by_side(jobs.to_vec(), FEWEST, |_, format, _| {
            together.wait();
            Ok(Some(format.to_string()))
        });
        let mut complaints = complaints.unwrap();
        complaints.sort();
        assert_eq!(complaints, ["PTX", "SPIR-V"]);
    }

    #[test]
    fn without_threads_every_job_is_done_all_the_same() {
        let project = project();
        let jobs = vec![job(project.path(), Format::Spirv); 4];
        // None can have so large a stack.
        let none = || Builder::new().stack_size(usize::MAX / 4);
        let here = std::thread::current().id();
        let complaints = on_threads(none, jobs, FEWEST, |_, format, _| {
            assert_eq!(std::thread::current().id(), here);
            Ok(Some(format.to_string()))
        });
        assert_eq!(complaints.unwrap(), ["SPIR-V"; 4]);
    }

    #[test]
    fn a_worker_helps_in_a_folder_of_its_own_and_only_where_several_wait() {
        let project = project();
        let spirv = |count| vec![job(project.path(), Format::Spirv); count];
        let mut queue = Queue::new(spirv(3));
        assert!(queue.next(0).is_some_and(|(_, own)| !own));
        assert!(queue.next(1).is_some_and(|(_, own)| own));
        assert!(queue.next(0).is_none(), "one is left");
        assert!(queue.next(1).is_some_and(|(_, own)| own));
        assert!(queue.next(1).is_none());
    }

    #[test]
    fn workers_beyond_the_first_have_folders_of_their_own_and_leave_nothing() {
        let project = project();
        let mut queue = Queue::new(vec![job(project.path(), Format::Spirv); 2]);
        assert!(queue.next(3).is_some_and(|(_, shared)| !shared));
        assert!(queue.next(0).is_none(), "one is left");
        assert!(queue.next(2).is_some_and(|(_, shared)| !shared));
        // Two of each format: whoever comes first, each worker has one of its own format left, and waits there until all have.
        let two = |format| vec![job(project.path(), format); 2];
        let jobs = Format::ALL.map(two).concat();
        let together = Barrier::new(4);
        let complaints = side_by_side(jobs, 4, |krate, _, _| {
            together.wait();
            Ok(Some(krate.target_dir().display().to_string()))
        });
        let mut places = complaints.unwrap();
        assert_eq!(places.len(), 4, "{places:?}");
        places.sort();
        places.dedup();
        assert_eq!(places.len(), 3, "the first two share one: {places:?}");
    }
}
