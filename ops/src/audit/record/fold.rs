//! Every event but those of a match: what it changes, and that its command may cause it.

use foretell_model::limits::{MAX_BALANCE, MAX_ORDER_LOTS, NEWEST_RULES};
use foretell_model::{
    AccountNumber, CloseReason, Command, Event, EventNumber, FrameRef, Lots, MarketNumber,
    MarketState, Micros, QuestionSet,
};

use super::Record;
use super::broken::{Broken, Checked, must};
use super::taker::is_expired;

/// Whether an event moves money or sets by itself: a command causes one such event at most.
const fn moves_money(event: &Event) -> bool {
    matches!(
        event,
        Event::Deposited { .. }
            | Event::Withdrawn { .. }
            | Event::FeesWithdrawn { .. }
            | Event::Split { .. }
            | Event::Merged { .. }
            | Event::Redeemed { .. }
            | Event::Converted { .. }
    )
}

/// Whether an event says what became of an order: most do, and register nothing.
const fn is_of_book(event: &Event) -> bool {
    matches!(
        event,
        Event::Fill(_)
            | Event::OrderRested { .. }
            | Event::OrderCompleted
            | Event::OrderClosed { .. }
            | Event::OrderKilled { .. }
    )
}

impl Record {
    /// Takes in the events of a frame; those of a placed order were taken in by `place`.
    pub(super) fn fold(&mut self, frame: &FrameRef<'_>) -> Checked {
        self.work_pending = false;
        let is_placing = matches!(frame.command, Command::PlaceOrder(_));
        let moves = frame.events.iter().filter(|event| moves_money(event));
        must(is_placing || moves.count() <= 1, || {
            "one command moved money or sets twice".to_owned()
        })?;
        self.check_cancel(frame)?;
        for event in frame.events {
            if !is_of_book(event) && self.registry.fold(frame, event)? {
                if let Event::MarketResolved { market, .. } = *event {
                    must(self.books.is_empty(market), || {
                        format!("market {market} is resolved with orders in its book")
                    })?;
                    self.ledger.resolved(market);
                }
            } else if !is_placing {
                self.change(frame, event)?;
            }
        }
        Ok(())
    }

    fn change(&mut self, frame: &FrameRef<'_>, event: &Event) -> Checked {
        match *event {
            Event::Deposited { account, amount } => {
                self.check_money(frame, 10, account, amount)?;
                self.ledger.deposit(account, amount)
            }
            Event::Withdrawn { account, amount } => {
                self.check_money(frame, 11, account, amount)?;
                self.ledger.withdraw(account, amount)
            }
            Event::FeesWithdrawn { amount } => {
                must(
                    matches!(*frame.command, Command::WithdrawFees { amount: asked, .. } if asked == amount),
                    || format!("{} micros of fees went out that nobody withdrew", amount.0),
                )?;
                self.ledger.withdraw_fees(amount)
            }
            Event::Split {
                account,
                market,
                lots,
            } => {
                self.check_sets(frame, 19, (account, market, lots))?;
                self.in_state(market, &[MarketState::Active])?;
                self.ledger.split(account, market, lots)
            }
            Event::Merged {
                account,
                market,
                lots,
            } => {
                self.check_sets(frame, 20, (account, market, lots))?;
                let open = [
                    MarketState::Active,
                    MarketState::Paused,
                    MarketState::Closed,
                ];
                self.in_state(market, &open)?;
                self.ledger.merge(account, market, lots)
            }
            Event::Redeemed {
                account,
                market,
                lots,
                payout,
            } => {
                self.known(account)?;
                let by = self.registry.market(market)?.payout;
                let by = by.ok_or_else(|| {
                    Broken::rule(format!("market {market} pays and is not resolved"))
                })?;
                self.ledger.redeem(account, market, lots, payout, by)
            }
            Event::Converted {
                account,
                event,
                questions,
                lots,
                collateral,
            } => self.convert(account, event, questions, (lots, collateral)),
            Event::OrderClosed { reason, .. } => {
                self.check_close(frame, event, reason)?;
                self.close(event)
            }
            Event::ModeSet { mode } => {
                self.mode = mode;
                Ok(())
            }
            Event::SettingsChanged => match *frame.command {
                Command::ChangeSettings(settings) if settings.are_valid() => {
                    self.ids.change_settings(settings, frame.time);
                    Ok(())
                }
                _ => Err(Broken::rule("settings changed that are none")),
            },
            Event::WorkPending => {
                self.work_pending = true;
                Ok(())
            }
            Event::RulesSwitched { rules } => self.switch_rules(frame, rules),
            Event::StateAttested => Self::check_attested(frame),
            Event::HeartbeatSet { .. } | Event::DivergenceAccepted => Ok(()),
            _ => Err(Broken::rule(format!(
                "{event:?} in a frame that places no order"
            ))),
        }
    }

    /// Rules are switched as it was asked, to newer ones.
    fn switch_rules(&mut self, frame: &FrameRef<'_>, to: u32) -> Checked {
        let is_newer = to > self.rules && to <= NEWEST_RULES;
        must(
            is_newer && *frame.command == (Command::SwitchRules { rules: to }),
            || format!("the rules are switched from {} to {to}", self.rules),
        )?;
        self.rules = to;
        Ok(())
    }

    /// What is attested was applied before.
    fn check_attested(frame: &FrameRef<'_>) -> Checked {
        let Command::AttestState { sequence, .. } = *frame.command else {
            return Err(Broken::rule("a state is attested by another command"));
        };
        must(sequence < frame.sequence, || {
            format!("the state after sequence {sequence} is attested before it was there")
        })
    }

