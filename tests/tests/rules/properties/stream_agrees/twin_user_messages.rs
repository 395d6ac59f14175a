//! The twin's messages of the user channel.

use std::collections::BTreeSet;

use foretell_gateway::StreamReceiver;
use foretell_model::{KeyNumber, PlaceOrder, Side, TimeNs};

use crate::naive::{Leg, Order, Trade, Withdrawal};
use crate::properties::data_agrees::rows::rounded;
use crate::properties::stream_agrees::Twin;
use crate::properties::stream_agrees::twin_messages::{FrameWriter, fee_rate, millis, side_text};
use crate::properties::text::{
    array, decimal, hex32, iso, lots, micros, object, price, quoted, uuid,
};

const ZERO_KEY: &str = "00000000-0000-0000-0000-000000000000";

fn seconds(time: TimeNs) -> String {
    quoted(time.0 / 1_000_000_000)
}

impl Twin {
    /// The keys of an account's owner.
    fn keys_of(&self, account: usize) -> Vec<(u32, String)> {
        let owner = self.naive.owners[account];
        let keys = self.naive.keys.iter().zip(0..);
        let keys = keys.filter(|((_, of), _)| *of == owner);
        keys.map(|((text, _), number)| (number, uuid(*text)))
            .collect()
    }

    pub(crate) fn order(&self, to: &mut FrameWriter<'_>, order: &Order, event: &str, state: &str) {
        let status = match state {
            "DELAYED" => "LIVE",
            "UNMATCHED" | "CANCELED_MARKET_RESOLVED" => "CANCELED",
            state => state,
        };
        let placed = &order.placed;
        let account = placed.account.0 as usize;
        let owner = self.naive.owners[account];
        let (key, key_owner) = self.naive.keys[placed.key.0 as usize];
        let key = match key_owner == owner {
            true => uuid(key),
            false => ZERO_KEY.to_owned(),
        };
        let signed = match placed.side {
            Side::Buy => i128::from(placed.taker_amount),
            Side::Sell => i128::from(placed.maker_amount),
        };
        let is_budget = placed.side == Side::Buy && is_immediate(placed);
        let original = match is_budget {
            true => signed.max(order.matched * 10_000),
            false => signed - order.taken_off * 10_000,
        };
        let newest = order.trades.len().saturating_sub(100);
        let market = &self.naive.markets[placed.market.0 as usize];
        let fields = [
            ("id", hex32(&placed.order.0)),
            ("owner", quoted(&key)),
            ("order_owner", quoted(&key)),
            ("market", self.condition(placed.market)),
            ("asset_id", self.token(placed.market, placed.outcome)),
            ("outcome", quoted(market.label(placed.outcome.index()))),
            ("side", side_text(placed.side)),
            ("price", price(order.price)),
            ("original_size", micros(original)),
            ("size_matched", lots(order.matched)),
            (
                "associate_trades",
                array(order.trades[newest..].iter().map(quoted)),
            ),
            ("type", quoted(event)),
            ("status", quoted(status)),
            ("state", quoted(state)),
            (
                "order_type",
                quoted(format!("{:?}", placed.order_type).to_uppercase()),
            ),
            ("maker_address", quoted(&self.naive.wallets[account])),
            ("created_at", seconds(order.created)),
            ("expiration", quoted(placed.expiration.0)),
            ("timestamp", millis(self.naive.now)),
        ];
        for (number, _) in self.keys_of(account) {
            let key = KeyNumber(number);
            to.send(
                StreamReceiver::Key(key, Some(placed.market)),
                "order",
                &fields,
                None,
            );
        }
    }

    pub(crate) fn withdrawal(&self, to: &mut FrameWriter<'_>, it: &Withdrawal) {
        let fields = [
            ("withdrawal", it.number.to_string()),
            ("wallet", quoted(&self.naive.wallets[it.account])),
            ("destination", quoted("")),
            ("amount", quoted(decimal(it.amount, 6))),
            ("reference", quoted("")),
            ("status", quoted(it.status)),
            ("requested_at", iso(it.asked)),
            ("changed_at", iso(it.changed)),
            ("payment", quoted("")),
        ];
        for (number, _) in self.keys_of(it.account) {
            let receiver = StreamReceiver::Key(KeyNumber(number), None);
            to.send(receiver, "withdrawal", &fields, None);
        }
    }

