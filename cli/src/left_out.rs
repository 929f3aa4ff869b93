//! What a report for people says of allocators that cannot do a job.

use warpheap_jobs::allocators::LeftOut;

/// What a report for people says of them: nothing if there are none.
pub fn lines(left_out: &[LeftOut]) -> String {
    let mut text = String::new();
    for (at, LeftOut { why, .. }) in left_out.iter().enumerate() {
        if at == 0 {
            text += "\nnot among them:\n";
        }
        text += &format!("  {why}\n");
    }
    text
}
