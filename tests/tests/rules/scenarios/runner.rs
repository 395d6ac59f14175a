//! Plays a scenario to one exchange.

use std::collections::HashMap;

use foretell_model::command::{CancelWithdrawal, Finalise, PayWithdrawal, RequestWithdrawal};
use foretell_model::state::{self, StateRecord};
use foretell_model::{
    Command, CommandOutcome, CommandStamp, Event, MarketNumber, Micros, OperatorNumber,
    OrderResult, OrderStatus, Reference, Sequence, Settings, TimeMs, TimeNs, Verdict,
};

use crate::scenarios::exchange::Exchange;
use crate::scenarios::names::padded;
use crate::scenarios::script::{Line, Scenario};
use crate::scenarios::statements::Desk;
use crate::scenarios::words::Words;
use crate::scenarios::{ordering, quoting, sight, text};

/// Start time of every scenario.
pub(crate) const START: TimeNs = TimeNs(1_700_000_000_000_000_000);

/// One exchange and the time, names and settings of a scenario.
pub(crate) struct Runner {
    exchange: Exchange,
    desk: Desk,
    now: TimeNs,
    settings: Settings,
    /// Number of signed orders; each has a unique id.
    orders: u64,
    /// Number of requested withdrawals.
    requests: u64,
    /// Numbers of withdrawals by their references.
    withdrawals: HashMap<String, Sequence>,
}

impl Runner {
    pub(crate) fn new(exchange: Exchange) -> Self {
        Self {
            exchange,
            desk: Desk::new(),
            now: START,
            settings: Settings::default(),
            orders: 0,
            requests: 0,
            withdrawals: HashMap::new(),
        }
    }

    /// Runs the scenario; the error describes the first line with another result.
    pub(crate) fn play(mut self, scenario: &Scenario) -> Result<(), String> {
        for line in &scenario.lines {
            self.play_line(line)
                .and_then(|()| self.exchange.check())
                .map_err(|why| format!("line {}: {}\n    {why}", line.number, line.statement))?;
        }
        Ok(())
    }

    fn play_line(&mut self, line: &Line) -> Result<(), String> {
        let mut words = Words::of(&line.statement);
        match words.next()? {
            "see" => self.see(&words.rest(), line),
            "wait" => {
                self.now.0 += ordering::duration(words.next()?)?;
                words.end()
            }
            "back" => {
                self.now.0 -= ordering::duration(words.next()?)?;
                words.end()
            }
            "settings" => self.change_settings(words, line),
            "trader" => self.trader(words),
            "market" => self.market(words),
            first => self.state(first, words, line),
        }
    }

    fn see(&self, subject: &[&str], line: &Line) -> Result<(), String> {
        let state = self.exchange.state();
        let due = self.exchange.next_due();
        let seen = sight::of(subject, &state, due, &self.desk.names)?;
        same_text(line.answer.as_deref().unwrap_or_default(), &seen)
    }

    /// `marketable 1 safety 60 live 4096 ids 100 past 600s future 120s new-operator 24`: changes the named ones.
    fn change_settings(&mut self, mut words: Words<'_>, line: &Line) -> Result<(), String> {
        let mut settings = self.settings;
        let number = |text: &str| {
            u32::try_from(text::number(text)?).map_err(|_| format!("`{text}` is too large"))
        };
        if let Some(minimum) = words.option("marketable") {
            settings.marketable_minimum = text::micros(minimum)?;
        }
        if let Some(safety) = words.option("safety") {
            settings.gtd_safety_seconds = text::number(safety)?;
        }
        if let Some(live) = words.option("live") {
            settings.live_orders_per_account = number(live)?;
        }
        if let Some(ids) = words.option("ids") {
            settings.remembered_order_ids = number(ids)?;
        }
        if let Some(past) = words.option("past") {
            settings.timestamp_past_ms = ordering::duration(past)? / 1_000_000;
        }
        if let Some(future) = words.option("future") {
            settings.timestamp_future_ms = ordering::duration(future)? / 1_000_000;
        }
        if let Some(hours) = words.option("new-operator") {
            settings.new_operator_hours = number(hours)?;
        }
        let stamp = self.stamp("settings", &mut words)?;
        words.end()?;
        let command = Command::ChangeSettings {
            settings: settings.into(),
        };
        let verdict = self.send((&command, &[]), stamp, "", line)?;
        if matches!(verdict, Verdict::Applied(_)) {
            self.settings = settings;
        }
        Ok(())
    }

    /// `trader alice 100`: a wallet with collateral and a key of the same name.
    fn trader(&mut self, mut words: Words<'_>) -> Result<(), String> {
        let name = words.next()?;
        let amount = words.next()?;
        words.end()?;
        if text::micros(amount)? > Micros::ZERO {
            self.carried_out(&format!("{name} deposits {amount}"))?;
        }
        self.carried_out(&format!("key {name}"))
    }

