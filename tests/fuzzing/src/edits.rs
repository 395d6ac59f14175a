//! Inputs that are changes to a sound file: what arbitrary bytes would hardly ever be.
//!
//! ```text
//! byte 0: 0 = the rest is the file; else bit 0 set = the rest is edits, bit 1 = then make it right
//! an edit, six bytes: what u8 | where u32 | value u8
//! ```

/// The first byte of an input that is the file itself.
pub const RAW: u8 = 0;
/// The first byte of an input that is edits.
pub const EDITED: u8 = 1;
/// The same, with checksums and hashes made right afterwards.
pub const SEALED: u8 = 3;

/// Edits of one input; more are left out.
const MOST: usize = 64;

/// How an input gives a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Means {
    /// As it stands.
    Raw,
    /// By edits.
    Edited,
    /// By edits, and what covers them is to be made right.
    Sealed,
}

/// The file that `input` makes of the sound one. Edits take every place modulo the file's length.
#[must_use]
pub fn made(input: &[u8], sound: &[u8]) -> (Means, Vec<u8>) {
    let Some((&first, rest)) = input.split_first() else {
        return (Means::Raw, Vec::new());
    };
    let means = match first & 3 {
        0 => return (Means::Raw, rest.to_vec()),
        1 => Means::Edited,
        _ => Means::Sealed,
    };
    let mut file = sound.to_vec();
    for edit in rest.chunks_exact(6).take(MOST) {
        let [what, place @ .., value] = edit else {
            unreachable!("six bytes were taken");
        };
        let place = place
            .iter()
            .rfold(0, |at, &byte| at << 8 | usize::from(byte));
        apply(&mut file, *what, place, *value);
    }
    (means, file)
}

fn apply(file: &mut Vec<u8>, what: u8, place: usize, value: u8) {
    if file.is_empty() {
        return;
    }
    let at = place % file.len();
    match what % 6 {
        0 => file[at] = value,
        1 => file[at] ^= value | 1,
        2 => file[at] = file[at].wrapping_add(value | 1),
        // Eight bytes: a number far out of bounds.
        3 => {
            let end = file.len().min(at + 8);
            file[at..end].fill(value);
        }
        4 => file.truncate(at),
        // Up to 64 bytes to another place.
        _ => {
            let end = file.len().min(at + usize::from(value % 64) + 1);
            let piece = file[at..end].to_vec();
            let to = (place / 7) % (file.len() - piece.len() + 1);
            file[to..to + piece.len()].copy_from_slice(&piece);
        }
    }
}

/// An input of edits: what, where, value.
#[must_use]
pub fn input(first: u8, edits: &[(u8, u32, u8)]) -> Vec<u8> {
    let mut bytes = vec![first];
    for (what, place, value) in edits {
        bytes.push(*what);
        bytes.extend(place.to_le_bytes());
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
        let made_of = |edits: &[_]| made(&input(EDITED, edits), &sound).1;
        assert_eq!(made_of(&[]), sound);
        assert_eq!(made_of(&[(0, 107, 9)])[7], 9);
        assert_eq!(made_of(&[(4, 10, 0)]), sound[..10]);
        assert_eq!(made_of(&[(3, 96, 255)])[96..], [255; 4]);
        assert_eq!(made(&[RAW, 1, 2], &sound), (Means::Raw, vec![1, 2]));
        assert_eq!(made(&[SEALED], &sound), (Means::Sealed, sound.clone()));
    }
}
