//! Compares the view with the exchange's state.

use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::outside::OUTSIDE_INDEX;
use std::collections::BTreeMap;
use std::fmt::Debug;

use foretell_model::state::{self, OrderIdState, StateRecord};
use foretell_model::{
    AccountNumber, Command, CommandOutcome, Lots, MarketNumber, Micros, OrderId, OrderNumber,
    OrderStatus, Outcome, Payout, Price, RejectionReason, Sequence, Side, SlugDigest, Verdict,
};
use foretell_view::{OrderState, TokenBook, View};

use super::market_life;

/// Number of records of each kind: the view must not have more.
#[derive(Default)]
struct Seen {
    accounts: usize,
    keys: usize,
    events: usize,
    markets: usize,
    domains: usize,
    positions: usize,
    live: Vec<OrderNumber>,
    life: market_life::Seen,
    /// Yes ladders, summed from the orders: bid or ask, then price.
    ladders: BTreeMap<(MarketNumber, bool, Price), Lots>,
    /// Orders of each level.
    queues: BTreeMap<(MarketNumber, bool, Price), usize>,
}

/// Compares every record of the state with the view, which may contain nothing else.
pub(crate) fn compare_states(view: &View, records: &[StateRecord]) -> Result<(), String> {
    let mut seen = Seen::default();
    for record in records {
        compare_record(view, record, &mut seen).map_err(|what| format!("{what} of {record:?}"))?;
    }
    same("accounts", &view.accounts().count(), &seen.accounts)?;
    same("keys", &view.keys().count(), &seen.keys)?;
    same("events", &view.events().count(), &seen.events)?;
    same("markets", &view.markets().end(), &seen.markets)?;
    same("domains", &view.system().domains.len(), &seen.domains)?;
    let held = view
        .accounts()
        .iter()
        .map(|(account, _)| view.holdings().balances(account).count());
    same("positions", &held.sum(), &seen.positions)?;
    same("live orders", &view.orders().live_count(), &seen.live.len())?;
    compare_counts(view, &seen.live)?;
    compare_lists(view, &mut seen.live)?;
    market_life::compare_counts(view, &seen.life)?;
    compare_books(view, &seen.ladders)
}

fn compare_record(view: &View, record: &StateRecord, seen: &mut Seen) -> Result<(), String> {
    match *record {
        StateRecord::System(_) => compare_system(view, record),
        StateRecord::Domain(state::Domain { domain, separator }) => {
            seen.domains += 1;
            let known = view.system().domains.get(&domain);
            same(
                "separator",
                &known.map(|known| known.separator),
                &Some(separator),
            )
        }
        StateRecord::Account(_) => {
            seen.accounts += 1;
            compare_account(view, record)
        }
        StateRecord::Key(_) => {
            seen.keys += 1;
            compare_key(view, record)
        }
        StateRecord::Event(state::Event {
            event,
            id,
            frozen,
            questions,
            converted,
            outside,
        }) => {
            seen.events += 1;
            let (number, known) = view.events().by_id(id).ok_or("no event")?;
            same("number", &number, &event)?;
            same("frozen", &known.frozen, &frozen)?;
            same("questions", &known.questions.len(), &(questions as usize))?;
            same("converted", &known.converted, &converted)?;
            same("outside", &known.outside, &outside)
        }
        StateRecord::Market(_) => {
            seen.markets += 1;
            compare_market(view, record)
        }
        StateRecord::Position(state::Position {
            account,
            market,
            free,
            reserved,
        }) => {
            seen.positions += 1;
            let held = view.holdings().balance(account, market);
            same("free", &held.free, &free)?;
            same("reserved", &held.reserved, &reserved)
        }
        StateRecord::Order(_) => compare_order(view, record, seen),
        StateRecord::RememberedOrder(state::RememberedOrder {
            order,
            id,
            state,
            order_type,
            expiration,
            post_only,
            key,
            ..
        }) => {
            let known = view.orders().by_id(&id).ok_or("no order")?;
            let terms = (
                known.number,
                known.order_type,
                known.expiration,
                known.post_only,
                known.key,
            );
            same(
                "terms",
                &terms,
                &(order, order_type, expiration, post_only, key),
            )?;
            let known = match known.state {
                OrderState::Live | OrderState::Delayed => OrderIdState::Live,
                OrderState::Completed | OrderState::Closed(_) => OrderIdState::Done,
                OrderState::Killed(reason) => killed_as(reason),
            };
            let state = match state {
                OrderIdState::Killed { reason, .. } => killed_as(reason),
                other => other,
            };
            same("state", &known, &state)
        }
        StateRecord::RememberedReference(_)
        | StateRecord::QuoteGroup(_)
        | StateRecord::QuoteFill(_)
        | StateRecord::QuoteNet(_) => Ok(()),
        StateRecord::DelayedOrder(state::DelayedOrder { order, .. }) => {
            seen.live.push(order);
            compare_delayed(view, record)
        }
        StateRecord::Site(_)
        | StateRecord::Operator(_)
        | StateRecord::Terms(_)
        | StateRecord::Policy(_)
        | StateRecord::ListedWallet(_)
        | StateRecord::Proposal(_)
        | StateRecord::Accrued(_)
        | StateRecord::PendingWithdrawal(_)
        | StateRecord::Background(_) => market_life::compare(view, record, &mut seen.life),
    }
}

