//! Restores positions, orders that rest or wait, remembered ids and references.

use foretell_model::state::{self, OrderIdState};
use foretell_model::{CommandKind, CommandOutcome, Settings, Side};

use crate::delayed_queue::DelayedOrder;
use crate::id_memory::OrderTerms;
use crate::idempotency::{ActionContent, UsedReference};
use crate::order_pool::{Order, in_yes};
use crate::positions::Position;
use crate::restore::{Put, Restorer, check};
use crate::slab::NONE;

impl Restorer {
    pub(super) fn put_position(&mut self, record: &state::Position) {
        let positions = &mut self.exchange.positions;
        let slot = positions.open(record.account, record.market);
        positions[slot] = Position {
            free: record.free,
            reserved: record.reserved,
            account: record.account,
            market: record.market,
        };
    }

    /// Orders of one price come in order of arrival.
    pub(super) fn put_order(&mut self, record: &state::Order) -> Put {
        let order = self.unlinked(record)?;
        let exchange = &mut self.exchange;
        let slot = exchange.orders.insert(order);
        let ladder = &mut exchange.markets[record.market].ladder;
        ladder.append(slot, &mut exchange.orders);
        if record.expiration.0 != 0 {
            exchange.schedule_expiry(slot);
        }
        self.live.push((record.order, slot));
        if let Some(group) = record.group {
            self.quotes.push((record.order, slot, group));
        }
        Ok(())
    }

    pub(super) fn put_delayed(&mut self, record: &state::DelayedOrder) -> Put {
        let order = self.unlinked(&state::Order {
            order: record.order,
            id: record.id,
            account: record.account,
            market: record.market,
            outcome: record.outcome,
            side: record.side,
            price: record.price,
            lots: record.lots,
            expiration: record.expiration,
            group: None,
        })?;
        let delayed = DelayedOrder {
            order: NONE,
            number: record.order,
            market: record.market,
            order_type: record.order_type,
            budget: record.budget,
            minimum_lots: record.minimum_lots,
            due: record.due,
            fee: record.fee,
            rebate_ppm: record.rebate_ppm,
            reserved: record.reserved,
            cancel: record.cancel,
        };
        let slot = self.exchange.add_delayed(order, delayed);
        self.live.push((record.order, slot));
        Ok(())
    }

    /// An order that nothing points to yet: of a SELL, with the position whose shares it reserves.
    fn unlinked(&self, record: &state::Order) -> Put<Order> {
        let tick = self.market(record.market)?.ladder.tick();
        self.check_account(record.account)?;
        check(record.price.fits(tick), "price is off the tick grid")?;
        let positions = &self.exchange.positions;
        let position = match record.side {
            Side::Buy => NONE,
            Side::Sell => positions
                .find(record.account, record.market)
                .ok_or("the seller has no shares")?,
        };
        Ok(Order {
            lots: record.lots,
            number: record.order,
            expiration: record.expiration,
            account: record.account,
            market: record.market,
            position,
            id_slot: NONE,
            group: NONE,
            next: NONE,
            previous: NONE,
            account_next: NONE,
            account_previous: NONE,
            yes_price: in_yes(record.price, record.outcome),
            outcome: record.outcome,
            side: record.side,
        })
    }

    /// Ids come by number, which restores the order of the expiry queue within a second.
    pub(super) fn put_order_id(&mut self, record: &state::RememberedOrder) -> Put {
        let exchange = &mut self.exchange;
        let owner = exchange.keys.owner_of(record.key).ok_or("unknown key")?;
        let terms = OrderTerms {
            expiration: record.expiration,
            key: record.key,
            order_type: record.order_type,
            post_only: record.post_only,
        };
        let named = (exchange.ids.hash(&record.id), record.id);
        let slot = exchange.ids.restore(
            named,
            record.order,
            record.timestamp,
            terms,
            record.in_expiry_queue,
        );
        exchange.accounts[owner].order_ids += u32::from(record.in_expiry_queue);
        match record.state {
            OrderIdState::Live => self.live_ids.push((record.order, slot)),
            OrderIdState::Done => {}
            OrderIdState::Killed { reason, minimum } => {
                let is_possible = minimum <= Settings::MAX_MARKETABLE_MINIMUM;
                check(is_possible, "minimum out of range")?;
                exchange.ids.killed(slot, reason, minimum);
            }
        }
        Ok(())
    }

    /// Links every live order with its id, and with its account's list, which is sorted by number.
    pub(super) fn link_orders(&mut self) -> Put {
        self.live.sort_unstable();
        self.live_ids.sort_unstable();
        let numbers = self.live.iter().map(|(number, _)| number);
        let is_whole = numbers.eq(self.live_ids.iter().map(|(number, _)| number));
        check(is_whole, "live orders and live ids differ")?;
        let exchange = &mut self.exchange;
        for ((_, order), (_, id)) in self.live.iter().zip(&self.live_ids) {
            exchange.orders[*order].id_slot = *id;
            exchange.ids.rests(*id, *order);
            exchange.accounts.append_order(*order, &mut exchange.orders);
        }
        Ok(())
    }

    pub(super) fn put_reference(&mut self, record: &state::RememberedReference) -> Put {
        if let Some(account) = record.scope {
            self.check_account(account)?;
        }
        self.exchange.references.insert(UsedReference {
            sequence: record.sequence,
            time: record.time,
            scope: record.scope,
            reference: record.reference,
            kind: record.kind,
            content: ActionContent {
                account: record.account,
                object: record.object,
                amount: record.amount,
                questions: record.questions,
            },
            outcome: outcome_of(record),
        });
        Ok(())
    }
}

/// The outcome of a command with a reference.
const fn outcome_of(record: &state::RememberedReference) -> CommandOutcome {
    match record.kind {
        CommandKind::Withdraw if record.released => CommandOutcome::Released(record.account),
        CommandKind::Deposit | CommandKind::Withdraw => CommandOutcome::Account(record.account),
        CommandKind::RequestWithdrawal => CommandOutcome::Waits(record.account),
        CommandKind::WithdrawFees | CommandKind::PayWithdrawal | CommandKind::Propose => {
            CommandOutcome::Done
        }
        _ => CommandOutcome::Collateral(record.collateral),
    }
}
