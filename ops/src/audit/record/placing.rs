//! A placed order and what became of it: that it was allowed, that every fill was with the order
//! that stood first, at its price, for as much as could be, and that nothing was left out.

use foretell_model::limits::MAX_TOUCHED;
use foretell_model::{
    CloseReason, Event, Fill, FrameRef, Lots, MarketState, MatchKind, OrderNumber, OrderType,
    PlaceOrder, Price, Refusal, RefusalReason, Side, SystemMode, Tick,
};

use super::Record;
use super::books::{Resting, in_yes};
use super::broken::{Broken, Checked, must};
use super::registry::Market;
use super::taker::{Taker, is_expired};

/// What the frame of a placed order has shown so far.
struct Placing<'a> {
    taker: Taker<'a>,
    /// Resting orders it closed on the way.
    closed: usize,
    /// Those of them that no fill has followed yet.
    closed_since_fill: usize,
    closed_own: bool,
    is_extreme: bool,
}

impl Record {
    /// Checks the frame of a placed order and takes in what it says.
    pub(super) fn place(&mut self, frame: &FrameRef<'_>, order: &PlaceOrder) -> Checked {
        let market = *self.registry.market(order.market)?;
        self.check_admission(frame, order, &market)?;
        self.ids
            .use_once(order.order, order.timestamp, frame.time)?;
        let owner = self.registry.account(order.account)?.owner;
        self.id_queue.admit(
            (owner, order.timestamp),
            frame.time,
            self.ids.settings(),
            self.rules,
        )?;
        let taker = Taker::new(
            OrderNumber(frame.sequence.0),
            order,
            (market.tick, market.fee),
            (frame.time, self.ids.settings().gtd_safety_seconds),
            self.ledger.purse(order.account).free,
        )?;
        self.check_size(order, &market, &taker)?;
        let (end, rest, fills) = split_events(frame.events)?;
        if let Event::OrderKilled { reason, details } = *end {
            must(fills.is_empty() && rest.is_none(), || {
                "a killed order has other events".to_owned()
            })?;
            return self.check_killed(&taker, Refusal { reason, details });
        }
        must(
            order.order_type != OrderType::Fok || taker.fills_whole(&self.books),
            || "a FOK that the book did not fill whole was executed".to_owned(),
        )?;
        let mut placing = Placing {
            taker,
            closed: 0,
            closed_since_fill: 0,
            closed_own: false,
            is_extreme: false,
        };
        for event in fills {
            match event {
                Event::Fill(fill) => self.fill(&mut placing, fill)?,
                _ => self.close_on_the_way(&mut placing, event)?,
            }
        }
        self.check_marks(&placing)?;
        self.finish(&placing, end)?;
        self.check_tick(&placing, &market, rest)
    }

    /// Everything that may refuse an order whatever the book holds.
    fn check_admission(
        &self,
        frame: &FrameRef<'_>,
        order: &PlaceOrder,
        market: &Market,
    ) -> Checked {
        let account = self.registry.account(order.account)?;
        let key = self.registry.key(order.key)?;
        must(key.may_trade && key.owner == account.owner, || {
            format!(
                "key {} may not trade for account {}",
                order.key, order.account
            )
        })?;
        must(market.state == MarketState::Active, || {
            format!(
                "an order in market {}, which is {:?}",
                order.market, market.state
            )
        })?;
        let mode = self.mode;
        let takes = match mode {
            SystemMode::Running => true,
            SystemMode::PostOnly => order.post_only,
            SystemMode::CancelOnly | SystemMode::Paused => false,
        };
        must(takes, || format!("an order while the system was {mode:?}"))?;
        must(!account.closed_only || order.side == Side::Sell, || {
            format!("a BUY of account {}, which is closed-only", order.account)
        })?;
        must(!order.post_only || order.order_type.may_rest(), || {
            "a post-only order that can not rest".to_owned()
        })?;
        let safety = self.ids.settings().gtd_safety_seconds;
        let is_valid = match order.order_type {
            OrderType::Gtd => {
                order.expiration.0 != 0 && !is_expired(order.expiration, frame.time, safety)
            }
            _ => order.expiration.0 == 0,
        };
        must(is_valid, || {
            format!("an order with expiration {}", order.expiration.0)
        })
    }

    fn check_size(&self, order: &PlaceOrder, market: &Market, taker: &Taker<'_>) -> Checked {
        let is_enough = if order.order_type.may_rest() {
            taker.lots_left >= market.minimum_size.0
        } else {
            order.side == Side::Sell || !self.is_small(order)
        };
        must(is_enough, || "an order below the smallest size".to_owned())
    }

    /// Below what a BUY that trades at once must be worth.
    fn is_small(&self, order: &PlaceOrder) -> bool {
        order.side == Side::Buy && order.maker_amount < self.ids.settings().marketable_minimum.0
    }

