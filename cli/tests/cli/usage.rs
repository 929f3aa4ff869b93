//! Options, and what is said about wrong ones.

use super::{TempFile, warpheap, warpheap_with};

#[test]
fn help_names_every_option() {
    let help = warpheap(&["--help"]);
    assert_eq!(help.code, Some(0));
    for option in [
        "--backend",
        "--allocator",
        "--pool",
        "--batch",
        "--seed",
        "--device",
        "--scale",
        "--edge-factor",
        "--iterations",
        "--json",
        "graph",
        "join",
        "kmer",
        "bench",
        "new",
        "toolchain",
        "kernels",
        "doctor",
    ] {
        assert!(help.out.contains(option), "no {option} in: {}", help.out);
    }
}

#[test]
fn wrong_options_are_refused() {
    for args in [
        &["--pool", "lots"][..],
        &["--batch", "0"],
        &["--scale", "99"],
        &["graph", "--iterations", "0"],
        &["sing"],
        &["--loud"],
    ] {
        let outcome = warpheap(args);
        outcome.failed(2, &[]);
    }
    warpheap(&["--pool", "64X"]).failed(2, &["`64X` is no size", "64M or 2GiB"]);
}

#[test]
fn too_many_edges_are_refused_before_they_are_made() {
    warpheap(&["--scale", "28", "--edge-factor", "16"]).failed(2, &["4294967296 edges"]);
}

#[test]
fn options_of_generated_graphs_need_one() {
    let file = TempFile::new("a.txt", "0 1\n");
    warpheap(&["graph", file.path(), "--scale", "4"]).failed(2, &["--scale"]);
    warpheap(&["graph", file.path(), "--edge-factor", "4"]).failed(2, &["--edge-factor"]);
}

#[test]
fn unknown_names_list_what_exists() {
    warpheap(&["--backend", "abacus"]).failed(2, &["abacus", "host", "cuda", "vulkan"]);
    warpheap(&["graph", "--allocator", "magic"])
        .failed(2, &["magic", "Bump", "ScatterAlloc", "WarpHeap"]);
    warpheap(&["--backend", "host", "--device", "7"]).failed(2, &["7"]);
    warpheap(&["--backend", "host", "--device", "H9000"]).failed(2, &["H9000"]);
}

/// A backend that is passed over must not hide them: the program would run elsewhere than its user thinks.
#[test]
fn variables_that_make_no_sense_are_refused_by_name() {
    let mut wrong = vec![("WARPHEAP_WARP_WIDTH", "65", "host", "1 to 64")];
    if cfg!(feature = "vulkan") {
        wrong.push(("WARPHEAP_VULKAN_GROUPS", "some", "", "`alone` or `best`"));
        wrong.push((
            "WARPHEAP_VULKAN_DESCRIPTOR_BYTES",
            "4G",
            "",
            "a number of bytes",
        ));
        wrong.push(("WARPHEAP_TIMEOUT_S", "soon", "", "seconds above 0"));
    }
    if cfg!(feature = "cuda") {
        wrong.push(("WARPHEAP_CUDA_DEVICE", "first", "", "`nvidia-smi -L`"));
    }
    for (name, value, backend, allowed) in wrong {
        let variables = [("WARPHEAP_BACKEND", backend), (name, value)];
        let outcome = warpheap_with(&["kmer", "--bases", "500"], b"", &variables);
        outcome.failed(2, &[&format!("{name}={value} is not possible"), allowed]);
    }
}

#[test]
fn the_environment_names_the_backend_and_an_option_wins() {
    let with = |args: &[&str], name| warpheap_with(args, b"", &[("WARPHEAP_BACKEND", name)]);
    let graph = ["graph", "--scale", "4", "--json"];
    with(&graph, "abacus").failed(2, &["abacus", "host"]);
    assert_eq!(with(&graph, "host").json()["device"]["backend"], "host");
    let args = [&graph[..], &["--backend", "host"]].concat();
    assert_eq!(with(&args, "abacus").json()["device"]["backend"], "host");
}

#[test]
fn a_backend_that_is_not_there_says_how_to_get_it() {
    for (name, compiled_in) in [
        ("cuda", cfg!(feature = "cuda")),
        ("vulkan", cfg!(feature = "vulkan")),
    ] {
        let outcome = warpheap(&[
            "graph",
            "--scale",
            "4",
            "--allocator",
            "Bump",
            "--backend",
            name,
        ]);
        if !compiled_in {
            let feature = format!("--features {name}");
            outcome.failed(2, &[name, "this build has host", &feature]);
        } else if outcome.code != Some(0) {
            outcome.failed(2, &["no ", name, "install"]);
        }
    }
}

