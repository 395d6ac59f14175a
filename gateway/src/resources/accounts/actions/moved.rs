//! The collateral and shares that an account action's event moved, as signed amounts.

use foretell_model::event::{self, Converted, Merged, Redeemed};
use foretell_model::{Event, Lots, MarketNumber, Micros, Outcome, TimeNs};
use foretell_view::View;
use foretell_wire::orders::action::{ActionEffect, ActionKind, ShareChange};
use foretell_wire::{Decimal, TokenRef};

/// The amounts that an event moved at a time; `None` for other events, or when the view does not
/// know the market yet.
pub(crate) fn by(view: &View, event: &Event, time: TimeNs) -> Option<ActionEffect> {
    match *event {
        Event::Split(event::Split { market, lots, .. }) => {
            let shares = [(market, Outcome::Yes, lots), (market, Outcome::No, lots)];
            moved(
                view,
                ActionKind::Split,
                paid(lots.full_value()),
                came(&shares),
            )
        }
        Event::Merged(Merged { market, lots, .. }) => {
            let shares = [(market, Outcome::Yes, lots), (market, Outcome::No, lots)];
            moved(
                view,
                ActionKind::Merge,
                lots.full_value().into(),
                went(&shares),
            )
        }
        Event::Redeemed(Redeemed {
            market,
            lots: [yes, no],
            payout,
            ..
        }) => {
            let shares = [(market, Outcome::Yes, yes), (market, Outcome::No, no)];
            moved(view, ActionKind::Redeem, payout.into(), went(&shares))
        }
        Event::Converted(Converted {
            event,
            questions,
            lots,
            collateral,
            ..
        }) => {
            let group = view.events().get(event)?;
            let markets = &group.questions;
            // A convert gives no Yes of questions that were resolved before.
            let was_open = |market: MarketNumber| {
                let resolved = view
                    .markets()
                    .get(market)
                    .and_then(|market| market.resolved);
                resolved.is_none_or(|resolved| resolved > time)
            };
            let shares = (0..).zip(markets).flat_map(|(index, market)| {
                if questions.contains(index) {
                    went(&[(*market, Outcome::No, lots)])
                } else if was_open(*market) {
                    came(&[(*market, Outcome::Yes, lots)])
                } else {
                    Shares::new()
                }
            });
            let outside = came(&[(group.outside, Outcome::Yes, lots)]);
            moved(
                view,
                ActionKind::Conversion,
                collateral.into(),
                shares.chain(outside).collect(),
            )
        }
        _ => None,
    }
}

type Shares = Vec<(MarketNumber, Outcome, Decimal)>;

fn came(shares: &[(MarketNumber, Outcome, Lots)]) -> Shares {
    signed(shares, 1)
}

fn went(shares: &[(MarketNumber, Outcome, Lots)]) -> Shares {
    signed(shares, -1)
}

fn signed(shares: &[(MarketNumber, Outcome, Lots)], sign: i128) -> Shares {
    let amount = |lots: Lots| Decimal::new(i128::from(lots.0) * sign, 2);
    shares
        .iter()
        .map(|(market, outcome, lots)| (*market, *outcome, amount(*lots)))
        .collect()
}

fn paid(collateral: Micros) -> Decimal {
    Decimal::micros(-i128::from(collateral.0))
}

fn moved(
    view: &View,
    kind: ActionKind,
    collateral: Decimal,
    shares: Shares,
) -> Option<ActionEffect> {
    let named = |(market, outcome, amount): (MarketNumber, Outcome, Decimal)| {
        let condition = view.markets().get(market)?.condition;
        Some(ShareChange {
            asset: TokenRef::Asset(condition, outcome),
            amount,
        })
    };
    let shares = shares
        .into_iter()
        .filter(|(_, _, amount)| !amount.is_zero())
        .map(named)
        .collect::<Option<_>>()?;
    Some(ActionEffect {
        kind,
        collateral,
        shares,
    })
}