/// The fate of a killed order, without the minimum that it missed: the view does not keep it.
const fn killed_as(reason: RejectionReason) -> OrderIdState {
    OrderIdState::Killed {
        reason,
        minimum: Micros::ZERO,
    }
}

fn compare_system(view: &View, record: &StateRecord) -> Result<(), String> {
    let StateRecord::System(state::System {
        rules,
        sequence,
        time,
        mode,
        settings,
        collateral,
        fees,
        pending,
        branch,
        withdrawals_shut,
        ..
    }) = *record
    else {
        return Ok(());
    };
    let system = view.system();
    same("rules", &system.rules, &rules)?;
    same("sequence", &system.sequence, &sequence)?;
    same("time", &system.time, &time)?;
    same("mode", &system.mode, &mode)?;
    same("settings", &system.settings, &settings)?;
    same("collateral", &system.collateral, &collateral)?;
    same("fees", &system.fees, &fees)?;
    let restored = (system.branch, system.withdrawals_shut);
    same("restored", &restored, &(branch, withdrawals_shut))?;
    same("pending work", &system.work_pending, &pending.is_some())
}

fn compare_account(view: &View, record: &StateRecord) -> Result<(), String> {
    let StateRecord::Account(state::Account {
        account,
        wallet,
        owner,
        kind,
        closed_only,
        heartbeat,
        free,
        reserved,
        live_orders,
        // Only the core asks for it.
        withdrawal_valid_until: _,
    }) = *record
    else {
        return Ok(());
    };
    let (number, known) = view.accounts().by_wallet(&wallet).ok_or("no account")?;
    same("number", &number, &account)?;
    same("owner", &known.owner, &owner)?;
    same("kind", &known.kind, &kind)?;
    same("closed-only", &known.closed_only, &closed_only)?;
    same("heartbeat", &known.heartbeat, &heartbeat)?;
    same("free", &known.free, &free)?;
    same("reserved", &known.reserved, &reserved)?;
    same("total", &known.total(), &(free + reserved))?;
    let live = view.orders().live_count_of(account);
    same("live orders", &live, &(live_orders as usize))?;
    same(
        "wallet of its kind",
        &view.accounts().wallet_of_kind(owner, kind),
        &Some(account),
    )?;
    let bound_here = |wallet| view.accounts().get(wallet).map(|known| known.owner);
    let of_others = view
        .accounts()
        .wallets_of(account)
        .find(|&w| w != account && bound_here(w) != Some(account));
    same("wallets of others", &of_others, &None)
}

fn compare_key(view: &View, record: &StateRecord) -> Result<(), String> {
    let StateRecord::Key(state::Key {
        key,
        api_key,
        owner,
        nonce,
        read_only,
        live,
    }) = *record
    else {
        return Ok(());
    };
    let (number, known) = view.keys().by_text(&api_key).ok_or("no key")?;
    same("number", &number, &key)?;
    same("owner", &known.owner, &owner)?;
    same("nonce", &known.nonce, &nonce)?;
    same("read-only", &known.read_only, &read_only)?;
    same("live", &known.is_live(), &live)?;
    let listed = view.keys().of_owner(owner).any(|(number, _)| number == key);
    same("listed", &listed, &true)
}

fn compare_market(view: &View, record: &StateRecord) -> Result<(), String> {
    let StateRecord::Market(state::Market {
        market,
        condition,
        tokens,
        tick,
        tick_refines,
        minimum_size,
        fee,
        question,
        index,
        state,
        holds,
        payout,
        archived,
        supply,
        slug,
        // Only the core compares it.
        content: _,
    }) = *record
    else {
        return Ok(());
    };
    let known = view.markets().get(market).ok_or("no market")?;
    same("condition", &known.condition, &condition)?;
    same("tokens", &known.tokens, &tokens)?;
    let is_outside = question.is_some_and(|(_, place)| place == OUTSIDE_INDEX);
    let is_named = !is_outside || payout == Some(Payout::Yes);
    let found = view.markets().by_condition(&condition);
    same(
        "number",
        &found.map(|(number, _)| number),
        &is_named.then_some(market),
    )?;
    for (token, &outcome) in tokens.iter().zip(Outcome::ALL) {
        same(
            "token",
            &view.markets().by_token(token),
            &is_named.then_some((market, outcome)),
        )?;
    }
    same(
        "tick",
        &(known.tick, known.tick_refines),
        &(tick, tick_refines),
    )?;
    same("minimum", &known.minimum_size, &minimum_size)?;
    same("fee", &known.fee, &fee)?;
    same("question", &known.question, &question)?;
    if let Some((event, index)) = question.filter(|_| !is_outside) {
        let listed = view
            .events()
            .get(event)
            .and_then(|event| event.questions.get(index as usize));
        same("listed", &listed, &Some(&market))?;
    }
    same("index", &known.index, &index)?;
    same("state", &known.state, &state)?;
    same("holds", &known.holds, &holds)?;
    same("payout", &known.payout, &payout)?;
    same("archived", &known.archived, &archived)?;
    same("slug", &known.has_slug, &(slug != SlugDigest::ZERO))?;
    same("supply", &known.supply, &supply)
}

