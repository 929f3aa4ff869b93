//! What may come of a program, and what may not.

use super::{Failures, Held, TestHeap, error_of};
use crate::oracle::{self, Lifetime, NEVER};
use warpheap_api::host::HostAlloc;
use warpheap_api::{AllocError, DevicePtr, header};
use warpheap_test_kernels::program::{
    ARRAY, BEGIN, CHECK, DAMAGED, ELEMENT_BYTES, EMPTY, FREE, MOVE, NOT_ZERO, OK, Op, Outcome,
    REALLOC, TAKEN, UNKNOWN,
};

/// The greatest size that layouts can name on devices whose sizes have 32 bits.
const NAMED_BY_32_BITS: u64 = i32::MAX as u64 & !0xffff;

impl<A: HostAlloc> TestHeap<'_, A> {
    /// Checks what came of a program (the actions of each lane): contents, codes, alignment, place,
    /// that no two live blocks overlap, and that failures were counted.
    pub fn judge(&mut self, program: &[Vec<Op>], outcomes: &[Vec<Outcome>], allowed: Failures) {
        let mut ended = Vec::new();
        for (lane, (ops, outcomes)) in program.iter().zip(outcomes).enumerate() {
            for (i, (&op, &outcome)) in ops.iter().zip(outcomes).enumerate() {
                if let Err(wrong) = self.step(op, outcome, allowed, &mut ended) {
                    panic!(
                        "{} on {}: lane {lane}, action {i}, {op:?}: {wrong}; {outcome:?}",
                        A::NAME,
                        self.site.device.info().name
                    );
                }
            }
        }
        ended.extend(self.held.iter().flatten().map(|held| held.life));
        if let Some((a, b)) = oracle::overlap(&ended) {
            panic!(
                "{} on {}: two live blocks overlap: {a:?} and {b:?}",
                A::NAME,
                self.site.device.info().name
            );
        }
        let stats = self.pool.stats().expect("the header is intact");
        assert_eq!(
            stats.failures,
            self.failures,
            "{}: failed requests by cause in the header, and as lanes saw them",
            A::NAME
        );
        // Adaptors may ask for more than they are asked for.
        let counted = stats.refused_bytes;
        assert!(
            counted == self.refused || (A::NAME.contains('<') && counted > self.refused),
            "{}: {counted} bytes that found nothing by the header, {} as lanes saw them",
            A::NAME,
            self.refused
        );
    }

    /// Follows one action: what is wrong with its outcome, if anything.
    fn step(
        &mut self,
        op: Op,
        outcome: Outcome,
        allowed: Failures,
        ended: &mut Vec<Lifetime>,
    ) -> Result<(), String> {
        if op.kind >= BEGIN {
            return expect(outcome.code, OK, "a compaction begins and ends");
        }
        let held = self.held[op.slot as usize];
        match outcome.code {
            u32::MAX => return Err("it was not carried out".into()),
            DAMAGED => return Err("the block does not hold what was written to it".into()),
            UNKNOWN => return Err("the kernel is not compiled for it".into()),
            NOT_ZERO => return Err("memory from calloc is not zero".into()),
            _ => {}
        }
        let makes = op.kind <= ARRAY;
        if makes == held.is_some() {
            let expected = if makes { TAKEN } else { EMPTY };
            return expect(outcome.code, expected, "the slot is not as it was left");
        }
        match op.kind {
            CHECK => return expect(outcome.code, OK, "a check always succeeds"),
            FREE => {
                ended.extend(held.map(|held| died(held.life, outcome.begin)));
                self.held[op.slot as usize] = None;
                return expect(outcome.code, OK, "a free always succeeds");
            }
            _ => {}
        }
        let (size, align) = match op.kind {
            ARRAY => (op.size as u64 * ELEMENT_BYTES as u64, 16),
            REALLOC => (op.size as u64, held.map_or(1, |held| held.align)),
            MOVE => held.map_or((0, 1), |held| (held.size, held.align)),
            _ => (op.size as u64, op.align),
        };
        let aligns = align.is_power_of_two() && align <= A::CAPS.max_align;
        if size > A::CAPS.max_size || !aligns {
            self.failures[2] += 1;
            let code = AllocError::Unsupported.code();
            return expect(
                outcome.code,
                code,
                "the request is beyond the allocator's limits",
            );
        }
        if op.kind == MOVE {
            expect(outcome.code, OK, "a block that does not move stays")?;
        }
        if let Some(error) = error_of(outcome.code) {
            self.failures[error.code() as usize - 1] += 1;
            if error == AllocError::Exhausted {
                self.refused += size.next_multiple_of(16).max(16);
            }
            let fine = match error {
                AllocError::Exhausted => allowed != Failures::None,
                AllocError::Contended => allowed == Failures::Any,
                // Beyond what a device's 32-bit sizes can name.
                AllocError::Unsupported => size > NAMED_BY_32_BITS,
            };
            return if fine {
                Ok(())
            } else {
                Err(format!("it failed: {error}"))
            };
        }
        expect(outcome.code, OK, "there is no such code")?;
        ended.extend(held.map(|held| died(held.life, outcome.begin)));
        let start = DevicePtr::<u8>::from_granule(outcome.granule).byte_offset(0);
        self.held[op.slot as usize] = Some(Held {
            size,
            align,
            life: Lifetime {
                start,
                bytes: size,
                born: outcome.end,
                dies: NEVER,
                slot: op.slot,
            },
        });
        if start % align as u64 != 0 {
            return Err(format!("offset {start:#x} is not aligned"));
        }
        let (first, end) = (header::HEADER_WORDS as u64 * 4, self.pool.bytes());
        if start < first || start + size > end {
            return Err(format!(
                "bytes {start:#x} to {:#x} are not inside the heap, {first:#x} to {end:#x}",
                start + size
            ));
        }
        Ok(())
    }
}

fn died(life: Lifetime, dies: u32) -> Lifetime {
    Lifetime { dies, ..life }
}

fn expect(code: u32, expected: u32, why: &str) -> Result<(), String> {
    if code == expected {
        Ok(())
    } else {
        Err(format!("{why}: the code must be {expected}"))
    }
}
