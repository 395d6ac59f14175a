//! Inputs that edit a valid file, because arbitrary bytes are almost never valid.
//!
//! ```text
//! byte 0: 0 = the rest is the file; else bit 0 set = the rest is edits, bit 1 = then fix checksums
//! an edit, six bytes: what u8 | where u32 | value u8
//! ```

/// The first byte of an input that is the file itself.
pub const RAW: u8 = 0;
/// The first byte of an input that is edits.
pub const EDITED: u8 = 1;
/// The same, with checksums and hashes recomputed afterwards.
pub const SEALED: u8 = 3;

/// Maximum number of edits of one input; more are ignored.
const MAX_EDITS: usize = 64;

/// The way an input describes a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputMode {
    /// The file itself.
    Raw,
    /// Edits.
    Edited,
    /// Edits, with checksums and hashes recomputed.
    Sealed,
}

/// The file that `input` makes of the valid one. An edit's offset is taken modulo the file's
/// length.
#[must_use]
pub fn decode_input(input: &[u8], sound: &[u8]) -> (InputMode, Vec<u8>) {
    let Some((&first, rest)) = input.split_first() else {
        return (InputMode::Raw, Vec::new());
    };
    let mode = match first & 3 {
        0 => return (InputMode::Raw, rest.to_vec()),
        1 => InputMode::Edited,
        _ => InputMode::Sealed,
    };
    let mut file = sound.to_vec();
    for edit in rest.chunks_exact(6).take(MAX_EDITS) {
        let [kind, offset @ .., value] = edit else {
            unreachable!("six bytes were taken");
        };
        let offset = offset
            .iter()
            .rfold(0, |at, &byte| at << 8 | usize::from(byte));
        apply(&mut file, *kind, offset, *value);
    }
    (mode, file)
}

fn apply(file: &mut Vec<u8>, kind: u8, offset: usize, value: u8) {
    if file.is_empty() {
        return;
    }
    let at = offset % file.len();
    match kind % 6 {
        0 => file[at] = value,
        1 => file[at] ^= value | 1,
        2 => file[at] = file[at].wrapping_add(value | 1),
        // Eight bytes: a number far out of bounds.
        3 => {
            let end = file.len().min(at + 8);
            file[at..end].fill(value);
        }
        4 => file.truncate(at),
        // Up to 64 bytes copied to another offset.
        _ => {
            let end = file.len().min(at + usize::from(value % 64) + 1);
            let piece = file[at..end].to_vec();
            let to = (offset / 7) % (file.len() - piece.len() + 1);
            file[to..to + piece.len()].copy_from_slice(&piece);
        }
    }
}

/// An input of edits: kind, offset, value.
#[must_use]
pub fn input(first: u8, edits: &[(u8, u32, u8)]) -> Vec<u8> {
    let mut bytes = vec![first];
    for (kind, offset, value) in edits {
        bytes.push(*kind);
        bytes.extend(offset.to_le_bytes());
        bytes.push(*value);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_change_what_they_say_and_nothing_else() {
        let sound: Vec<u8> = (0..100).collect();
        let made_of = |edits: &[_]| decode_input(&input(EDITED, edits), &sound).1;
        assert_eq!(made_of(&[]), sound);
        assert_eq!(made_of(&[(0, 107, 9)])[7], 9);
        assert_eq!(made_of(&[(4, 10, 0)]), sound[..10]);
        assert_eq!(made_of(&[(3, 96, 255)])[96..], [255; 4]);
        assert_eq!(
            decode_input(&[RAW, 1, 2], &sound),
            (InputMode::Raw, vec![1, 2])
        );
        assert_eq!(
            decode_input(&[SEALED], &sound),
            (InputMode::Sealed, sound.clone())
        );
    }
}