    /// `market A …`: registered and active.
    fn market(&mut self, words: Words<'_>) -> Result<(), String> {
        let words = words.rest();
        let name = words.first().ok_or("a market has a name")?;
        self.carried_out(&format!("register {}", words.join(" ")))?;
        self.carried_out(&format!("activate {name}"))
    }

    /// Runs a statement of the preparation, which must succeed.
    fn carried_out(&mut self, statement: &str) -> Result<(), String> {
        self.play_line(&Line {
            number: 0,
            statement: statement.to_owned(),
            answer: None,
            events: None,
        })
    }

    /// Runs a statement that is one command.
    fn state(&mut self, first: &str, mut words: Words<'_>, line: &Line) -> Result<(), String> {
        if words.peek() == Some("quotes") {
            let (command, tail) = quoting::set(&self.desk.names, first, &line.statement, self.now)?;
            self.send((&command, &tail), CommandStamp::at(self.now), "", line)?;
            return Ok(());
        }
        if first == "register" {
            let stamp = self.stamp(first, &mut words)?;
            let (command, tail) = self.desk.registration(&mut words, self.now)?;
            words.end()?;
            self.send((&command, &tail), stamp, "", line)?;
            return Ok(());
        }
        let label = words.option("named");
        let replacing = words.flag("replacing");
        let stamp = self.stamp(first, &mut words)?;
        let second = line.statement.split_whitespace().nth(1).unwrap_or_default();
        let mut command = if first == "again" {
            let label = words.next()?;
            let placed = self.desk.names.orders.get(label).ok_or("no such order")?;
            Command::PlaceOrder(ordering::again(&self.desk, *placed, &mut words, self.now)?)
        } else if first == "finalise" {
            let market = self.desk.market(&mut words)?;
            let proposal = self.proposal(market);
            Command::Finalise(Finalise { market, proposal })
        } else if let Some(command) = self.withdrawal_command(first, &mut words)? {
            command
        } else if let Some(command) =
            (self.desk).market_life_command(first, &mut words, self.now)?
        {
            command
        } else if let Some(command) = self.desk.operator_command(first, &mut words)? {
            command
        } else {
            match words.next()? {
                verb @ ("BUY" | "SELL" | "signs") => {
                    self.orders += 1;
                    let (desk, now, number) = (&self.desk, self.now, self.orders);
                    let placed = ordering::signed(desk, first, verb, &mut words, now, number)?;
                    Command::PlaceOrder(placed)
                }
                "renews" => quoting::renewal(&self.desk.names, first, &mut words)?,
                "limits" => quoting::limits(&self.desk.names, first, &mut words)?,
                verb => self.desk.trader_command(first, verb, &mut words)?,
            }
        };
        words.end()?;
        if replacing {
            self.name_replaced(&mut command)?;
        }
        self.send((&command, &[]), stamp, second, line)?;
        if let (Command::PlaceOrder(placed), Some(label)) = (command, label) {
            self.desk.names.orders.insert(label.to_owned(), placed);
        }
        Ok(())
    }

    /// `alice requests 60 [until 3600]`, in seconds; `alice drops w1`; `claim w1`, `pay w1 [by wire1]`,
    /// `fail w1`.
    fn withdrawal_command(
        &mut self,
        first: &str,
        words: &mut Words<'_>,
    ) -> Result<Option<Command>, String> {
        Ok(Some(match (first, words.peek()) {
            (_, Some("requests")) => {
                words.next()?;
                let amount = text::micros(words.next()?)?;
                let until = words.option("until").map(text::number).transpose()?;
                self.requests += 1;
                // Each is valid longer than the one before.
                let until = until.map_or(3_600_000 + self.requests, |seconds| seconds * 1_000);
                let signer = words.option("signed-by").unwrap_or(first);
                Command::RequestWithdrawal(RequestWithdrawal {
                    owner: self.desk.names.account(signer),
                    account: self.desk.names.account(first),
                    amount,
                    reference: self.desk.reference(words),
                    valid_until: TimeMs(self.now.millis().0 + until),
                })
            }
            (_, Some("drops")) => {
                words.next()?;
                Command::CancelWithdrawal(CancelWithdrawal {
                    account: self.desk.names.account(first),
                    withdrawal: self.withdrawal(words.next()?),
                })
            }
            ("claim", _) => Command::ClaimWithdrawal {
                withdrawal: self.withdrawal(words.next()?),
            },
            ("fail", _) => Command::FailWithdrawal {
                withdrawal: self.withdrawal(words.next()?),
            },
            ("pay", Some(name)) if name != "rebates" => {
                let withdrawal = self.withdrawal(words.next()?);
                let payment = words.option("by").map(str::to_owned);
                let payment = payment.unwrap_or_else(|| format!("p{}", withdrawal.0));
                Command::PayWithdrawal(PayWithdrawal {
                    withdrawal,
                    payment: Reference(padded(&payment)),
                })
            }
            _ => return Ok(None),
        }))
    }

