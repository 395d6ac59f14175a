//! Data that is made once and found by later measurements.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::MeasureError;

/// File that says what made the contents of a directory. It is written last: without it the
/// contents are incomplete.
pub(crate) const MARKER_FILE: &str = "made-by.json";

/// What is known of the contents of `directory`, and whether they were found. They are made, in an
/// empty directory, unless the same maker has made them before.
pub(crate) fn find_or_make<T: Serialize + DeserializeOwned>(
    directory: &Path,
    maker: &str,
    make: impl FnOnce() -> Result<T, MeasureError>,
) -> Result<(T, bool), MeasureError> {
    let marker = directory.join(MARKER_FILE);
    let text = fs::read(&marker).unwrap_or_default();
    let known: Option<(String, T)> = serde_json::from_slice(&text).ok();
    if let Some((_, known)) = known.filter(|(made_by, _)| made_by == maker) {
        return Ok((known, true));
    }
    if directory.exists() {
        fs::remove_dir_all(directory).map_err(MeasureError::io("removing older data"))?;
    }
    fs::create_dir_all(directory).map_err(MeasureError::io("making a directory"))?;
    let made = make()?;
    let text = serde_json::to_vec(&(maker, &made)).expect("texts and numbers are JSON");
    fs::write(&marker, text).map_err(MeasureError::io("marking data as complete"))?;
    Ok((made, false))
}
