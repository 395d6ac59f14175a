//! Images that the journal attests.
//!
//! An image names its own content, so its digest and hash do not prove its origin. The engine
//! journals a [`Command::AttestState`] for each image that it published. No process starts from an
//! image without one.

use std::path::Path;

use foretell_model::command::AttestState;
use foretell_model::{Command, Sequence};

use super::image::Image;
use super::store::{images, newest_image};
use crate::error::JournalError;
use crate::frame::{COMMAND_BYTES, put_command};
use crate::scan::scan;

/// The newest valid image at or below `limit` of the journal with this genesis, which the journal
/// in `journal` attests. Each skipped image is logged with the reason.
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

/// The oldest valid image that the journal attests and for which `is_usable` holds.
#[must_use]
pub fn oldest_attested_image(
    dir: &Path,
    journal: &Path,
    genesis: &[u8; 32],
    is_usable: &dyn Fn(&Image) -> bool,
) -> Option<Sequence> {
    let listed = images(dir).unwrap_or_default();
    listed.into_iter().rev().find(|sequence| {
        let image = Image::open(dir, *sequence, genesis);
        image.is_ok_and(|image| {
            is_usable(&image) && matches!(is_attested(journal, &image), Ok(true))
        })
    })
}

/// Sequences of the readable images that the journal does not attest. Once the engine that wrote
/// them has ended, it never will.
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

/// Whether a later frame attests the image's state and file. That frame is only a few frames after
/// the image, so little is read.
fn is_attested(journal: &Path, image: &Image) -> Result<bool, JournalError> {
    let attestation = Command::AttestState(AttestState {
        sequence: image.sequence(),
        state: image.proof().digest,
        snapshot: *image.hash(),
    });
    let mut record = [0; COMMAND_BYTES];
    put_command(&attestation, &mut record);
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