    /// Rules 2 journal no cancel that ends nothing.
    fn check_cancel(&self, frame: &FrameRef<'_>) -> Checked {
        let is_cancel = matches!(
            frame.command,
            Command::CancelAll { .. } | Command::CancelMarketOrders { .. }
        );
        let mut events = frame.events.iter();
        must(
            self.rules == 1
                || !is_cancel
                || events.any(|event| matches!(event, Event::OrderClosed { .. })),
            || "a cancel is recorded that ended no order".to_owned(),
        )
    }

    /// Ends a resting order with what it has left.
    pub(super) fn close(&mut self, event: &Event) -> Checked {
        let Event::OrderClosed {
            order: number,
            account,
            lots,
            ..
        } = *event
        else {
            return Ok(());
        };
        let order = *self.books.get(number)?;
        must(order.account == account && order.lots == lots, || {
            format!(
                "order {number} is closed with {} lots left, it has {}",
                lots.0, order.lots.0
            )
        })?;
        self.ledger.release(order.party(), lots, order.price)?;
        self.books.remove(number);
        Ok(())
    }

    /// Who may end this order, and why.
    fn check_close(&self, frame: &FrameRef<'_>, event: &Event, reason: CloseReason) -> Checked {
        let Event::OrderClosed { order: number, .. } = *event else {
            return Ok(());
        };
        let order = self.books.get(number)?;
        let owner = self.registry.account(order.account)?.owner;
        let is_why = match (frame.command, reason) {
            (
                Command::CancelOrder {
                    owner: asks,
                    order: id,
                },
                CloseReason::User,
            ) => *asks == owner && *id == order.id,
            (
                Command::CancelAll {
                    owner: asks,
                    heartbeat,
                    ..
                },
                _,
            ) => {
                let why = if *heartbeat {
                    CloseReason::Heartbeat
                } else {
                    CloseReason::User
                };
                *asks == owner && reason == why
            }
            (
                Command::CancelMarketOrders {
                    owner: asks,
                    market,
                    outcome,
                    ..
                },
                CloseReason::User,
            ) => {
                let is_outcome = outcome.is_none_or(|outcome| outcome == order.outcome);
                *asks == owner && *market == order.market && is_outcome
            }
            (Command::CloseMarket { market }, CloseReason::MarketClosed) => *market == order.market,
            (Command::RevokeKey { key, cancel_orders }, CloseReason::User) => {
                *cancel_orders && self.registry.key(*key)?.owner == owner
            }
            (Command::SetClosedOnly { .. }, CloseReason::ClosedOnly) => {
                self.registry.account(order.account)?.closed_only
            }
            (Command::AdvanceTime, CloseReason::Expired) => {
                let safety = self.ids.settings().gtd_safety_seconds;
                is_expired(order.expiration, frame.time, safety)
            }
            (Command::Continue, _) => true,
            _ => false,
        };
        must(is_why, || {
            format!("order {number} is closed as {reason:?} by another command")
        })
    }

    fn convert(
        &mut self,
        account: AccountNumber,
        event: EventNumber,
        questions: QuestionSet,
        (lots, collateral): (Lots, Micros),
    ) -> Checked {
        self.known(account)?;
        must(lots <= MAX_ORDER_LOTS && !lots.is_zero(), || {
            format!("{} lots converted", lots.0)
        })?;
        let markets = self.registry.questions(event)?.to_vec();
        must(
            questions.count() > 0 && questions.end() as usize <= markets.len(),
            || format!("event {event} has {} questions", markets.len()),
        )?;
        let sets = lots.0 * u64::from(questions.count() - 1);
        must(collateral == Lots(sets).full_value(), || {
            format!("a conversion paid {} micros", collateral.0)
        })?;
        for (index, market) in (0..).zip(markets) {
            self.in_state(market, &[MarketState::Active])?;
            self.ledger
                .convert_question(account, market, questions.contains(index), lots)?;
        }
        self.ledger.convert_event(account, event, lots, collateral);
        Ok(())
    }

    /// Money comes and goes as it was asked, for the wallet that was named.
    fn check_money(
        &self,
        frame: &FrameRef<'_>,
        code: u16,
        account: AccountNumber,
        moved: Micros,
    ) -> Checked {
        let wallet = self.registry.account(account)?.wallet;
        let asked = match *frame.command {
            Command::Deposit { wallet, amount, .. } | Command::Withdraw { wallet, amount, .. } => {
                Some((wallet, amount))
            }
            _ => None,
        };
        must(
            frame.command.code() == code && asked == Some((wallet, moved)),
            || {
                format!(
                    "{} micros of {wallet} came or went that nobody asked for",
                    moved.0
                )
            },
        )?;
        must(moved <= MAX_BALANCE, || {
            format!("{} micros at once", moved.0)
        })
    }

    /// Split and merge do what was asked, to a known account and within the bounds.
    fn check_sets(
        &self,
        frame: &FrameRef<'_>,
        code: u16,
        moved: (AccountNumber, MarketNumber, Lots),
    ) -> Checked {
        let asked = match *frame.command {
            Command::Split {
                account,
                market,
                lots,
                ..
            }
            | Command::Merge {
                account,
                market,
                lots,
                ..
            } => Some((account, market, lots)),
            _ => None,
        };
        must(frame.command.code() == code && asked == Some(moved), || {
            "sets were split or merged that nobody asked for".to_owned()
        })?;
        self.known(moved.0)?;
        must(moved.2 <= MAX_ORDER_LOTS, || {
            format!("{} sets at once", moved.2.0)
        })
    }

    fn in_state(&self, market: MarketNumber, allowed: &[MarketState]) -> Checked {
        let state = self.registry.market(market)?.state;
        must(allowed.contains(&state), || {
            format!("market {market} is {state:?}, which does not allow this")
        })
    }

    fn known(&self, account: AccountNumber) -> Checked {
        self.registry.account(account).map(|_| ())
    }
}
