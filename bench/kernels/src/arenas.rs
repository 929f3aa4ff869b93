//! Arenas of warps.
