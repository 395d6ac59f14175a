//! What the user channel shows of one frame. Each step names the keys whose holders see it.

use std::collections::BTreeSet;
use std::iter;

use foretell_model::{AccountNumber, ApiKey, Event, KeyNumber, Sequence};
use foretell_view::{Change, FrameChanges, Order, OrderState, TradeId, TradeSlot, View};
use foretell_wire::accounts::withdrawals::WithdrawalRow;
use foretell_wire::orders::trade::TradeFacts;
use foretell_wire::orders::user_order::OrderFacts;
use foretell_wire::streams::user::OrderEvent;

use crate::catalog::descriptions::Descriptions;
use crate::render::order_json::order_facts;
use crate::render::trade_json::trade_facts;
use crate::render::withdrawal_json;
use crate::streams::subscription::demand::Watched;

/// Newest trades that an `order` message names.
const NAMED_TRADES: usize = 100;

/// The user channel's part of a frame.
#[derive(Debug, Default)]
pub(crate) struct UserFacts {
    /// In the order of the messages.
    pub(crate) steps: Vec<UserStep>,
    /// Wanted keys that the frame revoked.
    pub(crate) revoked: Vec<KeyNumber>,
}

/// One step of an order or trade.
#[derive(Debug)]
pub(crate) enum UserStep {
    /// A message about an order.
    Order(Box<OrderStep>),
    /// A trade: matched now, confirmed later.
    Trade(Box<TradeStep>),
    /// A withdrawal that changed.
    Withdrawal(Box<WithdrawalStep>),
}

/// A withdrawal after the frame, and the keys of its wallet's owner.
#[derive(Debug)]
pub(crate) struct WithdrawalStep {
    pub(crate) keys: Vec<KeyNumber>,
    pub(crate) row: WithdrawalRow,
}

/// A message about an order.
#[derive(Debug)]
pub(crate) struct OrderStep {
    pub(crate) keys: Vec<KeyNumber>,
    /// Without `trades`.
    pub(crate) facts: OrderFacts,
    pub(crate) trades: Vec<TradeId>,
    pub(crate) event: OrderEvent,
}

/// A trade, and the keys to whose connections it is sent.
#[derive(Debug)]
pub(crate) struct TradeStep {
    /// With all fills, without receipt, and with the zero key on every side.
    pub(crate) facts: TradeFacts,
    /// The owner of the maker of each fill.
    pub(crate) makers: Vec<AccountNumber>,
    pub(crate) readers: Vec<TradeReader>,
}

/// One reader of a trade.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TradeReader {
    pub(crate) key: KeyNumber,
    pub(crate) api_key: ApiKey,
    pub(crate) owner: AccountNumber,
    pub(crate) is_taker: bool,
}

impl UserFacts {
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.revoked.is_empty()
    }

    pub(crate) fn of(
        view: &View,
        descriptions: &Descriptions,
        watched: &Watched,
        changes: &FrameChanges,
    ) -> Self {
        let mut facts = Self::default();
        if !watched.has_keys() {
            return facts;
        }
        let source = Source {
            view,
            descriptions,
            watched,
        };
        let is_killed = |change: &Change| match change {
            Change::Order(order) => matches!(order.state, OrderState::Killed(_)),
            _ => false,
        };
        let is_killed = changes.changes.iter().any(is_killed);
        let is_release = |change: &Change| matches!(change, Change::Released(_));
        let is_release = changes.changes.iter().any(is_release);
        let mut has_trade = false;
        for change in &changes.changes {
            match change {
                Change::Entered(order) if !is_killed => {
                    let mut order = order.clone();
                    order.state = arrival_state(changes);
                    (facts.steps).extend(source.order(&order, OrderEvent::Placement));
                }
                Change::Trade { slot, maker } => {
                    // The message of the first fill has the others.
                    if !std::mem::replace(&mut has_trade, true) {
                        let step = source.trade(*slot);
                        (facts.steps).extend(step.map(|step| UserStep::Trade(Box::new(step))));
                    }
                    (facts.steps).extend(source.order(maker, OrderEvent::Update));
                }
                Change::Order(order) => {
                    let event = match order.state {
                        // The message of its placement shows that it is delayed.
                        OrderState::Delayed => continue,
                        OrderState::Live if order.matched.is_zero() && !is_release => continue,
                        OrderState::Live | OrderState::Completed => OrderEvent::Update,
                        OrderState::Closed(_) | OrderState::Killed(_) => OrderEvent::Cancellation,
                    };
                    facts.steps.extend(source.order(order, event));
                }
                Change::Decreased(order) => {
                    facts.steps.extend(source.order(order, OrderEvent::Update));
                }
                Change::Event(Event::WithdrawalRequested(asked)) => {
                    (facts.steps).extend(source.withdrawal(asked.account, view.sequence()));
                }
                Change::Event(Event::WithdrawalClaimed { withdrawal }) => {
                    let waiting = view.withdrawals().waiting().get(*withdrawal);
                    let account = waiting.map(|it| it.account);
                    let step = account.and_then(|account| source.withdrawal(account, *withdrawal));
                    facts.steps.extend(step);
                }
                Change::Event(Event::WithdrawalReleased(ended)) => {
                    (facts.steps).extend(source.withdrawal(ended.account, ended.asked));
                }
                Change::Event(Event::KeyRevoked { key }) => {
                    let owner = view.keys().get(*key).map(|key| key.owner);
                    let is_wanted = owner.is_some_and(|it| watched.keys_of(it).contains(key));
                    facts.revoked.extend(is_wanted.then_some(*key));
                }
                _ => {}
            }
        }
        facts
    }
}

