//! Bytes as hexadecimal digits, which digests and hashes travel and are kept as. Several are spelled for each
//! call, so without an allocation for each byte.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The digits of `bytes`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The digits of a digest, in `room`.
pub(crate) fn spell<'a>(digest: &[u8; 32], room: &'a mut [u8; 64]) -> &'a str {
    for (pair, byte) in room.chunks_exact_mut(2).zip(digest) {
        pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    str::from_utf8(room).expect("digits are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_two_digits_the_greater_first() {
        assert_eq!(hex(&[0, 0x1f, 0xa0, 0xff]), "001fa0ff");
        assert_eq!(hex(&[]), "");
        let digest: [u8; 32] = std::array::from_fn(|at| at as u8 * 8);
        assert_eq!(spell(&digest, &mut [0; 64]), hex(&digest));
    }
}