fn compare_order(view: &View, record: &StateRecord, seen: &mut Seen) -> Result<(), String> {
    let StateRecord::Order(state::Order {
        order,
        id,
        account,
        market,
        outcome,
        side,
        price,
        lots,
        expiration,
        // The view shows quotes as the orders that they are.
        group: _,
    }) = *record
    else {
        return Ok(());
    };
    let known = view.orders().live(order).ok_or("no order")?;
    same("id", &known.id, &id)?;
    same("state", &known.state, &OrderState::Live)?;
    same("account", &known.account, &account)?;
    same("token", &(known.market, known.outcome), &(market, outcome))?;
    same("side", &known.side, &side)?;
    same("price", &known.price, &price)?;
    same("left", &known.left, &lots)?;
    same("expiration", &known.expiration, &expiration)?;
    let whole = known.left + known.matched;
    same(
        "left and matched",
        &whole.micro_shares(),
        &known.original_size(),
    )?;

    seen.live.push(order);
    let (bid, yes_price) = match outcome {
        Outcome::Yes => (side == Side::Buy, price),
        Outcome::No => (side == Side::Sell, price.complement()),
    };
    // Records of orders come by side, price and arrival.
    let level = seen.ladders.entry((market, bid, yes_price)).or_default();
    let ahead = seen.queues.entry((market, bid, yes_price)).or_default();
    let is_known = *ahead <= MAX_VISITED_ORDERS;
    let expected = is_known.then_some(*level);
    same("queue ahead", &view.queue_ahead(known), &expected)?;
    *ahead += 1;
    *level += lots;
    Ok(())
}

fn compare_delayed(view: &View, record: &StateRecord) -> Result<(), String> {
    let StateRecord::DelayedOrder(state::DelayedOrder {
        order,
        id,
        account,
        market,
        outcome,
        side,
        order_type,
        price,
        lots,
        expiration,
        due,
        reserved,
        cancel,
        ..
    }) = *record
    else {
        return Ok(());
    };
    let known = view.orders().live(order).ok_or("no order")?;
    same("id", &known.id, &id)?;
    same("state", &known.state, &OrderState::Delayed)?;
    same("account", &known.account, &account)?;
    same("token", &(known.market, known.outcome), &(market, outcome))?;
    same("side", &known.side, &side)?;
    same("type", &known.order_type, &order_type)?;
    same("price", &known.price, &price)?;
    same("left", &known.left, &lots)?;
    same("expiration", &known.expiration, &expiration)?;
    let delay = view.orders().delay_of(order).ok_or("no delay")?;
    same("due", &delay.due, &due)?;
    same("reserved", &delay.reserved, &reserved)?;
    same("cancel", &delay.cancel, &cancel)
}

/// Checks every market's count of live orders.
fn compare_counts(view: &View, live: &[OrderNumber]) -> Result<(), String> {
    let mut counts: BTreeMap<MarketNumber, usize> = BTreeMap::new();
    for &number in live {
        let order = view.orders().live(number).ok_or("no live order")?;
        *counts.entry(order.market).or_default() += 1;
    }
    for (market, _) in view.markets().iter() {
        let count = counts.get(&market).copied().unwrap_or_default();
        same(
            "orders of a market",
            &view.orders().live_count_in(market),
            &count,
        )?;
    }
    Ok(())
}

/// Checks that the accounts' lists contain every live order once, by number.
fn compare_lists(view: &View, live: &mut [OrderNumber]) -> Result<(), String> {
    let mut listed = Vec::new();
    for (number, account) in view
        .accounts()
        .iter()
        .filter(|(number, account)| account.owner == *number)
    {
        let orders = view.live_orders_of_owner(number);
        let rising = orders.is_sorted_by(|one, next| one.number < next.number);
        same("order of the orders", &rising, &true)?;
        let owned = |wallet: AccountNumber| view.accounts().get(wallet).map(|wallet| wallet.owner);
        let others = orders
            .iter()
            .find(|order| owned(order.account) != Some(account.owner));
        same("orders of others", &others.map(|order| order.number), &None)?;
        listed.extend(orders.iter().map(|order| order.number));
    }
    listed.sort_unstable();
    live.sort_unstable();
    same("listed orders", &&*listed, &&*live)
}

