use crate::error::Result;
pub fn report() -> Result {
    Ok(())
}
