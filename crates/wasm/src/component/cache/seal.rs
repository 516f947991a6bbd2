//! What tells an entry that this program wrote from anything else.

use std::fmt;
use std::io::{self, Read};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::component::key::Key;

/// A key as the hash takes it.
type Key64 = hmac::digest::Key<Hmac<Sha256>>;

/// Bytes of a seal.
pub(super) const SEAL: usize = 32;

/// How much of an entry is looked at in one piece.
const PIECE: usize = 256 << 10;

/// The key of the seals in one folder. A file of the same folder holds it, which only its owner can read.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(pub(super) [u8; Self::LENGTH]);

impl Secret {
    pub(super) const LENGTH: usize = 32;

    /// The seal under an entry: over the code and the key that follows it.
    pub(super) fn seal(&self, key: &Key, code: &[u8]) -> [u8; SEAL] {
        let mut mac = self.mac();
        mac.update(code);
        mac.update(key.as_str().as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// Whether these are the bytes of an entry of that key, and all of them were sealed here.
    pub(super) fn opens(&self, key: &Key, mut entry: impl Read, length: u64) -> io::Result<bool> {
        let Some(mut code) = length.checked_sub((Key::LENGTH + SEAL) as u64) else { return Ok(false) };
        let mut mac = self.mac();
        let mut piece = vec![0; PIECE];
        while code > 0 {
            let wanted = usize::try_from(code).map_or(PIECE, |code| code.min(PIECE));
            let Some(part) = piece.get_mut(..wanted) else { return Ok(false) };
            entry.read_exact(part)?;
            mac.update(part);
            code -= part.len() as u64;
        }
        let (mut named, mut seal) = ([0; Key::LENGTH], [0; SEAL]);
        entry.read_exact(&mut named)?;
        entry.read_exact(&mut seal)?;
        mac.update(&named);
        let sealed = mac.verify_slice(&seal).is_ok();
        let ended = entry.read(&mut [0])? == 0;
        Ok(sealed && ended && named == key.as_str().as_bytes())
    }

    fn mac(&self) -> Hmac<Sha256> {
        // A key takes a whole block of the hash, and a shorter one is filled up with zeros.
        let mut key = Key64::default();
        key.iter_mut().zip(self.0).for_each(|(to, byte)| *to = byte);
        <Hmac<Sha256> as KeyInit>::new(&key)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