    /// One fill: with the order that stood first, within both limits, for all there was.
    fn fill(&mut self, placing: &mut Placing<'_>, fill: &Fill) -> Checked {
        let taker = &mut placing.taker;
        let maker = *self.books.get(fill.maker_order)?;
        let makers_side = !taker.is_bid();
        let first = self.books.side(taker.order.market, makers_side).next();
        must(
            first.is_some_and(|(number, _)| number == fill.maker_order),
            || {
                let (first, at) =
                    first.map_or((0, 0), |(number, order)| (number.0, order.yes_price().0));
                format!(
                    "traded with order {} at {} while order {first} at {at} stood before it",
                    fill.maker_order,
                    maker.yes_price().0
                )
            },
        )?;
        must(
            maker.account == fill.maker && fill.yes_price == maker.yes_price(),
            || {
                format!(
                    "a fill of order {} names another account or price",
                    fill.maker_order
                )
            },
        )?;
        must(taker.steps_over(&maker).is_none(), || {
            format!(
                "traded with order {}, which is its own or expired",
                fill.maker_order
            )
        })?;
        must(taker.reaches(&maker), || {
            format!(
                "a fill at {} is worse than the signed limit",
                fill.yes_price.0
            )
        })?;
        must(
            !taker.fee_stopped && fill.kind == kind_of(taker, &maker),
            || format!("a fill with order {} of another kind", fill.maker_order),
        )?;
        let take = taker.take_of(&maker);
        must(
            !take.lots.is_zero() && take.lots == fill.lots && take.fee == fill.fee,
            || {
                format!(
                    "{} lots with a fee of {} were traded, {} with {} were due",
                    fill.lots.0, fill.fee.0, take.lots.0, take.fee.0
                )
            },
        )?;
        let left = Lots(maker.lots.0 - take.lots.0);
        must(left == fill.maker_left, || {
            format!("{} lots are left of order {}", left.0, fill.maker_order)
        })?;
        let own_price = in_yes(fill.yes_price, taker.order.outcome);
        let party = taker.party();
        taker.took(take, &maker);
        match fill.kind {
            MatchKind::Complementary => {}
            MatchKind::Mint => self.ledger.create_sets(maker.market, take.lots),
            MatchKind::Merge => self.ledger.destroy_sets(maker.market, take.lots)?,
        }
        self.ledger
            .trade_free(party, take.lots, own_price, take.fee)?;
        self.ledger
            .trade_reserved(maker.party(), take.lots, maker.price)?;
        self.books.fill(fill.maker_order, left);
        placing.closed_since_fill = 0;
        placing.is_extreme |= fill.yes_price.0 > 9_600 || fill.yes_price.0 < 400;
        Ok(())
    }

    /// An order of its own, or an expired one, that stood first.
    fn close_on_the_way(&mut self, placing: &mut Placing<'_>, event: &Event) -> Checked {
        let Event::OrderClosed { order, reason, .. } = *event else {
            return Err(Broken::rule(format!(
                "an order's frame holds {event:?} before its end"
            )));
        };
        let taker = &placing.taker;
        let first = self.books.side(taker.order.market, !taker.is_bid()).next();
        let is_due = first.is_some_and(|(number, resting)| {
            number == order && taker.reaches(resting) && taker.steps_over(resting) == Some(reason)
        });
        must(is_due, || {
            format!("order {order} is closed on the way as {reason:?}")
        })?;
        self.close(event)?;
        placing.closed += 1;
        placing.closed_since_fill += 1;
        placing.closed_own |= reason == CloseReason::SelfTrade;
        Ok(())
    }

    /// What holds of every order that was not killed.
    fn check_marks(&self, placing: &Placing<'_>) -> Checked {
        let (taker, order) = (&placing.taker, placing.taker.order);
        let traded = taker.fills > 0 || placing.closed_own;
        if order.order_type.may_rest() {
            must(
                !traded || !(order.post_only || self.is_small(order)),
                || "a post-only order, or one below the marketable minimum, crossed".to_owned(),
            )?;
        } else {
            must(taker.fills > 0 && placing.closed_since_fill == 0, || {
                "a FOK or FAK that traded nothing, or closed orders after its last fill".to_owned()
            })?;
        }
        must(taker.fills + placing.closed <= MAX_TOUCHED, || {
            "one command touched too many orders".to_owned()
        })
    }

