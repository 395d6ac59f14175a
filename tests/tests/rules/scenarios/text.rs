//! Parses and formats amounts; renders responses and events.

use foretell_model::event::{
    AccountOpened, ClosedOnlySet, MarketRegistered, MarketResolved, MarketStateSet, OrderClosed,
    OrderDecreased, OrderKilled, OrderRested, Redeemed, TickSet,
};
use foretell_model::{
    CommandOutcome, Event, Fill, Hold, Lots, MatchKind, Micros, OrderResult, OrderStatus, Payout,
    Price, Rejection, RejectionReason, Tick, Verdict,
};

use crate::scenarios::names::Names;
use crate::scenarios::{market_life, quoting};

/// Decimal text as a whole number of 10^-`decimals`.
fn scaled(text: &str, decimals: usize) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no amount of at most {decimals} decimals");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > decimals {
        return Err(wrong());
    }
    format!("{whole}{fraction:0<decimals$}")
        .parse()
        .map_err(|_| wrong())
}

/// The shortest decimal text of `amount` × 10^-`decimals`.
fn unscaled(amount: u64, decimals: usize) -> String {
    let digits = format!("{amount:0>width$}", width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    match fraction.trim_end_matches('0') {
        "" => whole.to_owned(),
        fraction => format!("{whole}.{fraction}"),
    }
}

pub(crate) fn micros(text: &str) -> Result<Micros, String> {
    scaled(text.trim_start_matches('$'), 6).map(Micros)
}

pub(crate) fn shares(text: &str) -> Result<Lots, String> {
    scaled(text, 2).map(Lots)
}

pub(crate) fn price(text: &str) -> Result<u64, String> {
    scaled(text, 4)
}

pub(crate) fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

pub(crate) fn tick(text: &str) -> Result<Tick, String> {
    let mut ticks = Tick::ALL.iter().copied();
    ticks
        .find(|tick| tick.text() == text)
        .ok_or_else(|| format!("`{text}` is no tick"))
}

/// One of an enum's values by its name, in any case.
pub(crate) fn one_of<T: Copy + std::fmt::Debug>(all: &[T], text: &str) -> Result<T, String> {
    all.iter()
        .find(|one| format!("{one:?}").eq_ignore_ascii_case(text))
        .copied()
        .ok_or_else(|| format!("`{text}` is none of {all:?}"))
}

pub(crate) fn of_micros(amount: Micros) -> String {
    unscaled(amount.0, 6)
}

pub(crate) fn of_shares(lots: Lots) -> String {
    unscaled(lots.0, 2)
}

pub(crate) fn of_price(price: Price) -> String {
    unscaled(u64::from(price.0), 4)
}

/// A response as text.
pub(crate) fn of_verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Applied(outcome) => of_outcome(outcome),
        Verdict::Repeated { outcome, .. } => format!("repeated {}", of_outcome(outcome)),
        Verdict::Rejected(refusal) => format!("refused {}", of_refusal(refusal)),
    }
}

fn of_outcome(outcome: &CommandOutcome) -> String {
    match outcome {
        CommandOutcome::Order(result) => of_result(result),
        CommandOutcome::Cancelled { orders } => format!("cancelled {orders}"),
        CommandOutcome::Left(lots) => format!("left {}", of_shares(*lots)),
        CommandOutcome::Collateral(amount) => format!("collateral {}", of_micros(*amount)),
        CommandOutcome::Waits(_) => "waits".to_owned(),
        CommandOutcome::Released(_) => "released".to_owned(),
        CommandOutcome::Quotes(result) => quoting::of_result(result),
        CommandOutcome::Lease { quotes, .. } => format!("live {quotes}"),
        _ => "done".to_owned(),
    }
}

fn of_result(result: &OrderResult) -> String {
    match result.status {
        OrderStatus::Live => "live".to_owned(),
        OrderStatus::Unmatched => "unmatched".to_owned(),
        OrderStatus::Delayed => "delayed".to_owned(),
        OrderStatus::Killed(refusal) => format!("killed {}", of_refusal(&refusal)),
        OrderStatus::Matched => format!(
            "matched {} for {} fee {}",
            of_shares(result.lots),
            of_micros(result.value),
            of_micros(result.fee)
        ),
    }
}

