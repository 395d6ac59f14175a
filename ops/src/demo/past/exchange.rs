//! What gateway and clients would send in the past: commands with their evidence, to the engine's core.
//!
//! It does in 300 lines what a gateway does in front of an engine, and stays: the past has 15,260 commands, 10,965 of
//! them signed orders, written in a second. An order through gateway and engine takes 1.9 ms in the build of the README
//! (`foretell-bench entry`, most of it the disk), so the same past would take half a minute, and a demo must be ready
//! within three seconds.

use std::collections::HashMap;

use foretell_auth::signing::signed_order_id;
use foretell_auth::{Domains, KeyOrigin, MasterSecret, Signer};
use foretell_catalog::Unit;
use foretell_catalog::record::{Record, RecordKind, read};
use foretell_catalog_sync::difference::{Allowance, ExchangeState, Policy, Stops, difference};
use foretell_catalog_sync::market_text;
use foretell_engine::{EngineError, PastWriter};
use foretell_model::command::{CancelMarketOrders, Deposit, Merge, RegisterKey, ResolveMarket};
use foretell_model::evidence::{ActEvidence, OrderEvidence};
use foretell_model::tail::Tail;
use foretell_model::{
    AccountNumber, Command, CommandOutcome, ConditionId, Event, EventId, EventNumber, Fill,
    KeyNumber, Lots, MarketNumber, OperatorNumber, OrderType, Outcome, Payout, PlaceOrder,
    Reference, Sequence, TimeNs, TimeSeconds, Verdict,
};
use foretell_wire::operator::{MarketRegistration, OperatorCommand, Transfer};
use jiff::Timestamp;
use serde_json::Value;

use crate::config::Config;
use crate::failure::Failure;
use crate::processes::process::{engine_config, engine_failure, master_secret};
use crate::trader::Terms;

/// Markets that the past registers; the sample has fewer.
const MOST_MARKETS: u64 = 1_000;

/// A wallet with an API key.
pub(super) struct Client {
    signer: Signer,
    pub(super) account: AccountNumber,
    key: KeyNumber,
}

/// The trades of an order.
#[derive(Default)]
pub(super) struct Traded {
    pub(super) lots: u64,
    pub(super) fills: Vec<Fill>,
}

/// The exchange of the past.
pub(super) struct PastExchange {
    writer: PastWriter,
    domains: Domains,
    master: MasterSecret,
    time: TimeNs,
    /// Number of orders, which is the next salt, and of other references.
    pub(super) orders: u64,
    references: u64,
    events: HashMap<u64, EventNumber>,
    markets: HashMap<ConditionId, MarketNumber>,
}

