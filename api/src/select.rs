//! Choosing between two values without a branch.

/// `yes` if `condition`, else `no`.
///
/// Other compilers see that an `if` chooses; the SPIR-V compiler makes a branch of it. Branches around
/// single values cost drivers time: SwiftShader's for a loop doubles with each branch in it. Spelled out
/// everywhere, it would be two more instructions on a GPU that has one for it.
#[inline(always)]
pub const fn select(condition: bool, yes: u32, no: u32) -> u32 {
    #[cfg(target_arch = "spirv")]
    return no ^ ((yes ^ no) & (condition as u32).wrapping_neg());
    #[cfg(not(target_arch = "spirv"))]
    if condition { yes } else { no }
}

/// The lesser of two values, without a branch.
#[inline(always)]
pub const fn least(a: u32, b: u32) -> u32 {
    select(a < b, a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chooses() {
        for (a, b) in [(0, 1), (7, u32::MAX), (u32::MAX, 0), (5, 5)] {
            assert_eq!(select(true, a, b), a);
            assert_eq!(select(false, a, b), b);
            assert_eq!(least(a, b), a.min(b));
        }
    }
}
