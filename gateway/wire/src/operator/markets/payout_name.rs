//! The payout that a request names: by the label of an outcome, by its place, `half` or `outside`.

use foretell_model::Payout;

use crate::errors::api_error::{ApiError, quoted};
use crate::errors::error_code::ErrorCode;

/// Words for the place of an outcome, each pair in the order of the outcomes. A pair counts only where no
/// label says the opposite: `yes` is the first outcome, unless the labels are No and Yes.
const PLACES: [[&str; 2]; 2] = [["first", "second"], ["yes", "no"]];
const HALF: &str = "half";
const OUTSIDE: &str = "outside";
/// The payout of each outcome.
const OUTCOMES: [Payout; 2] = [Payout::Yes, Payout::No];

/// A word for a payout, which the labels of a market give its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayoutName(String);

impl PayoutName {
    /// A word of a request: a label, a place, `half` or `outside`, in any case.
    #[must_use]
    pub const fn new(word: String) -> Self {
        Self(word)
    }

    /// The word.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The payout that it names in a market with these labels.
    ///
    /// # Errors
    /// `invalid_field` of this field: it names no outcome, or both.
    pub fn among(&self, field: &str, labels: &[String; 2]) -> Result<Payout, ApiError> {
        let half = same(HALF, &self.0).then_some(Payout::Half);
        let outside = same(OUTSIDE, &self.0).then_some(Payout::Outside);
        let named = (0..2).filter(|at| self.is_label(*at, labels) || self.is_place(*at, labels));
        let mut named = named.map(|at| OUTCOMES[at]).chain(half).chain(outside);
        match (named.next(), named.next()) {
            (Some(payout), None) => Ok(payout),
            _ => Err(self.refused(field, labels)),
        }
    }

    fn is_label(&self, at: usize, labels: &[String; 2]) -> bool {
        same(&labels[at], &self.0)
    }

    /// Whether it is a word for a place; one that a label contradicts stands for both places.
    fn is_place(&self, at: usize, labels: &[String; 2]) -> bool {
        PLACES.iter().any(|pair| {
            let contradicted = (0..2).any(|at| same(&labels[at], pair[1 - at]));
            same(pair[at], &self.0) || (contradicted && same(pair[1 - at], &self.0))
        })
    }

    fn refused(&self, field: &str, labels: &[String; 2]) -> ApiError {
        let [first, second] = labels.each_ref().map(|label| quoted(label));
        let mut allowed = format!("first ({first}), second ({second}), {HALF} or {OUTSIDE}");
        if let Some(at) = (0..2).find(|at| self.is_label(*at, labels)) {
            let [label, place] = [at, 1 - at].map(|at| PLACES[0][at]);
            allowed += &format!("; by label it is the {label} outcome, by place the {place}");
        } else {
            allowed += ", or one of these labels";
        }
        let values = vec![field.to_owned(), quoted(&self.0), allowed];
        ApiError::new(ErrorCode::InvalidField, values)
    }
}

/// The name by place.
impl From<Payout> for PayoutName {
    fn from(payout: Payout) -> Self {
        let [first, second] = PLACES[0];
        let word = match payout {
            Payout::Yes => first,
            Payout::No => second,
            Payout::Half => HALF,
            Payout::Outside => OUTSIDE,
        };
        Self(word.to_owned())
    }
}

/// What people call a payout in a market with these labels: the label of the outcome, `half` or `outside`.
#[must_use]
pub fn payout_label(payout: Payout, labels: &[String; 2]) -> &str {
    match payout {
        Payout::Yes => &labels[0],
        Payout::No => &labels[1],
        Payout::Half => HALF,
        Payout::Outside => OUTSIDE,
    }
}

fn same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Payout::{Half, No, Outside, Yes};

    #[test]
    fn a_word_names_the_outcome_with_this_label_or_place() {
        for (labels, named) in [
            (
                ["Yes", "No"],
                &[
                    ("yes", Yes),
                    ("NO", No),
                    ("first", Yes),
                    ("half", Half),
                    ("outside", Outside),
                ][..],
            ),
            (
                ["Up", "Down"],
                &[("down", No), (" UP ", Yes), ("yes", Yes), ("no", No)],
            ),
            (["No", "Yes"], &[("first", Yes), ("Second", No)]),
            (["Second", "First"], &[("yes", Yes), ("no", No)]),
            (["ÄRGER", "Freude"], &[("ärger", Yes)]),
        ] {
            let labels = labels.map(str::to_owned);
            for (word, payout) in named {
                let name = PayoutName::new((*word).to_owned());
                assert_eq!(
                    name.among("payout", &labels),
                    Ok(*payout),
                    "{labels:?} {word}"
                );
            }
            for payout in [Yes, No, Half] {
                let given = PayoutName::from(payout).among("payout", &labels);
                let by_place = labels[0] != "Second";
                assert_eq!(given.is_ok(), by_place || payout == Half, "{labels:?}");
            }
        }
    }

    #[test]
    fn a_word_that_may_mean_both_outcomes_names_none() {
        for (labels, word, allowed) in [
            (
                ["No", "Yes"],
                "yes",
                "payout is 'yes', allowed: first ('No'), second ('Yes'), half or outside; \
                 by label it is the second outcome, by place the first",
            ),
            (
                ["No", "Yes"],
                "No",
                "payout is 'No', allowed: first ('No'), second ('Yes'), half or outside; \
                 by label it is the first outcome, by place the second",
            ),
            (
                ["Maybe", "Yes"],
                "no",
                "payout is 'no', allowed: first ('Maybe'), second ('Yes'), half or outside, or one of these labels",
            ),
            (
                ["Up", "Down"],
                "sideways",
                "payout is 'sideways', allowed: first ('Up'), second ('Down'), half or outside, or one of these labels",
            ),
        ] {
            let name = PayoutName::new(word.to_owned());
            let refused = name.among("payout", &labels.map(str::to_owned));
            assert_eq!(refused.unwrap_err().to_string(), allowed);
        }
        let half = PayoutName::new("half".to_owned());
        let labels = ["Half", "Full"].map(str::to_owned);
        assert!(half.among("payout", &labels).is_err());
    }
}
