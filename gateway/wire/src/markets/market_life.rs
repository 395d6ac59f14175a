//! The life of a market in `GET /markets/{condition_id}`: clock, delay, rebate, proposal, settlement
//! (docs/api/market-data.md §5). Times are unix milliseconds; absent ones are not set.

use serde::Serialize;

use foretell_model::{MarketState, MarketTerms, Micros, Payout, TimeMs};

use crate::operator::payout_word;
use crate::schema::JsonSchema;
use crate::text::decimal::Decimal;
use crate::text::words::state_word;
use crate::values;

/// Clock, delay, rebate, proposal and settlement of a market. Times are unix milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MarketLife {
    /// Its state, or a stage of it: `proposed`, `disputed`, `settled`.
    #[schemars(extend("enum" = ["registered", "active", "paused", "closed", "proposed", "disputed", "resolved", "settled"]))]
    pub stage: &'static str,
    /// Who keeps it from trading, while it is paused: `operator`, `upstream`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<&'static str>,
    /// When trading opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    opens_at: Option<u64>,
    /// When trading closes.
    #[serde(skip_serializing_if = "Option::is_none")]
    closes_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    game_start_time: Option<u64>,
    /// Whether the game start cancels all orders.
    clear_book_on_start: bool,
    /// Delay of takers.
    taker_delay_ms: u32,
    /// The maker's share of the fee.
    #[serde(with = "values::Fraction")]
    rebate_rate: Decimal,
    /// The present proposal of a closed market, or the one that was finalised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ProposalJson>,
    /// The settlement of a resolved market while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settlement: Option<SettlementJson>,
    /// When all holders were paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<u64>,
}

/// A proposed payout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ProposalJson {
    #[schemars(extend("enum" = values::words(Payout::ALL, payout_word)))]
    payout: &'static str,
    proposed_at: u64,
    challenge_ends: u64,
    /// Whether the exchange finalises it when the window ends without a dispute.
    by_time: bool,
    source: String,
    /// SHA-256 of the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<values::Hash>")]
    evidence: Option<String>,
    disputed: bool,
    /// The payout that the disputer holds right.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = values::words(Payout::ALL, payout_word)))]
    counter: Option<&'static str>,
}

/// What a proposal shows.
#[derive(Clone, Copy, Debug)]
pub struct ProposalFacts<'a> {
    /// The payout.
    pub payout: Payout,
    /// When it was made.
    pub proposed_at: TimeMs,
    /// End of the challenge window.
    pub challenge_ends: TimeMs,
    /// Whether the exchange finalises it when the window ends without a dispute.
    pub by_time: bool,
    /// Its source, as given.
    pub source: &'a [u8],
    /// SHA-256 of the evidence; zeros without.
    pub evidence: [u8; 32],
    /// Whether it is disputed, and for which payout.
    pub dispute: Option<Option<Payout>>,
}

impl ProposalJson {
    /// The JSON of a proposal.
    #[must_use]
    pub fn new(of: &ProposalFacts<'_>) -> Self {
        Self {
            payout: payout_word(of.payout),
            proposed_at: of.proposed_at.0,
            challenge_ends: of.challenge_ends.0,
            by_time: of.by_time,
            source: String::from_utf8_lossy(of.source).into_owned(),
            evidence: (of.evidence != [0; 32]).then(|| crate::text::ids::hex_text(&of.evidence)),
            disputed: of.dispute.is_some(),
            counter: of.dispute.flatten().map(payout_word),
        }
    }
}

/// A settlement that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SettlementJson {
    /// Accounts looked at.
    pub accounts_done: u32,
    /// Accounts to look at.
    pub accounts: u32,
    /// Paid by its steps.
    #[serde(with = "values::Amount")]
    pub paid: Micros,
}

impl MarketLife {
    /// The life of a market with these terms, without proposal and settlement.
    #[must_use]
    pub fn new(state: MarketState, terms: &MarketTerms) -> Self {
        let set = |time: TimeMs| (time.0 > 0).then_some(time.0);
        Self {
            stage: state_word(state),
            opens_at: set(terms.opens_at),
            closes_at: set(terms.closes_at),
            game_start_time: set(terms.game_start_time),
            clear_book_on_start: terms.clear_book_on_start,
            taker_delay_ms: terms.taker_delay_ms,
            rebate_rate: Decimal::micros(i128::from(terms.rebate_ppm)),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_market_without_terms_shows_no_times() {
        let life = MarketLife::new(MarketState::Active, &MarketTerms::default());
        assert_eq!(
            crate::json_text(&life),
            r#"{"stage":"active","clear_book_on_start":false,"taker_delay_ms":0,"rebate_rate":0}"#
        );
    }

    #[test]
    fn a_disputed_proposal_names_both_payouts() {
        let terms = MarketTerms {
            closes_at: TimeMs(9),
            taker_delay_ms: 3_000,
            rebate_ppm: 250_000,
            ..MarketTerms::default()
        };
        let life = MarketLife {
            stage: "disputed",
            proposal: Some(ProposalJson::new(&ProposalFacts {
                payout: Payout::Yes,
                proposed_at: TimeMs(10),
                challenge_ends: TimeMs(20),
                by_time: true,
                source: b"https://source",
                evidence: [0; 32],
                dispute: Some(Some(Payout::No)),
            })),
            ..MarketLife::new(MarketState::Closed, &terms)
        };
        assert_eq!(
            crate::json_text(&life),
            r#"{"stage":"disputed","closes_at":9,"clear_book_on_start":false,"taker_delay_ms":3000,"rebate_rate":0.25,"proposal":{"payout":"yes","proposed_at":10,"challenge_ends":20,"by_time":true,"source":"https://source","disputed":true,"counter":"no"}}"#
        );
    }
}
