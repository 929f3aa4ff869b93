//! What kernels can take, and what they return, on every device.

mod failures;
mod heaps;
mod values;
mod world;

use warpheap_container_tests::Site;

fn all(site: &Site) {
    values::own_elements(site);
    failures::failures(site);
    values::taken_names(site);
    values::per_lane(site);
    values::scatter(site);
    heaps::several_heaps(site);
    heaps::other_heaps(site);
    heaps::boxes(site);
    values::together(site);
    values::scalars(site);
    values::one_for_all(site);
    values::handles_of_nothing(site);
}

#[test]
fn host() {
    for width in [1, 4, 32] {
        let site = Site::host(width);
        all(&site);
        failures::panics(&site);
        failures::panics_in_the_midst(&site);
    }
}

warpheap_container_tests::on_gpus!(all);
