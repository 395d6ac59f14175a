//! Statements about quotes, and the text of what they do (docs/verify/rules.md §32).

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use foretell_model::command::{RenewQuotes, SetQuoteLimits, SetQuotes};
use foretell_model::event::{QuoteLimitsSet, QuotePlaced, QuoteRefused, QuotesFrozen};
use foretell_model::quote::{Quote, QuoteLimits, QuotesResult};
use foretell_model::tail::Tail;
use foretell_model::{
    Command, Event, Lots, MarketNumber, Micros, OrderId, Outcome, Price, Sequence, Side, TimeMs,
    TimeNs,
};

use crate::scenarios::names::Names;
use crate::scenarios::ordering::duration;
use crate::scenarios::text;
use crate::scenarios::words::Words;

/// `alice quotes 1 rev 5 [in A,B] [seen 12] [valid 10s] [late 5s] [key bob]: BUY YES 10 @ 0.4 [on B] [grow]; …`.
/// Returns the command and its tail.
pub(crate) fn set(
    names: &Names,
    who: &str,
    statement: &str,
    now: TimeNs,
) -> Result<(Command, Vec<u8>), String> {
    let (head, quotes) = statement.split_once(':').unwrap_or((statement, ""));
    let mut words = Words::of(head);
    words.expect(who)?;
    words.expect("quotes")?;
    let group = small(words.next()?)?;
    words.expect("rev")?;
    let revision = text::number(words.next()?)?;
    let usual = names.usual_market.as_deref().unwrap_or_default();
    let listed: Vec<_> = words.option("in").unwrap_or(usual).split(',').collect();
    let seen = words.option("seen").map_or(Ok(u64::MAX), text::number)?;
    let valid = words
        .option("valid")
        .map_or(Ok(3_600_000_000_000), duration)?;
    let late = words.option("late").map_or(Ok(0), duration)?;
    let key = words.option("key").unwrap_or(who);
    words.end()?;
    let mut items = Vec::new();
    for quote in quotes.split(';').filter(|quote| !quote.trim().is_empty()) {
        items.push(read_quote(quote, &listed)?.word());
    }
    let markets: Vec<MarketNumber> = listed.iter().map(|name| names.market(name)).collect();
    let mut tail = Vec::new();
    Tail::append(&markets, &mut tail);
    Tail::append(&items, &mut tail);
    let mut hasher = DefaultHasher::new();
    statement.hash(&mut hasher);
    let mut digest = [0xD1; 32];
    digest[..8].copy_from_slice(&hasher.finish().to_be_bytes());
    let command = Command::SetQuotes(SetQuotes {
        account: names.account(who),
        key: names.key(key),
        digest: OrderId(digest),
        group,
        revision,
        seen: Sequence(seen),
        timestamp: TimeMs(now.millis().0 - late / 1_000_000),
        valid_until: TimeMs(now.millis().0 + valid / 1_000_000),
        conditions: small(&markets.len().to_string())?,
        quotes: small(&items.len().to_string())?,
    });
    Ok((command, tail))
}

fn small(text: &str) -> Result<u8, String> {
    text.parse().map_err(|_| format!("`{text}` is no byte"))
}

fn read_quote(quote: &str, listed: &[&str]) -> Result<Quote, String> {
    let mut words = Words::of(quote);
    let grow_tail = words.flag("grow");
    let on = words.option("on").unwrap_or(listed[0]);
    let condition = listed.iter().position(|name| *name == on);
    let side = text::one_of(&[Side::Buy, Side::Sell], words.next()?)?;
    let outcome = text::one_of(&[Outcome::Yes, Outcome::No], words.next()?)?;
    let lots = text::shares(words.next()?)?;
    words.expect("@")?;
    let price = text::price(words.next()?)?;
    words.end()?;
    Ok(Quote {
        condition: u16::try_from(condition.unwrap_or(listed.len())).unwrap_or(u16::MAX),
        outcome,
        side,
        price: Price(u16::try_from(price).map_err(|_| "a price below 6.5")?),
        lots,
        grow_tail,
    })
}

/// `alice renews 1 rev 5`.
pub(crate) fn renewal(names: &Names, who: &str, words: &mut Words<'_>) -> Result<Command, String> {
    let group = small(words.next()?)?;
    words.expect("rev")?;
    Ok(Command::RenewQuotes(RenewQuotes {
        account: names.account(who),
        key: names.key(who),
        group,
        revision: text::number(words.next()?)?,
    }))
}

/// `alice limits 1 [lease 1s] [window 1s] [shares 10] [value 5] [net 3] [reset]`.
pub(crate) fn limits(names: &Names, who: &str, words: &mut Words<'_>) -> Result<Command, String> {
    let group = small(words.next()?)?;
    let millis = |text: Option<&str>| -> Result<u32, String> {
        let millis = text.map_or(Ok(0), duration)? / 1_000_000;
        u32::try_from(millis).map_err(|_| "too long".to_owned())
    };
    let limits = QuoteLimits {
        lease_ms: millis(words.option("lease"))?,
        window_ms: millis(words.option("window"))?,
        lots: words
            .option("shares")
            .map_or(Ok(Lots::ZERO), text::shares)?,
        value: words
            .option("value")
            .map_or(Ok(Micros::ZERO), text::micros)?,
        net_lots: words.option("net").map_or(Ok(Lots::ZERO), text::shares)?,
    };
    Ok(Command::SetQuoteLimits(SetQuoteLimits {
        account: names.account(who),
        key: names.key(who),
        group,
        limits,
        reset: words.flag("reset"),
    }))
}

/// What a set did.
pub(crate) fn of_result(result: &QuotesResult) -> String {
    let mut text = format!(
        "kept {} reduced {} ended {} placed {}",
        result.kept,
        result.reduced,
        result.ended,
        result.placed.0.count_ones()
    );
    for (index, reason) in result.refusals() {
        text.push_str(&format!(" refused {index} {reason:?}"));
    }
    text
}

/// An event of quotes; `None` for another.
pub(crate) fn of_event(event: &Event, names: &Names) -> Option<String> {
    Some(match *event {
        Event::QuotesSet(_) => "set".to_owned(),
        Event::QuotePlaced(QuotePlaced { order, lots }) => {
            format!("placed {} {}", order.index(), text::of_shares(lots))
        }
        Event::QuoteRefused(QuoteRefused { index, reason }) => {
            format!("refused {index} {reason:?}")
        }
        Event::QuotesRenewed(_) => "renewed".to_owned(),
        Event::QuoteLimitsSet(QuoteLimitsSet { account, group, .. }) => {
            format!("limits of {} {group}", names.name_of_account(account))
        }
        Event::QuotesFrozen(QuotesFrozen { account, group }) => {
            format!("frozen {} {group}", names.name_of_account(account))
        }
        _ => return None,
    })
}
