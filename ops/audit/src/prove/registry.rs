//! What the journal's numbers stand for: accounts and their owners, markets, events, signing domains.

use std::sync::Arc;

use foretell_auth::Domain;
use foretell_model::command::{Begin, RegisterDomain, RegisterMarket};
use foretell_model::event::{AccountOpened, EventRegistered, KeyRegistered, MarketResolved};
use foretell_model::limits::MAX_QUESTIONS;
use foretell_model::operator::FIRST_OPERATORS;
use foretell_model::outside::outside_names;
use foretell_model::{
    AccountNumber, Command, ConditionId, Event, EventId, EventNumber, FrameRef, MarketNumber,
    OperatorName, OperatorNumber, OperatorRole, Payout, SlugDigest, TokenId, WalletAddress,
    WalletKind,
};
use serde_json::Value;

use crate::finding::{Check, Finding, Kind, Violation, ensure};

/// An account as its frames left it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    pub(crate) wallet: WalletAddress,
    /// Its owner; itself unless it is bound.
    pub(crate) owner: AccountNumber,
    pub(crate) kind: WalletKind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Market {
    pub(crate) condition: ConditionId,
    /// Of `[Yes, No]`.
    pub(crate) tokens: [TokenId; 2],
    pub(crate) event: Option<EventNumber>,
    pub(crate) payout: Option<Payout>,
}

/// An event group.
#[derive(Debug)]
struct EventGroup {
    /// Its id in the catalog.
    id: EventId,
    /// Its questions, in order.
    questions: Vec<MarketNumber>,
    outside: MarketNumber,
}

/// Everything that has a number. Numbers are given in order, so that one beyond the end of its list
/// was never given.
#[derive(Debug)]
pub(crate) struct Registry {
    pub(crate) accounts: Vec<Account>,
    pub(crate) markets: Vec<Market>,
    events: Vec<EventGroup>,
    domains: Vec<(u8, Arc<Domain>)>,
    /// The owner of each key.
    pub(crate) key_owners: Vec<AccountNumber>,
    /// Operator n at index n − 1, revoked ones included.
    operators: Vec<(OperatorName, OperatorRole)>,
    /// What the journal began as.
    pub(crate) begin: Begin,
    /// What the last restore named its frames; `None` before the first.
    branch: Option<[u8; 32]>,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            accounts: Vec::new(),
            markets: Vec::new(),
            events: Vec::new(),
            domains: Vec::new(),
            key_owners: Vec::new(),
            operators: FIRST_OPERATORS.into(),
            begin: Begin::default(),
            branch: None,
        }
    }
}

impl Registry {
    /// What names the trades of the next frame, of the journal with this genesis.
    pub(crate) fn branch(&self, genesis: &[u8; 32]) -> [u8; 32] {
        self.branch.unwrap_or(*genesis)
    }

    pub(crate) fn account(&self, number: AccountNumber) -> Check<&Account> {
        let account = self.accounts.get(number.0 as usize);
        account.ok_or_else(|| unknown("account", number.0))
    }

    pub(crate) fn market(&self, number: MarketNumber) -> Check<&Market> {
        let market = self.markets.get(number.0 as usize);
        market.ok_or_else(|| unknown("market", number.0))
    }

    pub(crate) fn questions(&self, event: EventNumber) -> Check<&[MarketNumber]> {
        Ok(&self.event(event)?.questions)
    }

    /// The outside question of an event.
    pub(crate) fn outside(&self, event: EventNumber) -> Check<MarketNumber> {
        Ok(self.event(event)?.outside)
    }

    /// The catalog's id of an event.
    pub(crate) fn event_id(&self, event: EventNumber) -> Check<EventId> {
        Ok(self.event(event)?.id)
    }

    fn event(&self, event: EventNumber) -> Check<&EventGroup> {
        let known = self.events.get(event.0 as usize);
        known.ok_or_else(|| unknown("event", event.0))
    }

    /// The name and role of an operator.
    pub(crate) fn operator(&self, number: OperatorNumber) -> Option<&(OperatorName, OperatorRole)> {
        self.operators.get(usize::from(number.0).checked_sub(1)?)
    }

    /// The domain journalled under a number.
    pub(crate) fn domain(&self, number: u8) -> Check<&Arc<Domain>> {
        let known = self.domains.iter().find(|(known, _)| *known == number);
        let domain = known.map(|(_, domain)| domain);
        domain.ok_or_else(|| {
            Violation::evidence(format!("signing domain {number} was never registered"))
        })
    }

    /// Takes in all events of a frame, for a command that only names what numbers stand for.
    ///
    /// # Errors
    /// The frame does not follow from those before it: damage, since nothing else is checked.
    pub(crate) fn take(&mut self, frame: &FrameRef<'_>) -> Result<(), Finding> {
        let mut events = frame.events.iter();
        let taken = events.try_for_each(|event| self.fold(frame, event));
        taken.map_err(|violation| Finding::new(Kind::Damage, frame.sequence, violation.text))
    }

