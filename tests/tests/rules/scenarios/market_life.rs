//! Statements and events of a market's life (docs/verify/rules.md §21 to §27).

use foretell_model::command::{
    AddOperator, DescribeMarket, Dispute, ListWallet, MoveClock, Propose, SetPolicy, SetTerms,
    WithdrawProposal,
};
use foretell_model::event::{
    CancelRequested, Disputed, MarketSettled, OrderDelayed, OrderReleased, Proposed, RebatePaid,
    SettlementStarted, TermsSet, WithdrawalReleased, WithdrawalRequested, Withdrawn,
};
use foretell_model::{
    Command, Event, Lots, MarketNumber, Micros, OperatorRole, PaymentsUpdate, Payout, PolicyUpdate,
    SlugDigest, TermsUpdate, TimeMs, TimeNs,
};

use crate::scenarios::names::{Names, padded};
use crate::scenarios::ordering::duration;
use crate::scenarios::statements::Desk;
use crate::scenarios::text::{self, of_micros, of_payout, of_price, of_shares};
use crate::scenarios::words::Words;

impl Desk {
    /// The command of a statement that begins with a keyword of a market's life; `None` for other words.
    pub(crate) fn market_life_command(
        &mut self,
        first: &str,
        words: &mut Words<'_>,
        now: TimeNs,
    ) -> Result<Option<Command>, String> {
        Ok(Some(match first {
            "reopen" => Command::Reopen { at: now },
            "clock" => Command::MoveClock(MoveClock {
                wall: now,
                by: words.option("by").map_or(Ok(0), duration)?,
                to: TimeNs(words.option("to").map_or(Ok(0), text::number)?),
                frozen: either(words, "stops", "runs"),
            }),
            "terms" => Command::SetTerms(SetTerms {
                market: self.market(words)?,
                terms: terms(words, now)?,
            }),
            "step" => Command::Step,
            "pay" => {
                words.expect("rebates")?;
                Command::PayRebates
            }
            "payments" => Command::SetPayments {
                payments: PaymentsUpdate {
                    withdrawal_limit: words.option("limit").map(text::micros).transpose()?,
                    rebates_daily: either(words, "daily", "not-daily"),
                },
            },
            "operator" => {
                let name = words.next()?;
                Command::AddOperator(AddOperator {
                    role: role(words.next()?)?,
                    name: Names::operator_name(name)?,
                    token: match words.option("token") {
                        Some("zero") => [0; 32],
                        token => padded(token.unwrap_or(name)),
                    },
                })
            }
            "describe" => match words.option("event") {
                Some(event) => Command::DescribeEvent {
                    event: self.names.event(event),
                },
                None => Command::DescribeMarket(DescribeMarket {
                    slug: words.option("slug").map(SlugDigest::of),
                    market: self.market(words)?,
                }),
            },
            _ => return self.resolution_command(first, words),
        }))
    }

    fn resolution_command(
        &mut self,
        first: &str,
        words: &mut Words<'_>,
    ) -> Result<Option<Command>, String> {
        Ok(Some(match first {
            "policy" => {
                let policy = policy(words)?;
                let market = words.next().ok();
                let market = market.map(|market| self.names.market(market));
                if words.flag("cleared") {
                    let market = market.ok_or("the policy of the site stays")?;
                    Command::ClearPolicy { market }
                } else {
                    Command::SetPolicy(SetPolicy { market, policy })
                }
            }
            "list" => Command::ListWallet(ListWallet {
                wallet: Names::wallet(words.next()?),
                market: self.market_in(words),
                propose: words.flag("proposes"),
                dispute: words.flag("disputes"),
            }),
            "propose" => self.propose(words)?,
            "dispute" => Command::Dispute(Dispute {
                by: words.option("by").map(|wallet| self.names.account(wallet)),
                market: self.market(words)?,
                counter: match words.next() {
                    Ok(payout) => Some(text::one_of(Payout::ALL, payout)?),
                    Err(_) => None,
                },
            }),
            "withdraw" => {
                words.expect("proposal")?;
                Command::WithdrawProposal(WithdrawProposal {
                    by: words.option("by").map(|wallet| self.names.account(wallet)),
                    market: self.market(words)?,
                })
            }
            _ => return Ok(None),
        }))
    }

    /// `propose A YES [window 60s] [ref p1] [by wallet]`
    fn propose(&mut self, words: &mut Words<'_>) -> Result<Command, String> {
        Ok(Command::Propose(Propose {
            by: words.option("by").map(|wallet| self.names.account(wallet)),
            window_seconds: words.option("window").map(seconds).transpose()?,
            replaces: None,
            reference: self.reference(words),
            evidence: [0; 32],
            market: self.market(words)?,
            payout: text::one_of(Payout::ALL, words.next()?)?,
        }))
    }

    /// `in A`; without it the site.
    fn market_in(&self, words: &mut Words<'_>) -> Option<MarketNumber> {
        words.option("in").map(|market| self.names.market(market))
    }
}

