//! Accounts, keys, markets, event groups and their words, and withdrawals.

use foretell_model::command::RegisterMarket;
use foretell_model::event::{EventRegistered, MarketResolved, MarketSettled};
use foretell_model::outside::outside_names;
use foretell_model::{
    Command, Event, FeeSchedule, Lots, MarketNumber, MarketState, MarketTerms, Payout, Tick, words,
};
use foretell_wire::text::ids::token_text;
use serde_json::Value;

use crate::naive::{Group, Market, Naive, Story, Told, Withdrawal};
use crate::properties::journal::Frame;

/// Changes the words of a market or event group.
fn edit(description: &mut Value, edit: &[u8]) {
    for (name, value) in words::parts(edit).1 {
        let name = str::from_utf8(name).expect("a name");
        description[name] = serde_json::from_slice(value).expect("JSON");
    }
}

impl Naive {
    fn market(&mut self, market: MarketNumber) -> &mut Market {
        &mut self.markets[market.0 as usize]
    }

    pub(crate) fn fold_registry(&mut self, frame: &Frame, event: &Event, story: &mut Story) {
        match *event {
            Event::Restored { branch } => self.genesis = branch.0,
            Event::AccountOpened(it) => {
                self.wallets.push(format!("0x{}", hex::encode(it.wallet.0)));
                self.owners.push(it.account.0 as usize);
            }
            Event::WalletBound(it) => self.owners[it.wallet.0 as usize] = it.owner.0 as usize,
            Event::WalletUnbound(it) => self.owners[it.wallet.0 as usize] = it.wallet.0 as usize,
            Event::KeyRegistered(it) => {
                if let Command::RegisterKey(key) = frame.command {
                    self.keys.push((key.api_key.0, it.owner.0 as usize));
                }
            }
            Event::MarketRegistered(_) => {
                let Command::RegisterMarket(rules) = frame.command else {
                    panic!("{:?}", frame.command);
                };
                let words = serde_json::from_slice(frame.own_evidence()).unwrap_or_default();
                if let Some(event) = rules.event {
                    let number = self.markets.len();
                    self.groups[event.0 as usize].questions.push(number);
                }
                self.list(rules, words, false);
            }
            Event::EventRegistered(registered) => self.group(frame, &registered),
            Event::MarketDescribed { market } => {
                edit(&mut self.market(market).description, frame.own_evidence());
            }
            Event::EventDescribed { event } => {
                edit(
                    &mut self.groups[event.0 as usize].words,
                    frame.own_evidence(),
                );
            }
            Event::TickSet(it) => {
                let old = self.market(it.market).rules.tick.units();
                let book = self.touch_book(story, it.market);
                book.ticks.push((old, it.tick.units()));
                self.market(it.market).rules.tick = it.tick;
            }
            Event::MinimumSizeSet(it) => {
                self.touch_book(story, it.market);
                self.market(it.market).rules.minimum_size = it.minimum_size;
            }
            Event::TermsSet(it) => self.market(it.market).terms = it.terms,
            Event::FeeSet(it) => self.market(it.market).rules.fee = it.fee,
            Event::MarketStateSet(it) => self.market(it.market).state = it.state,
            Event::MarketResolved(resolved) => self.resolve(&resolved),
            _ => {}
        }
        if self.is_notice(event) {
            story.notices.push(*event);
        }
    }

    /// Do subscribers of markets hear of it? Not of an outside question.
    fn is_notice(&self, event: &Event) -> bool {
        match *event {
            Event::MarketResolved(MarketResolved { market, .. })
            | Event::MarketSettled(MarketSettled { market, .. }) => !self.is_outside(market),
            Event::MarketRegistered(_)
            | Event::TermsSet(_)
            | Event::FeeSet(_)
            | Event::MarketStateSet(_)
            | Event::MarketCleared { .. }
            | Event::Proposed(_)
            | Event::Disputed(_)
            | Event::ProposalWithdrawn { .. }
            | Event::ModeSet { .. } => true,
            _ => false,
        }
    }

    /// Adds an event group and its outside question.
    fn group(&mut self, frame: &Frame, registered: &EventRegistered) {
        let EventRegistered { id, outside, .. } = *registered;
        self.groups.push(Group {
            id,
            words: serde_json::from_slice(frame.own_evidence()).unwrap_or_default(),
            questions: Vec::new(),
            outside: outside.0 as usize,
        });
        let (condition, tokens) = outside_names(id);
        let rules = RegisterMarket {
            condition,
            tokens,
            tick: Tick::Tenth,
            tick_refines: false,
            minimum_size: Lots(1),
            fee: FeeSchedule::default(),
            event: None,
            index: None,
            has_details: false,
        };
        self.list(rules, Value::Null, true);
    }

    fn list(&mut self, rules: RegisterMarket, description: Value, outside: bool) {
        self.markets.push(Market {
            rules,
            condition: format!("0x{}", hex::encode(rules.condition.0)),
            tokens: rules.tokens.map(|token| token_text(&token)),
            event: rules.event.map(|event| event.0 as usize),
            outside,
            terms: MarketTerms::default(),
            description,
            changed: (self.last, self.now),
            state: MarketState::Registered,
            last_trade: None,
            pays: None,
            supply: [0; 2],
            volume: 0,
        });
    }

    fn resolve(&mut self, resolved: &MarketResolved) {
        let market = resolved.market.0 as usize;
        self.markets[market].pays = Some(match resolved.payout {
            Payout::Yes => [10_000, 0],
            Payout::No | Payout::Outside => [0, 10_000],
            Payout::Half => [5_000, 5_000],
        });
        if self.markets[market].outside && resolved.payout == Payout::Yes {
            let won = self.outside.range((market, 0)..(market + 1, 0));
            for (&(market, account), &(lots, second)) in won {
                let key = (account, market, 0);
                self.positions.buy(key, lots, (0, 0), second);
            }
        }
    }

    pub(crate) fn fold_withdrawals(&mut self, frame: &Frame, event: &Event, story: &mut Story) {
        let changed = match *event {
            Event::WithdrawalRequested(asked) => {
                let waits = Withdrawal {
                    number: frame.sequence.0,
                    account: asked.account.0 as usize,
                    amount: asked.amount.0,
                    status: match frame.command {
                        Command::Withdraw(_) => "claimed",
                        _ => "requested",
                    },
                    asked: self.now,
                    changed: self.now,
                };
                self.withdrawals.insert(waits.number, waits.clone());
                waits
            }
            Event::WithdrawalClaimed { withdrawal } => {
                let waits = self.withdrawals.get_mut(&withdrawal.0);
                let waits = waits.expect("it waits");
                (waits.status, waits.changed) = ("claimed", self.now);
                waits.clone()
            }
            Event::WithdrawalReleased(ended) => {
                let waited = self.withdrawals.remove(&ended.asked.0);
                Withdrawal {
                    status: match frame.command {
                        Command::PayWithdrawal(_) => "paid",
                        Command::FailWithdrawal { .. } => "failed",
                        _ => "cancelled",
                    },
                    changed: self.now,
                    ..waited.expect("it waited")
                }
            }
            _ => return,
        };
        story.told.push(Told::Withdrawal(changed));
    }
}
