//! `docs/fdgmalloc.md`.

items!("fdgmalloc.fdgmalloc-1");
