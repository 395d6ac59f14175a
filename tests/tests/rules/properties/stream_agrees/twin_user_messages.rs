//! The twin's messages of the user channel.

use foretell_gateway::StreamReceiver;
use foretell_model::{KeyNumber, PlaceOrder, Side, TimeNs};

use crate::naive::{Order, Trade, Withdrawal};
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

    pub(crate) fn trade(&self, to: &mut FrameWriter<'_>, trade: &Trade, status: &str) {
        let [taker, maker] = trade.legs.map(|leg| leg.account);
        let takers = self.keys_of(taker);
        let makers = self.keys_of(maker);
        let is_same = self.naive.owners[taker] == self.naive.owners[maker];
        let takers = takers.into_iter().map(|key| (key, "TAKER", is_same));
        let makers = makers.into_iter().map(|key| (key, "MAKER", true));
        let makers = makers.filter(|_| !is_same);
        for ((number, key), role, is_makers) in takers.chain(makers) {
            let fields = self.trade_fields(to.receipt, trade, status, (&key, role, is_makers));
            let key = KeyNumber(number);
            let receiver = StreamReceiver::Key(key, Some(trade.legs[0].order.market));
            to.send(receiver, "trade", &fields, None);
        }
    }

    fn trade_fields(
        &self,
        receipt: [u8; 32],
        trade: &Trade,
        status: &str,
        (key, role, is_makers): (&str, &str, bool),
    ) -> Vec<(&'static str, String)> {
        let [taker_leg, maker_leg] = trade.legs;
        let (taker, maker) = (taker_leg.order, maker_leg.order);
        let market = &self.naive.markets[trade.market];
        let maker_key = if is_makers { key } else { ZERO_KEY };
        let maker_order = object(&[
            ("order_id", hex32(&maker.order.0)),
            ("owner", quoted(maker_key)),
            (
                "maker_address",
                quoted(&self.naive.wallets[maker_leg.account]),
            ),
            ("matched_amount", lots(trade.lots)),
            ("price", price(maker_leg.price)),
            ("fee_rate_bps", quoted(0)),
            ("asset_id", self.token(maker.market, maker.outcome)),
            ("outcome", quoted(market.label(maker_leg.outcome))),
            ("side", side_text(maker.side)),
        ]);
        vec![
            ("id", quoted(&trade.id)),
            ("taker_order_id", hex32(&taker.order.0)),
            ("market", self.condition(taker.market)),
            ("asset_id", self.token(taker.market, taker.outcome)),
            ("outcome", quoted(market.label(taker_leg.outcome))),
            ("side", side_text(taker.side)),
            ("price", price(taker_leg.price)),
            ("size", lots(trade.lots)),
            (
                "fee_rate_bps",
                fee_rate(taker_leg.fee, trade.lots * taker_leg.price),
            ),
            ("status", quoted(status)),
            ("owner", quoted(key)),
            ("trade_owner", quoted(key)),
            (
                "maker_address",
                quoted(&self.naive.wallets[taker_leg.account]),
            ),
            ("maker_orders", array([maker_order])),
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