/// A rejection with its details in their units.
fn of_refusal(refusal: &Rejection) -> String {
    use RejectionReason::{
        BalanceLimit, MarketableBelowMinimum, NotEnoughCollateral, NotEnoughShares,
        SizeBelowMinimum,
    };
    let unit: fn(u64) -> String = match refusal.reason {
        NotEnoughCollateral | MarketableBelowMinimum | BalanceLimit => {
            |amount| of_micros(Micros(amount))
        }
        NotEnoughShares | SizeBelowMinimum => |lots| of_shares(Lots(lots)),
        _ => |number| number.to_string(),
    };
    let [first, second] = refusal.details.map(unit);
    format!("{:?} {first} {second}", refusal.reason)
}

/// An event as text.
pub(crate) fn of_event(event: &Event, names: &Names) -> String {
    match *event {
        Event::Fill(fill) => of_fill(&fill, names),
        Event::OrderRested(OrderRested { lots, price }) => {
            format!("rests {} @ {}", of_shares(lots), of_price(price))
        }
        Event::OrderCompleted => "completed".to_owned(),
        Event::OrderClosed(OrderClosed {
            account,
            lots,
            reason,
            ..
        }) => format!(
            "closed {} {} {reason:?}",
            names.name_of_account(account),
            of_shares(lots)
        ),
        Event::OrderDecreased(OrderDecreased { account, lots, .. }) => format!(
            "decreased {} {}",
            names.name_of_account(account),
            of_shares(lots)
        ),
        Event::OrderKilled(OrderKilled {
            reason,
            details: [0, 0],
        }) => format!("killed {reason:?}"),
        Event::OrderKilled(OrderKilled { reason, details }) => {
            format!("killed {}", of_refusal(&Rejection { reason, details }))
        }
        Event::AccountOpened(AccountOpened { account, .. }) => {
            format!("opened {}", names.name_of_account(account))
        }
        Event::EventFrozen { event } => format!("frozen {}", names.name_of_event(event)),
        Event::MarketRegistered(MarketRegistered {
            market, has_slug, ..
        }) => {
            let slug = if has_slug { "" } else { " without a slug" };
            format!("{} is registered{slug}", names.name_of_market(market))
        }
        Event::MarketStateSet(MarketStateSet {
            market,
            state,
            holds,
        }) => {
            let by = match holds.contains(Hold::Upstream) {
                true => " by the upstream",
                false => "",
            };
            format!("{} is {state:?}{by}", names.name_of_market(market))
        }
        Event::MarketResolved(MarketResolved { market, payout }) => {
            format!(
                "{} resolves {}",
                names.name_of_market(market),
                of_payout(payout)
            )
        }
        Event::TickSet(TickSet { market, tick }) => {
            format!("tick of {} {}", names.name_of_market(market), tick.text())
        }
        Event::Redeemed(Redeemed {
            account,
            lots: [yes, no],
            payout,
            ..
        }) => format!(
            "{} burns {} YES {} NO for {}",
            names.name_of_account(account),
            of_shares(yes),
            of_shares(no),
            of_micros(payout)
        ),
        Event::ClosedOnlySet(ClosedOnlySet {
            account,
            closed_only,
        }) => format!(
            "{} closed-only {closed_only}",
            names.name_of_account(account)
        ),
        _ => quoting::of_event(event, names).unwrap_or_else(|| market_life::of_event(event, names)),
    }
}

/// The maker, its lots and its limit in Yes, and its remaining lots.
fn of_fill(fill: &Fill, names: &Names) -> String {
    let kind = match fill.kind {
        MatchKind::Complementary => "complementary",
        MatchKind::Mint => "mint",
        MatchKind::Merge => "merge",
    };
    let rebate = match fill.rebate {
        Micros::ZERO => String::new(),
        rebate => format!(" rebate {}", of_micros(rebate)),
    };
    format!(
        "fill {} {} @ {} {kind} left {} fee {}{rebate}",
        names.name_of_account(fill.maker),
        of_shares(fill.lots),
        of_price(fill.yes_price),
        of_shares(fill.maker_left),
        of_micros(fill.fee)
    )
}

pub(crate) const fn of_payout(payout: Payout) -> &'static str {
    match payout {
        Payout::Yes => "YES",
        Payout::No => "NO",
        Payout::Half => "HALF",
        Payout::Outside => "OUTSIDE",
    }
}
