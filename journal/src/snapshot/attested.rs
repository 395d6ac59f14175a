//! Which images the journal vouches for.
//!
//! An image says itself what it holds, so its own digest and hash prove nothing about who wrote it. The
//! engine journals an [`Command::AttestState`] for each image that it published; an image without one is
//! not begun with.

use std::path::Path;

use foretell_model::{Command, Sequence};

use super::image::Image;
use super::shelf::{images, newest_image};
use crate::error::JournalError;
use crate::record::v2::{COMMAND_BYTES, encode_command};
use crate::scan::scan;

/// The newest image at or below `limit` that is sound, of the journal in `journal` with this genesis, and
/// attested by it. Each one that is passed over is logged with the reason.
#[must_use]
pub fn newest_attested_image(
    dir: &Path,
    journal: &Path,
    genesis: &[u8; 32],
    mut limit: Sequence,
) -> Option<Image> {
    loop {
        let image = newest_image(dir, genesis, limit)?;
        let sequence = image.sequence();
        match is_attested(journal, &image) {
            Ok(true) => return Some(image),
            Ok(false) => {
                let image = sequence.0;
                tracing::warn!(image, "snapshot skipped: the journal does not attest it");
            }
            Err(error) => {
                let image = sequence.0;
                tracing::warn!(image, %error, "snapshot skipped: no attestation can be read");
            }
        }
        limit = Sequence(sequence.0 - 1);
    }
}

/// Sequences of the images that the journal does not attest, and never will once its engine has ended.
/// An image that cannot be read is not among them.
#[must_use]
pub fn unattested_images(dir: &Path, journal: &Path, genesis: &[u8; 32]) -> Vec<Sequence> {
    let listed = images(dir).unwrap_or_default().into_iter();
    listed
        .filter(|sequence| {
            let image = Image::open_unverified(dir, *sequence, genesis);
            image.is_ok_and(|image| matches!(is_attested(journal, &image), Ok(false)))
        })
        .collect()
}

/// Whether a frame behind the image attests its state and its file. The attestation stands a few frames
/// behind the image, so little is read.
fn is_attested(journal: &Path, image: &Image) -> Result<bool, JournalError> {
    let attestation = Command::AttestState {
        sequence: image.sequence(),
        state: image.proof().digest,
        snapshot: *image.hash(),
    };
    let mut record = [0; COMMAND_BYTES];
    encode_command(&attestation, &mut record);
    let mut found = false;
    let read = scan(journal, image.sequence(), &mut |frame| {
        found = *frame.command_record() == record;
        if found {
            return Err("found".to_owned());
        }
        Ok(())
    });
    match read {
        Err(_) if found => Ok(true),
        read => read.map(|_| false),
    }
}