/// Checks that every book is the sum of its orders, from either token.
fn compare_books(
    view: &View,
    ladders: &BTreeMap<(MarketNumber, bool, Price), Lots>,
) -> Result<(), String> {
    for (market, _) in view.markets().iter() {
        let side = |bid: bool| -> Vec<(Price, Lots)> {
            let range = ladders.range((market, bid, Price(0))..=(market, bid, Price(u16::MAX)));
            range.map(|(&(_, _, price), &lots)| (price, lots)).collect()
        };
        let mirrored = |ladder: &[(Price, Lots)]| -> Vec<(Price, Lots)> {
            let levels = ladder.iter().rev();
            levels
                .map(|&(price, lots)| (price.complement(), lots))
                .collect()
        };
        let (bids, asks) = (side(true), side(false));
        let book = view.books().get(market).ok_or("no book")?;
        compare_book("Yes book", book.of(Outcome::Yes), &bids, &asks)?;
        compare_book(
            "No book",
            book.of(Outcome::No),
            &mirrored(&asks),
            &mirrored(&bids),
        )?;
    }
    Ok(())
}

/// Both ladders are given by ascending price.
fn compare_book(
    what: &str,
    book: TokenBook<'_>,
    bids: &[(Price, Lots)],
    asks: &[(Price, Lots)],
) -> Result<(), String> {
    let plain = |level: foretell_view::Level| (level.price, level.lots);
    same(
        what,
        &&*book.bids().rev().map(plain).collect::<Vec<_>>(),
        &bids,
    )?;
    same(what, &&*book.asks().map(plain).collect::<Vec<_>>(), &asks)?;
    same(what, &book.best_bid(), &bids.last().map(|level| level.0))?;
    same(what, &book.best_ask(), &asks.first().map(|level| level.0))
}

/// Compares the response to a command with the view's later record of it. `released` is the order
/// that the frame released.
pub(crate) fn compare_answer(
    view: &View,
    sequence: Sequence,
    command: &Command,
    released: Option<OrderId>,
    verdict: &Verdict,
) -> Result<(), String> {
    match *verdict {
        Verdict::Applied(CommandOutcome::Order(result)) => {
            let placed = match (command, released) {
                (Command::PlaceOrder(placed), _) => placed.order,
                (Command::AdvanceTime, Some(released)) => released,
                _ => return Err("an order was answered that nobody placed".to_owned()),
            };
            let order = view.orders().by_id(&placed).ok_or("no order")?;
            if released.is_none() {
                same("number", &order.number, &OrderNumber::of(sequence, 0))?;
            }
            let slots: Vec<_> = view.fills_taken_by(&order).collect();
            same("fills", &slots.len(), &(result.fills as usize))?;
            let trades: Vec<_> = slots.iter().filter_map(|&slot| view.trade(slot)).collect();
            same(
                "lots",
                &trades.iter().map(|trade| trade.lots).sum(),
                &result.lots,
            )?;
            same(
                "value",
                &trades.iter().map(|trade| trade.taker_value()).sum(),
                &result.value,
            )?;
            same(
                "fee",
                &trades.iter().map(|trade| trade.fee).sum(),
                &result.fee,
            )?;
            same(
                "matched",
                &(order.matched, order.value, order.fee),
                &(result.lots, result.value, result.fee),
            )?;
            match result.status {
                OrderStatus::Live => same("state", &order.state, &OrderState::Live),
                OrderStatus::Delayed => same("state", &order.state, &OrderState::Delayed),
                OrderStatus::Matched => same("matched", &order.matched.is_zero(), &false),
                OrderStatus::Killed(refusal) => {
                    let killed = OrderState::Killed(refusal.reason);
                    same("state", &order.state, &killed)
                }
                OrderStatus::Unmatched => same(
                    "closed",
                    &matches!(order.state, OrderState::Closed(_)),
                    &true,
                ),
            }
        }
        Verdict::Applied(CommandOutcome::Cancelled { orders }) => {
            let ended = view.orders().ended_between(sequence, sequence).count();
            same("ended orders", &ended, &(orders as usize))
        }
        _ => Ok(()),
    }
}

pub(super) fn same<T: PartialEq + Debug>(what: &str, view: &T, exchange: &T) -> Result<(), String> {
    if view == exchange {
        return Ok(());
    }
    Err(format!(
        "{what} differs\n  view:     {view:?}\n  exchange: {exchange:?}\n "
    ))
}