impl PastExchange {
    /// Begins a journal; `None` when there is one.
    pub(super) fn begin(
        config: &Config,
        from: TimeNs,
        until: TimeNs,
    ) -> Result<Option<Self>, Failure> {
        let begun = PastWriter::begin(&engine_config(config)?, from, until);
        let Some(writer) = begun.map_err(failed)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            writer,
            domains: config.signing.parsed()?,
            master: master_secret(config)?,
            time: from,
            orders: 0,
            references: 0,
            events: HashMap::new(),
            markets: HashMap::new(),
        }))
    }

    pub(super) fn set_time(&mut self, time: TimeNs) {
        self.time = time;
        self.writer.set_time(time);
    }

    pub(super) fn finish(self) -> Result<Sequence, Failure> {
        self.writer.finish().map_err(failed)
    }

    /// Registers the markets of an event as catalog-sync does: with what it would find missing.
    pub(super) fn register(&mut self, record: &Value) -> Result<(), Failure> {
        let parsed = read(Some(RecordKind::Event), record.to_string().as_bytes());
        let Ok(Record::Event(mut event)) = parsed.map(|parsed| parsed.record) else {
            return Err(Failure::new("an event of the sample cannot be read"));
        };
        let markets = std::mem::take(&mut event.markets);
        let unit = Unit {
            change: 1,
            event: Some(*event),
            is_whole: true,
            markets,
        };
        let mut allowance = Allowance {
            policy: Policy::default(),
            now: Timestamp::UNIX_EPOCH,
            new_markets: MOST_MARKETS,
            live: 0,
            early_closed: 0,
            stops: Stops::default(),
            vanished: Default::default(),
        };
        let group = market_text::group(&unit);
        let plan = difference(&group, &ExchangeState::default(), &mut allowance);
        let mut steps = plan.steps.into_iter().flatten();
        steps.try_for_each(|command| self.operate(command))
    }

    fn operate(&mut self, command: OperatorCommand) -> Result<(), Failure> {
        match command {
            OperatorCommand::RegisterEvent(event) => {
                let id = event.event_id;
                let evidence = event.into_description().to_evidence()?;
                let command = Command::RegisterEvent { event: EventId(id) };
                if let CommandOutcome::Event(number) = self.act(&command, &evidence)? {
                    self.events.insert(id, number);
                }
                Ok(())
            }
            OperatorCommand::RegisterMarket(market) => self.register_market(&market),
            OperatorCommand::ActivateMarket(name) => {
                let market = self.market(&name.condition_id)?;
                self.act(&Command::ActivateMarket { market }, &[]).map(drop)
            }
            other => Err(Failure::new(format!("the sample needs {}", other.path()))),
        }
    }

    fn register_market(&mut self, market: &MarketRegistration) -> Result<(), Failure> {
        let terms = &market.terms;
        let event = terms.event_id.and_then(|id| self.events.get(&id)).copied();
        let evidence = market.description.to_evidence()?;
        let mut tail = Vec::new();
        Tail::append(&[market.details(market.content())], &mut tail);
        let command = Command::RegisterMarket(market.command(event));
        let done = self.act_beside(&command, tail, &evidence)?;
        let CommandOutcome::Market(number) = done else {
            return Err(refused(&done));
        };
        self.markets.insert(terms.condition_id, number);
        Ok(())
    }

    /// The number of a registered market.
    pub(super) fn market(&self, condition: &ConditionId) -> Result<MarketNumber, Failure> {
        let number = self.markets.get(condition).copied();
        number.ok_or_else(|| Failure::new(format!("market {condition} is not registered")))
    }

    /// Closes a market, pays it, and pays its holders.
    pub(super) fn resolve(&mut self, market: MarketNumber, payout: Payout) -> Result<(), Failure> {
        self.act(&Command::CloseMarket { market }, &[])?;
        let resolution = ResolveMarket {
            market,
            payout,
            replaces: None,
        };
        self.act(&Command::ResolveMarket(resolution), &[])?;
        self.writer.do_background_work().map_err(failed)
    }

    /// Funds a wallet and makes its API key of nonce 0.
    pub(super) fn connect(&mut self, key: &str, funding: &Transfer) -> Result<Client, Failure> {
        let signer = Signer::from_hex(key).ok_or_else(|| Failure::new("not a private key"))?;
        let reference = funding.reference.as_bytes();
        let deposit = Deposit {
            wallet: funding.wallet,
            amount: funding.amount,
            reference: Reference(*blake3::hash(reference).as_bytes()),
        };
        let done = self.act(&Command::Deposit(deposit), reference)?;
        let CommandOutcome::Account(account) = done else {
            return Err(refused(&done));
        };
        let origin = KeyOrigin {
            owner: signer.address(),
            nonce: [0; 32],
        };
        let trio = self.master.trio(&origin, self.domains.chain_id());
        let registration = RegisterKey {
            owner: origin.owner,
            nonce: origin.nonce,
            api_key: trio.api_key,
            read_only: false,
        };
        let done = self.send(&Command::RegisterKey(registration), &[])?;
        let Some(CommandOutcome::Key(key)) = done else {
            return Err(refused(&done));
        };
        Ok(Client {
            signer,
            account,
            key,
        })
    }

    /// Cancels a client's orders in a market.
    pub(super) fn cancel(&mut self, client: &Client, market: MarketNumber) -> Result<(), Failure> {
        let cancel = CancelMarketOrders {
            owner: client.account,
            market,
            outcome: None,
        };
        self.send(&Command::CancelMarketOrders(cancel), &[])
            .map(drop)
    }

    /// Merges full sets.
    pub(super) fn merge(
        &mut self,
        client: &Client,
        market: MarketNumber,
        lots: u64,
    ) -> Result<(), Failure> {
        self.references += 1;
        let reference = format!("past-{}", self.references);
        let merge = Merge {
            account: client.account,
            market,
            lots: Lots(lots),
            reference: Reference(*blake3::hash(reference.as_bytes()).as_bytes()),
        };
        self.send(&Command::Merge(merge), reference.as_bytes())
            .map(drop)
    }

    /// Signs and places an order for an outcome of a market.
    pub(super) fn place(
        &mut self,
        client: &Client,
        (market, outcome): (MarketNumber, Outcome),
        terms: &Terms<'_>,
    ) -> Result<Traded, Failure> {
        self.orders += 1;
        let timestamp = self.time.millis();
        let fields = terms.fields(client.signer.address(), self.orders, timestamp);
        let domain = self.domains.candidates(terms.neg_risk).next();
        let domain = domain.ok_or_else(|| Failure::new("no signing domain for this market"))?;
        let order = PlaceOrder {
            order: signed_order_id(&fields, domain),
            account: client.account,
            key: client.key,
            market,
            outcome,
            side: terms.side,
            order_type: match terms.order_type {
                "FAK" => OrderType::Fak,
                _ => OrderType::Gtc,
            },
            post_only: terms.post_only,
            maker_amount: terms.maker_amount,
            taker_amount: terms.taker_amount,
            expiration: TimeSeconds(terms.expiration),
            timestamp,
        };
        let mut evidence = Vec::new();
        OrderEvidence {
            words: &fields.words(),
            domain: domain.number(),
            signature: &client.signer.sign_order(&fields, domain),
        }
        .encode(&mut evidence);
        let done = self.send(&Command::PlaceOrder(order), &evidence)?;
        let Some(CommandOutcome::Order(result)) = done else {
            return Ok(Traded::default());
        };
        let fills = self.writer.events().iter().filter_map(|event| match event {
            Event::Fill(fill) => Some(*fill),
            _ => None,
        });
        Ok(Traded {
            lots: result.lots.0,
            fills: fills.collect(),
        })
    }

    /// A command of the first admin.
    fn act(&mut self, command: &Command, own: &[u8]) -> Result<CommandOutcome, Failure> {
        self.act_beside(command, Vec::new(), own)
    }

    /// The same with the command's tail.
    fn act_beside(
        &mut self,
        command: &Command,
        mut beside: Vec<u8>,
        own: &[u8],
    ) -> Result<CommandOutcome, Failure> {
        ActEvidence {
            reason: "simulated",
            own,
        }
        .encode(&mut beside);
        let applied = (self.writer).apply(OperatorNumber::FIRST_ADMIN, command, &beside);
        match applied.map_err(failed)? {
            Ok(Verdict::Applied(outcome)) => Ok(outcome),
            other => Err(refused(&other)),
        }
    }

    /// A command of a client, which the exchange must take; `None` when it changes nothing.
    fn send(
        &mut self,
        command: &Command,
        evidence: &[u8],
    ) -> Result<Option<CommandOutcome>, Failure> {
        let applied = self.writer.apply(OperatorNumber::NONE, command, evidence);
        match applied.map_err(failed)? {
            Ok(Verdict::Applied(outcome)) => Ok(Some(outcome)),
            // Nothing to cancel.
            Ok(_) => Ok(None),
            Err(rejection) => Err(refused(&rejection)),
        }
    }
}

fn failed(error: EngineError) -> Failure {
    engine_failure(&error)
}

fn refused(what: &dyn std::fmt::Debug) -> Failure {
    Failure::new(format!(
        "the demo's simulated history was rejected: {what:?}"
    ))
}