    /// The number of the withdrawal with a reference, that waits or did; 0 of none.
    fn withdrawal(&mut self, name: &str) -> Sequence {
        let reference = Reference(padded(name));
        let state = self.exchange.state();
        let waiting = state.iter().find_map(|record| match record {
            StateRecord::PendingWithdrawal(it) if it.reference == reference => Some(it.withdrawal),
            _ => None,
        });
        if let Some(number) = waiting {
            self.withdrawals.insert(name.to_owned(), number);
        }
        self.withdrawals.get(name).copied().unwrap_or(Sequence(0))
    }

    /// `as ann` at the end, and `touched 3`. The first `as` of a binding is the kind of wallet. The first
    /// admin adds and revokes operators.
    fn stamp(&self, first: &str, words: &mut Words<'_>) -> Result<CommandStamp, String> {
        let mut stamp = CommandStamp::at(self.now);
        if first == "reopen" {
            // An engine starts: at the time of the last command.
            stamp.time = TimeNs(0);
        }
        if first == "operator" || first == "revoke" && words.count("operator") > 0 {
            stamp.operator = OperatorNumber::FIRST_ADMIN;
        }
        if let Some(touched) = words.option("touched") {
            let touched = text::number(touched)?;
            stamp.touched = touched.try_into().map_err(|_| "touched too much")?;
        }
        if words.count("as") > usize::from(first == "bind")
            && let Some(operator) = words.suffix("as")
        {
            stamp.operator = self.desk.names.operator(operator);
        }
        Ok(stamp)
    }

    /// `replacing`: the payout takes the place of the market's proposal.
    fn name_replaced(&self, command: &mut Command) -> Result<(), String> {
        let (market, replaces) = match command {
            Command::Propose(propose) => (propose.market, &mut propose.replaces),
            Command::ResolveMarket(resolve) => (resolve.market, &mut resolve.replaces),
            _ => return Err("only a payout replaces a proposal".to_owned()),
        };
        *replaces = Some(self.proposal(market));
        Ok(())
    }

    /// The number of a market's proposal; 0 without.
    fn proposal(&self, wanted: MarketNumber) -> Sequence {
        let state = self.exchange.state();
        let mut proposals = state.iter().filter_map(|record| match record {
            StateRecord::Proposal(state::Proposal {
                market, proposal, ..
            }) if *market == wanted => Some(*proposal),
            _ => None,
        });
        proposals.next().unwrap_or(Sequence(0))
    }

    /// Sends a command and compares its response and events with the line.
    fn send(
        &mut self,
        (command, tail): (&Command, &[u8]),
        stamp: CommandStamp,
        named: &str,
        line: &Line,
    ) -> Result<Verdict, String> {
        let (verdict, events) = self.exchange.apply(command, tail, stamp);
        self.desk.names.learn(command, named, &events);
        let answer = text::of_verdict(&verdict);
        match &line.answer {
            Some(expected) => begins_with(&answer, expected)?,
            None if is_carried_out(&verdict) => {}
            None => return Err(format!("the answer is `{answer}`")),
        }
        if let Some(expected) = &line.events {
            self.compare_events(expected, &events)?;
        }
        Ok(verdict)
    }

    fn compare_events(&self, expected: &[String], events: &[Event]) -> Result<(), String> {
        let names = &self.desk.names;
        let happened: Vec<_> = events
            .iter()
            .map(|event| text::of_event(event, names))
            .collect();
        same_text(&expected.join("\n      "), &happened.join("\n      "))
    }
}

fn is_carried_out(verdict: &Verdict) -> bool {
    !matches!(
        verdict,
        Verdict::Rejected(_)
            | Verdict::Repeated { .. }
            | Verdict::Applied(CommandOutcome::Order(OrderResult {
                status: OrderStatus::Killed(_),
                ..
            }))
    )
}

/// Compares word by word, up to the end of the expectation.
fn begins_with(answer: &str, expected: &str) -> Result<(), String> {
    let mut words = answer.split_whitespace();
    if expected
        .split_whitespace()
        .all(|word| words.next() == Some(word))
    {
        Ok(())
    } else {
        Err(format!("expected `{expected}`, the answer is `{answer}`"))
    }
}

fn same_text(expected: &str, found: &str) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!(
            "expected\n      {expected}\n    found\n      {found}"
        ))
    }
}
