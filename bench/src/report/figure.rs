//! Figures as JSON, which has no number that is infinite or none: such a figure is `null`.

use serde::{Deserialize as _, Deserializer};

/// A figure.
pub(crate) fn one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// A list of figures.
pub(crate) fn many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let figures: Vec<Option<f64>> = Vec::deserialize(deserializer)?;
    let figures = figures.into_iter();
    Ok(figures.map(|figure| figure.unwrap_or(f64::NAN)).collect())
}