/// The trade of a fill as the watched keys see it; `None` when none of them wants it.
pub(crate) fn trade_step(
    view: &View,
    descriptions: &Descriptions,
    watched: &Watched,
    fill: TradeSlot,
) -> Option<TradeStep> {
    let source = Source {
        view,
        descriptions,
        watched,
    };
    source.trade(fill)
}

/// How a placement shows the frame's order: it waits, or it is live.
fn arrival_state(changes: &FrameChanges) -> OrderState {
    let waits = |change: &Change| match change {
        Change::Order(order) => order.state == OrderState::Delayed,
        _ => false,
    };
    if changes.changes.iter().any(waits) {
        OrderState::Delayed
    } else {
        OrderState::Live
    }
}

/// Where the facts come from.
struct Source<'a> {
    view: &'a View,
    descriptions: &'a Descriptions,
    watched: &'a Watched,
}

impl Source<'_> {
    fn owner_of(&self, account: AccountNumber) -> Option<AccountNumber> {
        Some(self.view.accounts().get(account)?.owner)
    }

    /// The wanted keys of an owner; `None` without any.
    fn keys_of(&self, owner: AccountNumber) -> Option<Vec<KeyNumber>> {
        // In a replay, `watched` may have keys that this view does not know yet.
        let keys = self.watched.keys_of(owner).iter().copied();
        let keys: Vec<_> = keys
            .filter(|key| self.view.keys().get(*key).is_some())
            .collect();
        (!keys.is_empty()).then_some(keys)
    }

    /// `None` when no key wants it.
    fn withdrawal(&self, account: AccountNumber, number: Sequence) -> Option<UserStep> {
        let keys = self.keys_of(self.owner_of(account)?)?;
        let changed = self.view.withdrawals().find(account, number)?;
        let row = withdrawal_json::row(self.view, &changed)?;
        Some(UserStep::Withdrawal(Box::new(WithdrawalStep { keys, row })))
    }

    /// `None` when no key wants it.
    fn order(&self, order: &Order, event: OrderEvent) -> Option<UserStep> {
        let owner = self.owner_of(order.account)?;
        let keys = self.keys_of(owner)?;
        let mut facts = order_facts(self.view, self.descriptions, order)?;
        // A wallet may have changed its owner since.
        if self.view.keys().get(order.key)?.owner != owner {
            facts.owner = ApiKey::ZERO;
        }
        let trades = self.view.trades_of_order(order, NAMED_TRADES);
        let trades = trades.iter().filter_map(|&slot| self.view.trade_id(slot));
        Some(UserStep::Order(Box::new(OrderStep {
            keys,
            facts,
            trades: trades.collect(),
            event,
        })))
    }

    /// `None` when no key wants it.
    fn trade(&self, fill: TradeSlot) -> Option<TradeStep> {
        let fills: Vec<_> = self.view.fills_of_trade(fill).collect();
        let taker = self.owner_of(fills.first()?.taker.account)?;
        let makers = fills.iter().map(|fill| self.owner_of(fill.maker.account));
        let makers: Vec<_> = makers.collect::<Option<_>>()?;
        let others: BTreeSet<_> = makers.iter().filter(|maker| **maker != taker).collect();
        let others = others.into_iter().map(|maker| (*maker, false));
        let owners = iter::once((taker, true)).chain(others);
        let readers = owners.flat_map(|(owner, is_taker)| self.readers(owner, is_taker));
        let readers: Vec<_> = readers.collect();
        if readers.is_empty() {
            return None;
        }
        Some(TradeStep {
            facts: trade_facts(self.view, self.descriptions, None, &fills)?,
            makers,
            readers,
        })
    }

    fn readers(&self, owner: AccountNumber, is_taker: bool) -> impl Iterator<Item = TradeReader> {
        self.watched.keys_of(owner).iter().filter_map(move |&key| {
            Some(TradeReader {
                key,
                api_key: self.view.keys().get(key)?.api_key,
                owner,
                is_taker,
            })
        })
    }
}
