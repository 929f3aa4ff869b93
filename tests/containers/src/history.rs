//! Whether what lanes saw can have happened one after the other.

/// An action with the time it took and what came of it.
#[derive(Clone, Copy, Debug)]
pub struct Timed<Op> {
    /// What was done.
    pub op: Op,
    /// A moment before it.
    pub begin: u32,
    /// A moment after it.
    pub end: u32,
    /// What came of it.
    pub result: u32,
}

/// Whether there is an order of `actions` in which each comes between its begin and its end, and in which
/// `step`, which changes a state and gives the result, gives the results that were seen. Tries all.
///
/// # Panics
/// More than 32 actions.
pub fn is_linear<Op: Copy, State: Clone>(
    actions: &[Timed<Op>],
    state: &State,
    step: &impl Fn(&mut State, Op) -> u32,
) -> bool {
    assert!(actions.len() <= 32, "too many actions to try all orders");
    search(actions, 0, state, step)
}

fn search<Op: Copy, State: Clone>(
    actions: &[Timed<Op>],
    done: u32,
    state: &State,
    step: &impl Fn(&mut State, Op) -> u32,
) -> bool {
    let left = || {
        actions
            .iter()
            .enumerate()
            .filter(|(i, _)| done >> i & 1 == 0)
    };
    // Nothing can come next that began after something else had ended.
    let Some(first_end) = left().map(|(_, action)| action.end).min() else {
        return true;
    };
    left().any(|(i, action)| {
        if action.begin > first_end {
            return false;
        }
        let mut after = state.clone();
        step(&mut after, action.op) == action.result && search(actions, done | 1 << i, &after, step)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(state: &mut u32, op: Option<u32>) -> u32 {
        if let Some(value) = op {
            *state = value;
        }
        *state
    }

    fn history(times: [[u32; 4]; 3]) -> Vec<Timed<Option<u32>>> {
        times
            .map(|[write, begin, end, result]| Timed {
                op: (write != 0).then_some(write),
                begin,
                end,
                result,
            })
            .to_vec()
    }

    #[test]
    fn tells_orders_from_disorders() {
        // Two reads during one write: old then new is an order, new then old is none.
        let good = history([[5, 0, 9, 5], [0, 1, 2, 0], [0, 3, 4, 5]]);
        assert!(is_linear(&good, &0, &register));
        let bad = history([[5, 0, 9, 5], [0, 1, 2, 5], [0, 3, 4, 0]]);
        assert!(!is_linear(&bad, &0, &register));
    }
}
