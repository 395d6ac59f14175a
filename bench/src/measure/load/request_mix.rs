//! Kinds of requests and their weights.

use std::fmt::{self, Display};
use std::str::FromStr;

use foretell_wire::limits::MAX_ORDERS;
use thiserror::Error;

/// A kind of request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RequestKind {
    /// `POST /order`.
    Place,
    /// `POST /orders`.
    Batch,
    /// `DELETE /order` of an order placed earlier in the run.
    Cancel,
    /// `GET /book`.
    Read,
}

impl RequestKind {
    /// Every kind, in the order of [`RequestMix`]'s weights.
    pub(super) const ALL: [Self; 4] = [Self::Place, Self::Batch, Self::Cancel, Self::Read];

    /// Name of the kind in a mix.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Place => "place",
            Self::Batch => "batch",
            Self::Cancel => "cancel",
            Self::Read => "read",
        }
    }
}

/// Weights of the kinds. Written `place=6,cancel=3,read=1`; `batch=2x5` means batches of five.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RequestMix {
    weights: [u32; RequestKind::ALL.len()],
    batch: usize,
}

/// An invalid mix.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "mix {given:?}: {problem}; allowed: place, batch, cancel, read with weights of 0 to 1000, as in place=6,cancel=3,read=1 or batch=1x15 for batches of 1 to {MAX_ORDERS}"
)]
pub(super) struct InvalidMix {
    given: String,
    problem: &'static str,
}

/// Maximum weight.
const MAX_WEIGHT: u32 = 1_000;

impl RequestMix {
    /// Single orders only.
    pub(super) const PLACE: Self = Self {
        weights: [1, 0, 0, 0],
        batch: MAX_ORDERS,
    };
    /// Full batches only.
    pub(super) const BATCH: Self = Self {
        weights: [0, 1, 0, 0],
        batch: MAX_ORDERS,
    };

    fn weight(&self, kind: RequestKind) -> u32 {
        self.weights[kind as usize]
    }

    /// Orders placed by a request of this kind.
    pub(super) const fn orders(&self, kind: RequestKind) -> usize {
        match kind {
            RequestKind::Place => 1,
            RequestKind::Batch => self.batch,
            RequestKind::Cancel | RequestKind::Read => 0,
        }
    }

    /// A kind in the mix that places orders, if there is one.
    pub(super) fn placing(&self) -> Option<RequestKind> {
        let mut kinds = [RequestKind::Place, RequestKind::Batch].into_iter();
        kinds.find(|kind| self.weight(*kind) > 0)
    }

    /// An endless sequence of kinds, weighted and spread evenly. It is the same for every run of a
    /// mix.
    pub(super) fn kinds(self) -> impl Iterator<Item = RequestKind> {
        let total: i64 = self.weights.iter().map(|weight| i64::from(*weight)).sum();
        let mut credit = [0_i64; RequestKind::ALL.len()];
        std::iter::repeat_with(move || {
            for (credit, weight) in credit.iter_mut().zip(self.weights) {
                *credit += i64::from(weight);
            }
            let richest = RequestKind::ALL
                .into_iter()
                .max_by_key(|kind| (credit[*kind as usize], -(*kind as i64)))
                .expect("there are kinds");
            credit[richest as usize] -= total;
            richest
        })
    }
}

impl Default for RequestMix {
    /// Six places, three cancels, one read.
    fn default() -> Self {
        Self {
            weights: [6, 0, 3, 1],
            batch: MAX_ORDERS,
        }
    }
}

impl FromStr for RequestMix {
    type Err = InvalidMix;

    fn from_str(text: &str) -> Result<Self, InvalidMix> {
        let bad = |problem| InvalidMix {
            given: text.to_owned(),
            problem,
        };
        let mut mix = Self {
            weights: [0; RequestKind::ALL.len()],
            batch: MAX_ORDERS,
        };
        let mut named = [false; RequestKind::ALL.len()];
        for part in text.split(',') {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| bad("a part without ="))?;
            let kind = RequestKind::ALL
                .into_iter()
                .find(|kind| kind.name() == name.trim());
            let kind = kind.ok_or_else(|| bad("an unknown kind"))?;
            if std::mem::replace(&mut named[kind as usize], true) {
                return Err(bad("duplicate kind"));
            }
            let weight = match value.split_once('x') {
                Some((weight, size)) if kind == RequestKind::Batch => {
                    let size = size.trim().parse().ok();
                    mix.batch = size
                        .filter(|size| (1..=MAX_ORDERS).contains(size))
                        .ok_or_else(|| bad("invalid batch size"))?;
                    weight
                }
                _ => value,
            };
            let weight = weight.trim().parse().ok();
            mix.weights[kind as usize] = weight
                .filter(|weight| *weight <= MAX_WEIGHT)
                .ok_or_else(|| bad("invalid weight"))?;
        }
        if mix.weights == [0; RequestKind::ALL.len()] {
            return Err(bad("nothing to ask"));
        }
        if mix.weight(RequestKind::Cancel) > 0 && mix.placing().is_none() {
            return Err(bad("cancels need orders: place or batch"));
        }
        Ok(mix)
    }
}

impl Display for RequestMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for kind in RequestKind::ALL
            .into_iter()
            .filter(|kind| self.weight(*kind) > 0)
        {
            let comma = if std::mem::take(&mut first) { "" } else { "," };
            write!(f, "{comma}{}={}", kind.name(), self.weight(kind))?;
            if kind == RequestKind::Batch {
                write!(f, "x{}", self.batch)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_is_read_and_written() {
        for (text, written) in [
            ("place=6,cancel=3,read=1", "place=6,cancel=3,read=1"),
            ("read=1, place=2", "place=2,read=1"),
            ("batch=2x5", "batch=2x5"),
            ("batch=1", "batch=1x15"),
            ("place=0,read=1000", "read=1000"),
        ] {
            let mix: RequestMix = text.parse().unwrap();
            assert_eq!(mix.to_string(), written);
            assert_eq!(written.parse::<RequestMix>().unwrap(), mix);
        }
        assert_eq!(RequestMix::default().to_string(), "place=6,cancel=3,read=1");
    }

    #[test]
    fn invalid_mixes_are_rejected() {
        for text in [
            "",
            "place",
            "place=",
            "place=-1",
            "place=1001",
            "buy=1",
            "place=1,place=2",
            "place=1x5",
            "batch=1x0",
            "batch=1x16",
            "place=0",
            "cancel=1",
            "cancel=1,read=1",
        ] {
            assert!(text.parse::<RequestMix>().is_err(), "{text}");
        }
    }

    #[test]
    fn kinds_follow_their_weights_evenly() {
        let mix: RequestMix = "place=6,cancel=3,read=1".parse().unwrap();
        let kinds: Vec<RequestKind> = mix.kinds().take(1_000).collect();
        for tens in kinds.chunks(10) {
            let count = |kind| tens.iter().filter(|other| **other == kind).count();
            assert_eq!(
                [
                    RequestKind::Place,
                    RequestKind::Batch,
                    RequestKind::Cancel,
                    RequestKind::Read
                ]
                .map(count),
                [6, 0, 3, 1]
            );
        }
        assert!(
            kinds
                .windows(4)
                .all(|four| four.contains(&RequestKind::Place))
        );
    }
}