    /// Takes in what an event of `frame` registers or changes.
    pub(crate) fn fold(&mut self, frame: &FrameRef<'_>, event: &Event) -> Check {
        match *event {
            Event::AccountOpened(AccountOpened { account, wallet }) => {
                self.accounts.push(Account {
                    wallet,
                    owner: account,
                    kind: WalletKind::Eoa,
                });
                check_last("account", account.0, self.accounts.len())
            }
            Event::Begun => {
                if let Command::Begin(begin) = frame.command {
                    self.begin = *begin;
                }
                Ok(())
            }
            Event::Restored { branch } => {
                self.branch = Some(branch.0);
                Ok(())
            }
            Event::WalletBound(bound) => self.bind(bound.wallet, bound.owner, bound.kind),
            Event::WalletUnbound(unbound) => {
                self.bind(unbound.wallet, unbound.wallet, WalletKind::Eoa)
            }
            Event::EventRegistered(EventRegistered { event, id, outside }) => {
                self.events.push(EventGroup {
                    id,
                    questions: Vec::new(),
                    outside,
                });
                check_last("event", event.0, self.events.len())?;
                // The names of an outside question follow from the id of its event.
                let (condition, tokens) = outside_names(id);
                self.add_market(outside, condition, tokens, Some(event))
            }
            Event::MarketRegistered(registered) => self.register_market(frame, registered.market),
            Event::MarketResolved(MarketResolved { market, payout }) => {
                let resolved = self.markets.get_mut(market.0 as usize);
                let resolved = resolved.ok_or_else(|| unknown("market", market.0))?;
                resolved.payout = Some(payout);
                Ok(())
            }
            Event::DomainRegistered { .. } => self.register_domain(frame),
            Event::KeyRegistered(KeyRegistered { key, owner }) => {
                self.key_owners.push(owner);
                check_last("key", key.0, self.key_owners.len())
            }
            Event::OperatorAdded { operator } => self.add_operator(frame, operator),
            _ => Ok(()),
        }
    }

    fn bind(&mut self, wallet: AccountNumber, owner: AccountNumber, kind: WalletKind) -> Check {
        let account = self.accounts.get_mut(wallet.0 as usize);
        let account = account.ok_or_else(|| unknown("account", wallet.0))?;
        (account.owner, account.kind) = (owner, kind);
        Ok(())
    }

    fn add_operator(&mut self, frame: &FrameRef<'_>, number: OperatorNumber) -> Check {
        let Command::AddOperator(added) = frame.command else {
            return Err(Violation::rule("an operator is added by another command"));
        };
        self.operators.push((added.name, added.role));
        // Operators are numbered from 1.
        check_last("operator", u32::from(number.0), self.operators.len() + 1)
    }

    fn register_market(&mut self, frame: &FrameRef<'_>, number: MarketNumber) -> Check {
        let Command::RegisterMarket(registered) = frame.command else {
            return Err(Violation::rule("a market is registered by another command"));
        };
        check_slug(frame, registered)?;
        if let Some(event) = registered.event {
            let group = self.events.get_mut(event.0 as usize);
            let group = group.ok_or_else(|| unknown("event", event.0))?;
            group.questions.push(number);
            ensure(group.questions.len() <= MAX_QUESTIONS as usize, || {
                format!("event {event} has more than {MAX_QUESTIONS} questions")
            })?;
        }
        let (condition, tokens) = (registered.condition, registered.tokens);
        self.add_market(number, condition, tokens, registered.event)
    }

    fn add_market(
        &mut self,
        number: MarketNumber,
        condition: ConditionId,
        tokens: [TokenId; 2],
        event: Option<EventNumber>,
    ) -> Check {
        self.markets.push(Market {
            condition,
            tokens,
            event,
            payout: None,
        });
        check_last("market", number.0, self.markets.len())
    }

    /// A domain's evidence is its text, from which its separator is computed.
    fn register_domain(&mut self, frame: &FrameRef<'_>) -> Check {
        let Command::RegisterDomain(RegisterDomain { domain, separator }) = *frame.command else {
            return Err(Violation::rule("a domain is registered by another command"));
        };
        let text = std::str::from_utf8(frame.act().own).ok();
        let known = text
            .and_then(|text| Domain::from_text(domain, text))
            .filter(|domain| *domain.separator() == separator)
            .ok_or_else(|| {
                Violation::evidence(format!(
                    "the text of signing domain {domain} does not give its separator"
                ))
            })?;
        ensure(self.domain(domain.0).is_err(), || {
            format!("domain {domain} is registered twice")
        })?;
        self.domains.push((domain.0, Arc::new(known)));
        Ok(())
    }
}

/// A registration that names a slug by its digest has that slug in its description.
fn check_slug(frame: &FrameRef<'_>, registered: &RegisterMarket) -> Check {
    let details = registered.details(frame.evidence);
    let (details, _) = details.ok_or_else(|| Violation::rule("a registration without details"))?;
    let description: Value = serde_json::from_slice(frame.act().own).unwrap_or_default();
    match description["slug"].as_str() {
        Some(slug) if registered.has_details && SlugDigest::of(slug) != details.slug => {
            Err(Violation::evidence(format!(
                "the slug of a registration is not the one of its description, {slug:?}"
            )))
        }
        _ => Ok(()),
    }
}

/// Checks the number of the last of `count` things, which are numbered from 0 in order.
fn check_last(what: &str, number: u32, count: usize) -> Check {
    let next = count - 1;
    ensure(number as usize == next, || {
        format!("{what} {number} is registered, {next} would be next")
    })
}

fn unknown(what: &str, number: u32) -> Violation {
    Violation::rule(format!("{what} {number} was never registered"))
}
