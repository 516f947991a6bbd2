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

/// The number of the section that holds a component.
const NESTED: u8 = 4;
/// How deep components may lie in one another. One in Python has two levels.
pub(super) const MOST_LEVELS: usize = 32;

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

/// Whether components lie in one another deeper than any build leaves them. An engine keeps what it knows of every level
/// above the one that it reads, so a few megabytes of nothing but levels would take all the memory there is.
pub(super) fn too_deep(bytes: &[u8]) -> bool {
    let Some((_, sections)) = bytes.split_at_checked(8) else { return false };
    // What is left of each level, from the outside in.
    let mut levels = vec![sections];
    while let Some(level) = levels.pop() {
        let Some((number, after)) = level.split_first() else { continue };
        // What does not add up is the engine's to name.
        let Some((size, body)) = unsigned(after) else { return false };
        let Some((body, next)) = body.split_at_checked(size) else { return false };
        levels.push(next);
        if *number == NESTED
            && let Some((_, sections)) = body.split_at_checked(8)
        {
            levels.push(sections);
        }
        if levels.len() > MOST_LEVELS {
            return true;
        }
    }
    false
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
    fn components_in_one_another_are_counted() {
        let nested = |levels: usize| {
            (1..levels).fold(HEADER.to_vec(), |inner, _| {
                let size = [(inner.len() & 0x7f) as u8 | 0x80, (inner.len() >> 7) as u8];
                [&HEADER[..], &[NESTED], &size[..], &inner, &[0, 1, 0], &[NESTED, 8], &HEADER].concat()
            })
        };
        assert!(!too_deep(&nested(1)) && !too_deep(&nested(MOST_LEVELS)));
        assert!(too_deep(&nested(MOST_LEVELS + 1)));
        assert!(!too_deep(&[&HEADER[..], &[NESTED, 100, 0]].concat()), "that is cut off");
        let side_by_side = [&[NESTED, 8][..], &HEADER].concat().repeat(1_000);
        assert!(!too_deep(&[&HEADER[..], &side_by_side].concat()));
    }

    #[test]
    fn a_size_that_is_no_number_is_cut_off() {
        assert_eq!(cut_off(&[&HEADER[..], &[7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]].concat()), Some("type section"));
    }
}