#[test]
fn bad_settings_of_the_emulator_are_named() {
    let args = ["graph", "--scale", "4", "--backend", "host"];
    let outcome = warpheap_with(&args, b"", &[("WARPHEAP_WARP_WIDTH", "65")]);
    outcome.failed(2, &["WARPHEAP_WARP_WIDTH=65", "1 to 64"]);
}

#[test]
fn impossible_pools_are_refused() {
    let scale = ["graph", "--backend", "host", "--scale", "4", "--pool"];
    let with = |pool| [&scale[..], &[pool]].concat();
    warpheap(&with("65GiB")).failed(2, &["64 GiB"]);
    warpheap(&with("100")).failed(2, &["--pool 100", "at least"]);
    // More than any machine that runs this has, and less than 64 GiB where it might have more.
    let memory =
        warpheap(&["doctor", "--json"]).json()["backends"][0]["devices"][0]["memory_bytes"]
            .as_u64()
            .unwrap_or_default();
    if memory < 63 << 30 {
        warpheap(&with("63GiB")).failed(2, &["--pool 67645734912", &memory.to_string()]);
    }
}

/// What a Vulkan driver limits, on whatever device there is; Vulkan on CPUs allows 1 GiB or so.
#[cfg(feature = "vulkan")]
#[test]
fn pools_beyond_a_vulkan_device_are_refused() {
    let doctor = warpheap(&["doctor", "--json"]).json();
    let vulkan = &doctor["backends"][1];
    assert_eq!(vulkan["name"], "vulkan");
    let Some(device) = vulkan["devices"].as_array().and_then(|all| all.first()) else {
        let required = std::env::var_os("WARPHEAP_REQUIRE_VULKAN").is_some_and(|v| v == "1");
        assert!(!required, "{vulkan}");
        eprintln!("SKIPPED: pools on Vulkan: {vulkan}");
        return;
    };
    if device["memory_bytes"].as_u64() < Some(63 << 30) {
        let scale = [
            "graph",
            "--backend",
            "vulkan",
            "--allocator",
            "Bump",
            "--scale",
            "4",
            "--pool",
        ];
        let outcome = warpheap(&[&scale[..], &["63GiB"]].concat());
        outcome.failed(2, &["--pool 67645734912", "bytes"]);
    }
}

#[test]
fn doctor_says_what_there_is() {
    let doctor = warpheap(&["doctor"]);
    assert_eq!(doctor.code, Some(0), "{}", doctor.err);
    for part in ["host", "cuda", "vulkan", "self-test"] {
        assert!(doctor.out.contains(part), "no {part} in: {}", doctor.out);
    }
    let json = warpheap(&["doctor", "--json"]).json();
    let host = &json["backends"][0];
    assert_eq!(host["name"], "host");
    assert_eq!(host["compiled_in"], true);
    assert_eq!(host["devices"][0]["self_test"], "ok");
}

#[cfg(not(feature = "mpi"))]
#[test]
fn several_processes_are_told_which_commands_are_for_one() {
    let second = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")];
    for (args, command) in [
        (&["trace", "show", "none.trace"][..], "warpheap trace"),
        (&["heap-map", "none.json"], "warpheap heap-map"),
        (&["bench", "--backend", "none"], "warpheap bench"),
        (&["soak", "--backend", "none"], "warpheap soak"),
        (&["--backend", "none"], "warpheap"),
    ] {
        let named = format!("`{command}` is a command of one process, and this is process 1 of 2");
        warpheap_with(args, b"", &second).failed(2, &[&named, "once"]);
    }
    // Those that several do together need MPI.
    warpheap_with(&["kmer"], b"", &second).failed(2, &["process 1 of 2", "without MPI"]);
    // One of one is as good as none.
    let only = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")];
    let outcome = warpheap_with(&["trace", "show", "none.trace"], b"", &only);
    outcome.failed(2, &["none.trace"]);
}

/// Each looks at its own machine.
#[cfg(not(feature = "mpi"))]
#[test]
fn several_processes_have_a_doctor_each() {
    for (rank, told) in [("0", "each of 2 processes"), ("1", "")] {
        let variables = [
            ("OMPI_COMM_WORLD_RANK", rank),
            ("OMPI_COMM_WORLD_SIZE", "2"),
        ];
        let outcome = warpheap_with(&["doctor"], b"", &variables);
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        assert!(outcome.out.contains("backends"), "{}", outcome.out);
        assert_eq!(outcome.err.is_empty(), told.is_empty(), "{}", outcome.err);
        assert!(outcome.err.contains(told), "{}", outcome.err);
    }
}
