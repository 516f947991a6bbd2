//! The outline of a WebAssembly file: enough to tell a file that was cut off.

/// The sections of a component, by their number.
const NAMES: [&str; 12] = [
    "custom section",
    "core module section",
    "core instance section",
    "core type section",
    "component section",
    "instance section",
    "alias section",
    "type section",
    "canonical function section",
    "start section",
    "import section",
    "export section",
];

/// The section that the file ends within, if it does.
pub(super) fn cut_off(bytes: &[u8]) -> Option<&'static str> {
    let Some((_, mut rest)) = bytes.split_at_checked(8) else { return Some("header") };
    while let Some((number, after)) = rest.split_first() {
        let name = NAMES.get(usize::from(*number)).copied().unwrap_or("last section");
        let Some((size, body)) = unsigned(after) else { return Some(name) };
        let Some((_, next)) = body.split_at_checked(size) else { return Some(name) };
        rest = next;
    }
    None
}

/// Reads an unsigned LEB128 number of at most 32 bits.
fn unsigned(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_u64;
    for (position, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * position);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(value).ok()?, bytes.split_at(position + 1).1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [u8; 8] = *b"\0asm\x0d\0\x01\0";

    #[test]
    fn a_file_that_ends_early_is_cut_off() {
        assert_eq!(cut_off(&HEADER[..7]), Some("header"));
        assert_eq!(cut_off(&HEADER), None);
        let whole = [&HEADER[..], &[0, 2, 1, b'a', 11, 0x81, 0x00, 0]].concat();
        assert_eq!(cut_off(&whole), None);
        for (length, section) in [(9, "custom section"), (11, "custom section"), (13, "export section")] {
            assert_eq!(cut_off(&whole[..length]), Some(section), "{length}");
        }
        assert_eq!(cut_off(&whole[..15]), Some("export section"));
    }

    #[test]
    fn a_size_that_is_no_number_is_cut_off() {
        assert_eq!(cut_off(&[&HEADER[..], &[7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]].concat()), Some("type section"));
    }
}
