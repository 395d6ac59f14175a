//! Rows as defined by docs/api/data.md and the API, from plain integers.

use foretell_model::WalletAddress;
use foretell_wire::data::pseudonym;
use serde_json::{Value, json};

use crate::naive::positions::{Held, Key};
use crate::naive::{Action, Extent, NO_MARKET, Naive, Trade};
use crate::properties::data_agrees::site::Site;

/// A JSON number from millionths.
pub(crate) fn number(millionths: i128) -> Value {
    let sign = if millionths < 0 { "-" } else { "" };
    let digits = format!("{:07}", millionths.unsigned_abs());
    let (whole, part) = digits.split_at(digits.len() - 6);
    let part = part.trim_end_matches('0');
    let point = if part.is_empty() { "" } else { "." };
    let text = format!("{sign}{whole}{point}{part}");
    serde_json::from_str(&text).expect("a number")
}

/// The quotient, half rounded away from zero; 0 for a divisor of 0.
pub(crate) fn rounded(dividend: i128, divisor: i128) -> i128 {
    if divisor == 0 {
        return 0;
    }
    let sign = dividend.signum() * divisor.signum();
    let (dividend, divisor) = (dividend.abs(), divisor.abs());
    sign * ((2 * dividend + divisor) / (2 * divisor))
}

/// A position's row, and its sort key.
#[derive(Clone)]
pub(crate) struct PositionRow {
    pub(crate) size: i128,
    pub(crate) average: i128,
    pub(crate) initial: i128,
    pub(crate) current: i128,
    pub(crate) cash: i128,
    pub(crate) percent: i128,
    pub(crate) realized: i128,
    pub(crate) price: i128,
    pub(crate) title: String,
    pub(crate) end: String,
    pub(crate) second: u64,
    pub(crate) asset: (String, usize, u64),
    pub(crate) json: Value,
}

/// What answers say of a market.
#[derive(Default)]
struct Words {
    title: String,
    slug: String,
    icon: String,
    event: String,
    labels: [String; 2],
    end: String,
}

impl Naive {
    fn words(&self, market: usize) -> Words {
        let of = &self.markets[market];
        if !of.is_described() {
            return Words {
                title: "None of the listed questions".to_owned(),
                labels: ["Yes", "No"].map(str::to_owned),
                ..Words::default()
            };
        }
        let event = of.description["event"]["slug"].as_str();
        Words {
            title: of.word("question"),
            slug: of.word("slug"),
            icon: of.word("icon"),
            event: event.unwrap_or("").to_owned(),
            labels: [0, 1].map(|outcome| of.label(outcome)),
            end: of.word("end_date"),
        }
    }

    /// The row of a position; `closed_by` when it is closed.
    pub(crate) fn position(&self, key: Key, held: &Held, closed_by: Option<u64>) -> PositionRow {
        let (account, market, outcome) = key;
        let of = &self.markets[market];
        let price = self.price(market, outcome);
        // In half micros.
        let worth = held.lots * price;
        let gain = worth - 2 * held.cost - 2 * held.fees;
        let percent_realized = rounded(held.realized * 100_000_000, held.spent);
        let (cash, percent) = match closed_by {
            Some(_) => (held.realized, percent_realized),
            None => (rounded(gain, 2), rounded(gain * 100_000_000, 2 * held.cost)),
        };
        // Cost of a share: of those held, or once all are gone, of all ever acquired.
        let (cost, shares) = match closed_by {
            Some(_) => (held.spent, held.bought),
            None => (held.cost, held.lots),
        };
        let (size, average) = (held.lots * 10_000, rounded(cost * 100, shares));
        let current = rounded(worth, 2);
        let words = self.words(market);
        let is_open = closed_by.is_none();
        let other = self.positions.open.get(&(account, market, 1 - outcome));
        let mut json = json!({
            "proxyWallet": self.wallets[account],
            "asset": format!("{}:{outcome}", of.condition), "conditionId": of.condition,
            "size": number(size), "avgPrice": number(average),
            "initialValue": number(held.cost), "grossInitialValue": number(held.cost + held.fees),
            "entryFeesUsdc": number(held.fees), "currentValue": number(current),
            "cashPnl": number(cash), "percentPnl": number(percent),
            "totalBought": number(held.bought * 10_000), "realizedPnl": number(held.realized),
            "percentRealizedPnl": number(percent_realized), "curPrice": number(price * 50),
            "redeemable": is_open && of.pays.is_some(),
            "mergeable": is_open && other.is_some(),
            "title": words.title, "slug": words.slug, "icon": words.icon, "eventSlug": words.event,
            "outcome": words.labels[outcome], "oppositeOutcome": words.labels[1 - outcome],
            "oppositeAsset": format!("{}:{}", of.condition, 1 - outcome),
            "outcomeIndex": outcome, "timestamp": held.second, "endDate": words.end,
        });
        if is_open {
            json["negativeRisk"] = self.group_of(market).is_some().into();
        }
        PositionRow {
            size,
            average,
            initial: held.cost,
            current,
            cash,
            percent,
            realized: held.realized,
            price,
            title: words.title,
            end: words.end,
            second: held.second,
            asset: (of.condition.clone(), outcome, closed_by.unwrap_or(0)),
            json,
        }
    }