/// `[opens 10s] [closes 30s] [start 20s] [clear] [delay 3000] [rebate 250000]`, times from now.
pub(crate) fn terms(words: &mut Words<'_>, now: TimeNs) -> Result<TermsUpdate, String> {
    let mut time = |name| match words.option(name) {
        Some(after) => duration(after).map(|after| Some(TimeMs((now.0 + after) / 1_000_000))),
        None => Ok(None),
    };
    let (opens_at, closes_at, game_start_time) = (time("opens")?, time("closes")?, time("start")?);
    Ok(TermsUpdate {
        opens_at,
        closes_at,
        game_start_time,
        clear_book_on_start: either(words, "clear", "no-clear"),
        taker_delay_ms: words.option("delay").map(small).transpose()?,
        rebate_ppm: words.option("rebate").map(small).transpose()?,
    })
}

/// `[window 60s] [second-person] [by-time]`; what is not named stays.
fn policy(words: &mut Words<'_>) -> Result<PolicyUpdate, String> {
    Ok(PolicyUpdate {
        minimum_window_seconds: words.option("window").map(seconds).transpose()?,
        second_person: words.flag("second-person").then_some(true),
        by_time: either(words, "by-time", "not-by-time"),
        ..PolicyUpdate::default()
    })
}

/// A flag that one word sets and another one clears; without both it stays.
fn either(words: &mut Words<'_>, sets: &str, clears: &str) -> Option<bool> {
    let is_set = words.flag(sets).then_some(true);
    is_set.or_else(|| words.flag(clears).then_some(false))
}

fn role(text: &str) -> Result<OperatorRole, String> {
    text::one_of(OperatorRole::ALL, &text.replace('-', ""))
}

fn seconds(text: &str) -> Result<u32, String> {
    let seconds = duration(text)? / 1_000_000_000;
    u32::try_from(seconds).map_err(|_| format!("{seconds} seconds are too many"))
}

fn small(text: &str) -> Result<u32, String> {
    let number = text::number(text)?;
    u32::try_from(number).map_err(|_| format!("{number} is too large"))
}

/// An event of a market's life as text.
pub(crate) fn of_event(event: &Event, names: &Names) -> String {
    let of_account = |account| names.name_of_account(account);
    let of_market = |market| names.name_of_market(market);
    match *event {
        Event::OrderDelayed(OrderDelayed {
            price,
            lots,
            reserved,
            ..
        }) => format!(
            "delayed {} @ {} reserved {}",
            of_shares(lots),
            of_price(price),
            of_reserved(lots, reserved)
        ),
        Event::OrderReleased(OrderReleased { account, .. }) => {
            format!("released {}", of_account(account))
        }
        Event::CancelRequested(CancelRequested { account, .. }) => {
            format!("cancel requested {}", of_account(account))
        }
        Event::Withdrawn(Withdrawn { account, amount }) => {
            format!("{} withdraws {}", of_account(account), of_micros(amount))
        }
        Event::WithdrawalRequested(WithdrawalRequested { account, amount }) => {
            format!("requested {} {}", of_account(account), of_micros(amount))
        }
        Event::WithdrawalClaimed { .. } => "claimed".to_owned(),
        Event::WithdrawalReleased(WithdrawalReleased {
            account, amount, ..
        }) => format!("released {} {}", of_account(account), of_micros(amount)),
        Event::RebatePaymentStarted { .. } => "rebates start".to_owned(),
        Event::RebatePaid(RebatePaid { account, amount }) => {
            format!("rebate {} {}", of_account(account), of_micros(amount))
        }
        Event::RebatePaymentEnded { paid } => format!("rebates paid {}", of_micros(paid)),
        Event::TermsSet(TermsSet { market, .. }) => format!("terms of {}", of_market(market)),
        Event::Begun => "begun".to_owned(),
        Event::ClockMoved { clock } => {
            let stands = if clock.frozen { " frozen" } else { "" };
            format!("clock {}{stands}", clock.engine)
        }
        Event::Restored { .. } => "restored".to_owned(),
        Event::Reopened { .. } => "reopened".to_owned(),
        Event::WithdrawalsOpened => "withdrawals opened".to_owned(),
        Event::MarketCleared { market } => format!("cleared {}", of_market(market)),
        Event::Proposed(Proposed { market, payout, .. }) => {
            format!("proposed {} {}", of_market(market), of_payout(payout))
        }
        Event::Disputed(Disputed { market, counter }) => match counter {
            Some(payout) => format!("disputed {} {}", of_market(market), of_payout(payout)),
            None => format!("disputed {}", of_market(market)),
        },
        Event::ProposalWithdrawn { market } => format!("withdrawn {}", of_market(market)),
        Event::SettlementStarted(SettlementStarted { market, .. }) => {
            format!("settlement of {}", of_market(market))
        }
        Event::MarketSettled(MarketSettled { market, paid }) => {
            format!("settled {} {}", of_market(market), of_micros(paid))
        }
        Event::OperatorAdded { operator } => {
            format!("operator {}", names.name_of_operator(operator))
        }
        other => content(&format!("{other:?}")),
    }
}

/// The collateral of a BUY, or the lots of a SELL: a BUY of so many micros is at less than one tick.
fn of_reserved(lots: Lots, reserved: u64) -> String {
    if reserved == lots.0 {
        of_shares(lots)
    } else {
        of_micros(Micros(reserved))
    }
}

/// What a variant holds, without the variant's name around it.
fn content(event: &str) -> String {
    let inner = event.split_once('(').and_then(|(name, rest)| {
        let inner = rest.strip_suffix(')')?;
        inner.starts_with(name).then_some(inner)
    });
    inner.unwrap_or(event).to_owned()
}
