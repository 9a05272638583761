//! What a store leaves to chance: names that nothing else has, and how long one stands back.

use super::Fault;
use data_encoding::HEXLOWER;

/// So many bytes of chance.
///
/// # Errors
///
/// When the system has none to give.
pub(super) fn random<const N: usize>() -> Result<[u8; N], Fault> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|why| Fault::Unavailable(format!("no random numbers: {why}")))?;
    Ok(bytes)
}

/// A name that nothing else has, as of a store among all there are: 128 bits.
///
/// # Errors
///
/// As [`random`].
pub(super) fn random_name() -> Result<String, Fault> {
    Ok(HEXLOWER.encode(&random::<16>()?))
}
