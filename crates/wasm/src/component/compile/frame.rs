//! What goes to a compiling process, and what comes back.

use std::io::{self, Read, Write};
use std::time::Duration;

use crate::component::key::Key;

const MAGIC: &[u8; 8] = b"callgate";
const CODE: u8 = 0;
const REFUSED: u8 = 1;

/// What a compiling process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    /// Bytes of memory.
    pub(super) memory: u64,
    /// Processor time, all threads together.
    pub(super) processor: Duration,
}

/// What a compiling process says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Compiled code, and what it belongs to.
    Code { key: String, code: Vec<u8> },
    /// The component does not compile, and why.
    Refused(String),
}

impl Allowance {
    pub(super) fn write(self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(MAGIC)?;
        out.write_all(&self.memory.to_le_bytes())?;
        out.write_all(&self.processor.as_secs().to_le_bytes())
    }

    pub(super) fn read(input: &mut impl Read) -> io::Result<Self> {
        magic(input)?;
        Ok(Self { memory: number(input)?, processor: Duration::from_secs(number(input)?) })
    }
}

impl Reply {
    pub(super) fn code(out: &mut impl Write, key: &Key, code: &[u8]) -> io::Result<()> {
        write(out, CODE, &[key.as_str().as_bytes(), code])
    }

    pub(super) fn refused(out: &mut impl Write, reason: &str) -> io::Result<()> {
        write(out, REFUSED, &[reason.as_bytes()])
    }

    /// Reads a whole reply of at most so many bytes.
    pub(super) fn read(input: &mut impl Read, most: u64) -> io::Result<Self> {
        magic(input)?;
        let [tag] = array(input)?;
        let length = number(input)?;
        if length > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut body = Vec::new();
        input.take(length).read_to_end(&mut body)?;
        if body.len() as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidData));
        match tag {
            CODE if body.len() >= Key::LENGTH => {
                let code = body.split_off(Key::LENGTH);
                Ok(Self::Code { key: text(body)?, code })
            }
            REFUSED => Ok(Self::Refused(text(body)?)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

fn write(out: &mut impl Write, tag: u8, parts: &[&[u8]]) -> io::Result<()> {
    let length: u64 = parts.iter().map(|part| part.len() as u64).sum();
    out.write_all(MAGIC)?;
    out.write_all(&[tag])?;
    out.write_all(&length.to_le_bytes())?;
    parts.iter().try_for_each(|part| out.write_all(part))?;
    out.flush()
}

fn magic(input: &mut impl Read) -> io::Result<()> {
    if array(input)? == *MAGIC { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

fn number(input: &mut impl Read) -> io::Result<u64> {
    array(input).map(u64::from_le_bytes)
}

fn array<const N: usize>(input: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let allowance = Allowance { memory: 1 << 40, processor: Duration::from_secs(7) };
        let mut bytes = Vec::new();
        allowance.write(&mut bytes).unwrap();
        assert_eq!(Allowance::read(&mut bytes.as_slice()).unwrap(), allowance);

        let mut bytes = Vec::new();
        Reply::refused(&mut bytes, "no").unwrap();
        assert_eq!(Reply::read(&mut bytes.as_slice(), 2).unwrap(), Reply::Refused("no".into()));
    }

    #[test]
    fn a_reply_that_is_cut_off_or_too_long_is_none() {
        let mut bytes = Vec::new();
        Reply::refused(&mut bytes, "a reason").unwrap();
        for length in 0..bytes.len() {
            assert!(Reply::read(&mut &bytes[..length], 99).is_err(), "{length}");
        }
        assert_eq!(Reply::read(&mut bytes.as_slice(), 7).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        bytes[8] = CODE;
        assert!(Reply::read(&mut bytes.as_slice(), 99).is_err(), "code without a key");
    }
}