    /// How the order ends: it must have taken everything within its limit, or say why not.
    fn finish(&mut self, placing: &Placing<'_>, end: &Event) -> Checked {
        let (taker, order) = (&placing.taker, placing.taker.order);
        let touched = taker.fills + placing.closed;
        let next = taker.next_maker(&self.books, touched);
        let next = next.as_ref();
        match *end {
            Event::OrderRested { lots, price } => {
                let nothing_left = taker.reachable(&self.books).next().is_none();
                let as_signed = price == taker.limit && lots.0 == taker.lots_left;
                must(
                    order.order_type.may_rest() && as_signed && !lots.is_zero(),
                    || format!("{} lots rest at {}", lots.0, price.0),
                )?;
                must(nothing_left, || {
                    "it rests although an order within its limit does too".to_owned()
                })?;
                self.rest(taker, lots, price)
            }
            Event::OrderCompleted => {
                let is_fok = order.order_type == OrderType::Fok;
                let by_fee = is_fok && taker.is_fee_stopped(next) && taker.has_enough();
                must(by_fee || taker.is_full(next), || {
                    "it counts as filled and is not".to_owned()
                })
            }
            Event::OrderClosed {
                account,
                lots,
                reason,
                ..
            } => {
                let left = if taker.has_budget() {
                    0
                } else {
                    taker.lots_left
                };
                must(account == order.account && lots.0 == left, || {
                    format!("{} lots of its rest are closed, {left} are left", lots.0)
                })?;
                let is_why = match reason {
                    CloseReason::FakRest => {
                        let is_open = next.is_none() && touched < MAX_TOUCHED;
                        order.order_type == OrderType::Fak && is_open && !taker.is_full(None)
                    }
                    CloseReason::FeeStopped => {
                        order.order_type == OrderType::Fak && taker.is_fee_stopped(next)
                    }
                    CloseReason::TooManyFills => {
                        let rests = order.order_type.may_rest();
                        !taker.is_full(None) && (!rests || touched == MAX_TOUCHED)
                    }
                    _ => false,
                };
                must(is_why, || {
                    format!("its rest is closed as {reason:?}, which is not so")
                })
            }
            _ => Err(Broken::rule(format!("an order ends with {end:?}"))),
        }
    }

    fn rest(&mut self, taker: &Taker<'_>, lots: Lots, price: Price) -> Checked {
        let order = taker.order;
        self.ledger.reserve(taker.party(), lots, price)?;
        let resting = Resting {
            id: order.order,
            account: order.account,
            market: order.market,
            outcome: order.outcome,
            side: order.side,
            price,
            lots,
            expiration: order.expiration,
        };
        self.books.insert(taker.number, resting);
        Ok(())
    }

    /// The tick becomes finer exactly when a fill near 0 or 1 says so (protocol 1).
    fn check_tick(
        &mut self,
        placing: &Placing<'_>,
        market: &Market,
        event: Option<&Event>,
    ) -> Checked {
        let refines = placing.is_extreme && market.tick_refines && market.tick == Tick::Hundredth;
        let due = refines.then_some(Event::TickSet {
            market: placing.taker.order.market,
            tick: Tick::Thousandth,
        });
        must(event == due.as_ref(), || {
            format!("{due:?} is due behind it, {event:?} is recorded")
        })
    }

    /// A kill must be what the book demanded, and (rules 2) one for its value says which and what was due.
    fn check_killed(&self, taker: &Taker<'_>, why: Refusal) -> Checked {
        let order = taker.order;
        let rests = order.order_type.may_rest();
        let mut details = [0; 2];
        let is_why = match why.reason {
            RefusalReason::FokNotFilled => {
                order.order_type == OrderType::Fok && !taker.fills_whole(&self.books)
            }
            RefusalReason::FakNoMatch => {
                let next = taker.next_maker(&self.books, 0);
                let takes = next.is_some_and(|maker| !taker.take_of(&maker).lots.is_zero());
                order.order_type == OrderType::Fak && !takes
            }
            RefusalReason::CrossesBook => order.post_only && self.crosses(taker),
            RefusalReason::MarketableBelowMinimum => {
                if self.rules >= 2 {
                    let minimum = self.ids.settings().marketable_minimum;
                    details = [order.maker_amount, minimum.0];
                }
                rests && !order.post_only && self.is_small(order) && self.crosses(taker)
            }
            _ => false,
        };
        must(is_why, || {
            format!("it was killed as {:?}, which is not so", why.reason)
        })?;
        must(why.details == details, || {
            format!("it was killed with {:?}, {details:?} were due", why.details)
        })
    }

    /// Whether anything that has not expired rests within its limit, or too much that has.
    fn crosses(&self, taker: &Taker<'_>) -> bool {
        let mut makers = taker.reachable(&self.books).enumerate();
        makers.any(|(met, (_, maker))| {
            met >= MAX_TOUCHED || taker.steps_over(maker) != Some(CloseReason::Expired)
        })
    }
}

/// How two orders meet follows from their tokens and sides alone.
fn kind_of(taker: &Taker<'_>, maker: &Resting) -> MatchKind {
    match (taker.order.outcome == maker.outcome, taker.order.side) {
        (true, _) => MatchKind::Complementary,
        (false, Side::Buy) => MatchKind::Mint,
        (false, Side::Sell) => MatchKind::Merge,
    }
}

/// The event an order ends with, what may follow it, and what comes before.
fn split_events(events: &[Event]) -> Checked<(&Event, Option<&Event>, &[Event])> {
    match events {
        [before @ .., end, tick @ Event::TickSet { .. }] => Ok((end, Some(tick), before)),
        [before @ .., end] => Ok((end, None, before)),
        [] => Err(Broken::rule("a placed order without an event")),
    }
}
