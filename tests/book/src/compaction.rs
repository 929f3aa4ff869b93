//! `docs/compaction.md`.

items!("compaction.give-back-what-few-blocks-tie-up-1");