    /// The row of one side of a trade: 0 the taker's, 1 the maker's.
    pub(crate) fn traded(&self, site: &Site, trade: &Trade, side: usize) -> Value {
        let leg = trade.legs[side];
        let (market, outcome) = (trade.market, leg.outcome);
        let condition = &self.markets[market].condition;
        let words = self.words(market);
        let mut json = json!({
            "proxyWallet": self.wallets[leg.account],
            "side": if leg.buys { "BUY" } else { "SELL" },
            "asset": format!("{condition}:{outcome}"), "conditionId": condition,
            "size": number(leg.lots * 10_000), "price": number(rounded(leg.value * 100, leg.lots)),
            "usdcSize": number(leg.value), "feeUsdc": number(leg.fee),
            "timestamp": trade.second,
            "title": words.title, "slug": words.slug, "icon": words.icon, "eventSlug": words.event,
            "outcome": words.labels[outcome], "outcomeIndex": outcome,
            "transactionHash": site.receipts[&trade.sequence],
            "id": match leg.extent {
                Extent::Trade => trade.id.clone(),
                _ => format!("{}:{}", trade.id, trade.index),
            },
        });
        self.profile(leg.account, &mut json);
        json
    }

    /// The row of an account action.
    pub(crate) fn acted(&self, site: &Site, action: &Action) -> Value {
        let market = action.market;
        if market == NO_MARKET {
            return self.rebated(site, action);
        }
        let condition = &self.markets[market].condition;
        let asset = action
            .outcome
            .map(|outcome| format!("{condition}:{outcome}"));
        let words = self.words(market);
        let mut json = json!({
            "proxyWallet": self.wallets[action.account],
            "side": "", "asset": asset.unwrap_or_default(), "conditionId": condition,
            "size": number(action.lots * 10_000), "price": 0,
            "usdcSize": number(action.collateral), "feeUsdc": 0, "timestamp": action.second,
            "title": words.title, "slug": words.slug, "icon": words.icon, "eventSlug": words.event,
            "outcome": action.outcome.map_or("", |outcome| words.labels[outcome].as_str()),
            "outcomeIndex": action.outcome.unwrap_or(999), "type": action.kind, "id": "",
            "transactionHash": site.receipts[&action.sequence],
        });
        self.profile(action.account, &mut json);
        json
    }

    /// The row of a payment of rebates.
    fn rebated(&self, site: &Site, action: &Action) -> Value {
        let amount = number(action.collateral);
        let mut json = json!({
            "proxyWallet": self.wallets[action.account],
            "side": "", "asset": "", "conditionId": "", "size": amount, "price": 0,
            "usdcSize": amount, "feeUsdc": 0, "timestamp": action.second,
            "title": "", "slug": "", "icon": "", "eventSlug": "",
            "outcome": "", "outcomeIndex": 999, "type": action.kind, "id": "",
            "transactionHash": site.receipts[&action.sequence],
        });
        self.profile(action.account, &mut json);
        json
    }

    /// The row of a holder of `lots` lots.
    pub(crate) fn holder(&self, account: usize, asset: &str, lots: i128, outcome: usize) -> Value {
        let mut json = json!({
            "proxyWallet": self.wallets[account], "asset": asset,
            "amount": number(lots * 10_000), "outcomeIndex": outcome,
            "displayUsernamePublic": false,
        });
        self.profile(account, &mut json);
        json
    }

    /// No wallet has a profile here; every wallet has a pseudonym.
    fn profile(&self, account: usize, json: &mut Value) {
        let bytes = hex::decode(&self.wallets[account][2..]).expect("hex");
        let wallet = WalletAddress(bytes.try_into().expect("20 bytes"));
        json["pseudonym"] = pseudonym(&wallet).into();
        for name in ["name", "bio", "profileImage", "profileImageOptimized"] {
            json[name] = "".into();
        }
    }
}
