//! Goals and their verdicts.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// Required range of a figure.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// This value or less.
    AtMost(f64),
    /// This value or more.
    AtLeast(f64),
}

/// Verdict on a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The goal is met.
    Met,
    /// The goal is not met.
    NotMet,
    /// The figure was not measured.
    NotMeasured,
}

/// A goal with its result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Goal {
    /// Subject.
    pub name: String,
    /// Required range.
    pub limit: Limit,
    /// Measured figure; `None` if it could not be measured.
    pub found: Option<f64>,
    /// Derived from limit and figure.
    pub verdict: Verdict,
    /// How it was measured, if reduced, or why it was not.
    pub note: Option<String>,
}

impl Goal {
    /// A goal of `most` or less.
    #[must_use]
    pub fn at_most(name: impl Into<String>, most: f64, found: Option<f64>) -> Self {
        Self::new(name.into(), Limit::AtMost(most), found)
    }

    /// A goal of `least` or more.
    #[must_use]
    pub fn at_least(name: impl Into<String>, least: f64, found: Option<f64>) -> Self {
        Self::new(name.into(), Limit::AtLeast(least), found)
    }

    /// A goal of `most` or less for the ratio of a time to a baseline that it includes: below 1 the
    /// baseline was disturbed, and the ratio means nothing.
    #[must_use]
    pub fn at_most_of_part(name: impl Into<String>, most: f64, ratio: Option<f64>) -> Self {
        let found = ratio.filter(|ratio| *ratio >= 1.0);
        let goal = Self::at_most(name, most, found);
        match found {
            Some(_) => goal,
            None => goal.note("the baseline was slower than what includes it: use an idle machine"),
        }
    }

    fn new(name: String, limit: Limit, found: Option<f64>) -> Self {
        let found = found.filter(|found| found.is_finite());
        Self {
            name,
            limit,
            found,
            verdict: limit.verdict(found),
            note: None,
        }
    }

    /// Notes how the figure was measured, or why not.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Whether the goal is met; unmeasured goals are not.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.verdict == Verdict::Met
    }
}

impl Limit {
    fn verdict(self, found: Option<f64>) -> Verdict {
        let holds = found.map(|found| match self {
            Self::AtMost(most) => found <= most,
            Self::AtLeast(least) => found >= least,
        });
        match holds {
            Some(true) => Verdict::Met,
            Some(false) => Verdict::NotMet,
            None => Verdict::NotMeasured,
        }
    }
}

impl Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "<= {most}"),
            Self::AtLeast(least) => write!(f, ">= {least}"),
        }
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::NotMet => "NOT MET",
            Self::NotMeasured => "not measured",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_inclusive() {
        // Figure, verdict at most 2, verdict at least 2.
        let cases = [
            (Some(1.9), Verdict::Met, Verdict::NotMet),
            (Some(2.0), Verdict::Met, Verdict::Met),
            (Some(2.1), Verdict::NotMet, Verdict::Met),
            (Some(f64::NAN), Verdict::NotMeasured, Verdict::NotMeasured),
            (None, Verdict::NotMeasured, Verdict::NotMeasured),
        ];
        for (found, most, least) in cases {
            assert_eq!(Goal::at_most("", 2.0, found).verdict, most, "{found:?}");
            assert_eq!(Goal::at_least("", 2.0, found).verdict, least, "{found:?}");
        }
        assert!(!Goal::at_most("", 2.0, None).is_met());
    }

    #[test]
    fn a_time_below_its_own_part_meets_no_goal() {
        let goal = |ratio| Goal::at_most_of_part("", 3.0, Some(ratio));
        assert!(goal(2.9).is_met() && goal(2.9).note.is_none());
        assert!(!goal(3.1).is_met());
        assert_eq!(goal(0.08).verdict, Verdict::NotMeasured);
        assert!(goal(0.08).note.unwrap().contains("idle machine"));
    }
}