    /// A trade, by its fills: all of them for the taker's owner, their own for others.
    pub(crate) fn trade(&self, to: &mut FrameWriter<'_>, fills: &[&Trade], status: &str) {
        let owner = |leg: &Leg| self.naive.owners[leg.account];
        let taker = owner(&fills[0].legs[0]);
        let makers: BTreeSet<usize> = fills.iter().map(|fill| owner(&fill.legs[1])).collect();
        let makers = makers.into_iter().filter(|maker| *maker != taker);
        for reader in [taker].into_iter().chain(makers) {
            let is_shown = |fill: &&&Trade| reader == taker || owner(&fill.legs[1]) == reader;
            let shown: Vec<&Trade> = fills.iter().filter(is_shown).copied().collect();
            let role = if reader == taker { "TAKER" } else { "MAKER" };
            for (number, key) in self.keys_of(reader) {
                let fields = self.trade_fields(to.receipt, &shown, status, (&key, role, reader));
                let key = KeyNumber(number);
                let receiver = StreamReceiver::Key(key, Some(fills[0].legs[0].order.market));
                to.send(receiver, "trade", &fields, None);
            }
        }
    }

    fn trade_fields(
        &self,
        receipt: [u8; 32],
        fills: &[&Trade],
        status: &str,
        (key, role, reader): (&str, &str, usize),
    ) -> Vec<(&'static str, String)> {
        let taker_leg = fills[0].legs[0];
        let taker = taker_leg.order;
        let market = &self.naive.markets[fills[0].market];
        let maker_order = |fill: &&Trade| {
            let leg = fill.legs[1];
            let maker = leg.order;
            let is_own = self.naive.owners[leg.account] == reader;
            object(&[
                ("order_id", hex32(&maker.order.0)),
                ("owner", quoted(if is_own { key } else { ZERO_KEY })),
                ("maker_address", quoted(&self.naive.wallets[leg.account])),
                ("matched_amount", lots(leg.lots)),
                ("price", price(leg.price)),
                ("fee_rate_bps", quoted(0)),
                ("asset_id", self.token(maker.market, maker.outcome)),
                ("outcome", quoted(market.label(leg.outcome))),
                ("side", side_text(maker.side)),
            ])
        };
        let sum = |of: fn(&Leg) -> i128| fills.iter().map(|fill| of(&fill.legs[0])).sum();
        let (size, value, fee) = (
            sum(|leg| leg.lots),
            sum(|leg| leg.value),
            sum(|leg| leg.fee),
        );
        vec![
            ("id", quoted(&fills[0].id)),
            ("taker_order_id", hex32(&taker.order.0)),
            ("market", self.condition(taker.market)),
            ("asset_id", self.token(taker.market, taker.outcome)),
            ("outcome", quoted(market.label(taker_leg.outcome))),
            ("side", side_text(taker.side)),
            ("price", quoted(decimal(rounded(value * 100, size), 6))),
            ("size", lots(size)),
            ("fee_rate_bps", fee_rate(fee, value)),
            ("status", quoted(status)),
            ("owner", quoted(key)),
            ("trade_owner", quoted(key)),
            (
                "maker_address",
                quoted(&self.naive.wallets[taker_leg.account]),
            ),
            ("maker_orders", array(fills.iter().map(maker_order))),
            ("trader_side", quoted(role)),
            ("bucket_index", "0".to_owned()),
            ("match_time", seconds(self.naive.now)),
            ("last_update", seconds(self.naive.now)),
            ("transaction_hash", hex32(&receipt)),
            ("type", quoted("TRADE")),
            ("timestamp", millis(self.naive.now)),
        ]
    }
}

fn is_immediate(placed: &PlaceOrder) -> bool {
    use foretell_model::OrderType::{Fak, Fok};
    matches!(placed.order_type, Fok | Fak)
}
