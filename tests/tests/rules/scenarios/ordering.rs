//! Statements about orders, in the terms that a trader signs.
//!
//! `alice BUY YES 100 @ 0.62 GTC`, `bob BUY NO $10 @ 0.34 FAK`, `bob signs SELL YES 10000 4000
//! FAK`; then, in any order: `post-only`, `in A`, `named o1`, `with k2`, `until 90s` (from now),
//! `expiring 5` (as signed), `stamped -5s` (from now).

use foretell_model::{OrderId, OrderType, Outcome, PlaceOrder, Side, TimeMs, TimeNs, TimeSeconds};

use crate::scenarios::names::padded;
use crate::scenarios::statements::Desk;
use crate::scenarios::text;
use crate::scenarios::words::Words;

/// The order of a statement; `number` makes its id unique.
pub(crate) fn signed(
    desk: &Desk,
    trader: &str,
    verb: &str,
    words: &mut Words<'_>,
    now: TimeNs,
    number: u64,
) -> Result<PlaceOrder, String> {
    let as_signed = verb == "signs";
    let side = text::one_of(Side::ALL, if as_signed { words.next()? } else { verb })?;
    let outcome = text::one_of(Outcome::ALL, words.next()?)?;
    let (maker_amount, taker_amount) = if as_signed {
        (text::number(words.next()?)?, text::number(words.next()?)?)
    } else {
        let size = words.next()?;
        words.expect("@")?;
        amounts(side, size, text::price(words.next()?)?)?
    };
    Ok(PlaceOrder {
        order: OrderId(padded(&number.to_string())),
        account: desk.names.account(trader),
        key: desk.names.key(words.option("with").unwrap_or(trader)),
        market: desk.market_option(words),
        outcome,
        side,
        order_type: text::one_of(OrderType::ALL, words.next()?)?,
        post_only: words.flag("post-only"),
        maker_amount,
        taker_amount,
        expiration: expiration(words, now)?,
        timestamp: timestamp(words, now)?,
    })
}

/// The same order again, with other values in the fields that a client may change.
pub(crate) fn again(
    desk: &Desk,
    placed: PlaceOrder,
    words: &mut Words<'_>,
    now: TimeNs,
) -> Result<PlaceOrder, String> {
    let mut again = placed;
    if let Some(key) = words.option("with") {
        again.key = desk.names.key(key);
    }
    if let Some(order_type) = words.option("of-type") {
        again.order_type = text::one_of(OrderType::ALL, order_type)?;
    }
    again.post_only ^= words.flag("post-only");
    let expiration = expiration(words, now)?;
    if expiration != TimeSeconds(0) {
        again.expiration = expiration;
    }
    Ok(again)
}

/// The signed amounts of a size at a price. A budget `$10` buys as many shares as its price gives,
/// rounded down to a micro-share.
fn amounts(side: Side, size: &str, price: u64) -> Result<(u64, u64), String> {
    if size.starts_with('$') {
        let budget = text::micros(size)?.0;
        return Ok((budget, budget * 10_000 / price));
    }
    let lots = text::shares(size)?.0;
    let (shares, value) = (lots * 10_000, lots * price);
    Ok(match side {
        Side::Buy => (value, shares),
        Side::Sell => (shares, value),
    })
}

fn expiration(words: &mut Words<'_>, now: TimeNs) -> Result<TimeSeconds, String> {
    if let Some(signed) = words.option("expiring") {
        return text::number(signed).map(TimeSeconds);
    }
    match words.option("until") {
        Some(after) => Ok(TimeSeconds(now.seconds().0 + duration(after)? / SECOND)),
        None => Ok(TimeSeconds(0)),
    }
}

fn timestamp(words: &mut Words<'_>, now: TimeNs) -> Result<TimeMs, String> {
    let now = now.millis().0;
    Ok(TimeMs(match words.option("stamped") {
        None => now,
        Some(offset) => match offset.strip_prefix('-') {
            Some(before) => now - duration(before)? / 1_000_000,
            None => now + duration(offset.trim_start_matches('+'))? / 1_000_000,
        },
    }))
}

const SECOND: u64 = 1_000_000_000;

/// `5ns`, `5ms`, `5s` or `5d` in nanoseconds.
pub(crate) fn duration(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ns" => 1,
        "ms" => 1_000_000,
        "s" => SECOND,
        "d" => 24 * 3_600 * SECOND,
        _ => return Err(format!("`{text}` is no time")),
    };
    Ok(text::number(digits)? * unit)
}
