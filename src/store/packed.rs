//! Smaller bytes for what is kept: LZ4 with a dictionary of what records are usually spelled with.
//!
//! A page of the file has 4 KiB, and two asks of the usual size fit one only where the JSON around their
//! texts hardly counts. Packing takes some microseconds, which is little beside a sync of the disk. LZ4, and
//! not what packs tighter, for its reader is small, safe Rust, and is all that is ever needed to
//! get at what is kept.

use lz4_flex::block::{
    compress_prepend_size_with_dict, decompress_size_prepended_with_dict, uncompressed_size,
};

/// What records are usually spelled with; what is not in it costs its length. It is a part of the layout:
/// what was packed with it can be read with it alone. Another dictionary is another schema number.
const DICTIONARY: &[u8] = include_bytes!("packed/dictionary.txt");

/// Bytes that one byte of LZ4 may stand for, at most: what claims more is damaged, and no memory is taken
/// for it.
const EXPANSION: usize = 255;

/// The packed form of these bytes, where it is shorter.
pub(super) fn pack(bytes: &[u8]) -> Option<Vec<u8>> {
    let packed = compress_prepend_size_with_dict(bytes, DICTIONARY);
    (packed.len() < bytes.len()).then_some(packed)
}

/// The bytes of which this is the packed form.
///
/// # Errors
///
/// In words, where it is none.
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
    let (claimed, rest) = uncompressed_size(packed).map_err(|why| why.to_string())?;
    if claimed > rest.len().saturating_mul(EXPANSION) {
        return Err("it claims to be longer than it can be".into());
    }
    let bytes =
        decompress_size_prepended_with_dict(packed, DICTIONARY).map_err(|why| why.to_string())?;
    if bytes.len() != claimed {
        return Err("it is not as long as it claims".into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::HEXLOWER;
    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_dictionary_is_what_it_was_when_files_were_packed_with_it() {
        let digest = HEXLOWER.encode(&Sha256::digest(DICTIONARY));
        assert_eq!(
            digest, "69c195e3014fd525087a9482bc7e04730a8a50350cf312a60e32f30121378de6",
            "take a new schema number"
        );
    }

    #[test]
    fn what_claims_to_be_huge_takes_no_memory() {
        let mut packed = pack(&[b'a'; 100]).unwrap();
        packed[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(unpack(&packed), Err("it claims to be longer than it can be".into()));
    }

    proptest! {
        #[test]
        fn what_is_packed_unpacks(text in "[a-z\":{},]{0,2000}") {
            let packed = pack(text.as_bytes());
            if let Some(packed) = packed {
                prop_assert!(packed.len() < text.len());
                prop_assert_eq!(unpack(&packed).unwrap(), text.as_bytes());
            }
        }

        #[test]
        fn any_bytes_unpack_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = unpack(&bytes);
        }
    }
}
