//! The names a scenario uses, and the numbers the exchange gave them.

use foretell_model::operator::FIRST_OPERATORS;
use std::collections::BTreeMap;

use foretell_model::command::{AddOperator, RegisterKey};
use foretell_model::event::{AccountOpened, EventRegistered, KeyRegistered, MarketRegistered};
use foretell_model::{
    AccountNumber, ApiKey, Command, ConditionId, Event, EventNumber, KeyNumber, MarketNumber,
    OperatorName, OperatorNumber, PlaceOrder, TokenId, WalletAddress,
};

/// Everything that has a name.
#[derive(Default)]
pub(crate) struct Names {
    accounts: BTreeMap<String, AccountNumber>,
    keys: BTreeMap<String, KeyNumber>,
    markets: BTreeMap<String, MarketNumber>,
    events: BTreeMap<String, EventNumber>,
    operators: BTreeMap<String, OperatorNumber>,
    /// Named orders, as they were signed.
    pub(crate) orders: BTreeMap<String, PlaceOrder>,
    /// The default market: the first one.
    pub(crate) usual_market: Option<String>,
}

impl Names {
    /// The address of a wallet is its name.
    pub(crate) fn wallet(name: &str) -> WalletAddress {
        WalletAddress(padded(name))
    }

    pub(crate) fn api_key(name: &str) -> ApiKey {
        ApiKey(padded(name))
    }

    pub(crate) fn condition(name: &str) -> ConditionId {
        ConditionId(padded(name))
    }

    /// The tokens of market `A`, or two named ones: `A-NO,B-YES`.
    pub(crate) fn tokens(names: &str) -> [TokenId; 2] {
        let [yes, no] = match names.split_once(',') {
            Some((yes, no)) => [yes.to_owned(), no.to_owned()],
            None => ["YES", "NO"].map(|outcome| format!("{names}-{outcome}")),
        };
        [yes, no].map(|token| TokenId(padded(&token)))
    }

    /// The account's number. For an unknown name an unused number, because rejections are tested,
    /// too.
    pub(crate) fn account(&self, name: &str) -> AccountNumber {
        self.accounts
            .get(name)
            .copied()
            .unwrap_or(AccountNumber(u32::MAX))
    }

    pub(crate) fn key(&self, name: &str) -> KeyNumber {
        self.keys.get(name).copied().unwrap_or(KeyNumber(u32::MAX))
    }

    pub(crate) fn market(&self, name: &str) -> MarketNumber {
        self.markets
            .get(name)
            .copied()
            .unwrap_or(MarketNumber(u32::MAX))
    }

    pub(crate) fn event(&self, name: &str) -> EventNumber {
        self.events
            .get(name)
            .copied()
            .unwrap_or(EventNumber(u32::MAX))
    }

    pub(crate) fn operator(&self, name: &str) -> OperatorNumber {
        if name == "no-operator" {
            return OperatorNumber::NONE;
        }
        let first = (1..).map(OperatorNumber).zip(FIRST_OPERATORS);
        let mut first = first.filter(|(_, (known, _))| known.text() == name);
        let known = first.next().map(|(number, _)| number);
        let known = known.or_else(|| self.operators.get(name).copied());
        known.unwrap_or(OperatorNumber(u16::MAX))
    }

    /// An operator's name; the hash of its token follows from it.
    pub(crate) fn operator_name(name: &str) -> Result<OperatorName, String> {
        OperatorName::new(name).ok_or_else(|| format!("`{name}` is no name of an operator"))
    }

    pub(crate) fn name_of_account(&self, number: AccountNumber) -> &str {
        name_of(&self.accounts, number)
    }

    pub(crate) fn name_of_market(&self, number: MarketNumber) -> &str {
        name_of(&self.markets, number)
    }

    pub(crate) fn name_of_operator(&self, number: OperatorNumber) -> &str {
        name_of(&self.operators, number)
    }

    pub(crate) fn name_of_event(&self, number: EventNumber) -> &str {
        name_of(&self.events, number)
    }

    /// Records the numbers that a command assigned.
    pub(crate) fn learn(&mut self, command: &Command, named: &str, events: &[Event]) {
        for event in events {
            match *event {
                Event::AccountOpened(AccountOpened { account, wallet }) => {
                    self.accounts.insert(text(&wallet.0), account);
                }
                Event::KeyRegistered(KeyRegistered { key, .. }) => {
                    if let Command::RegisterKey(RegisterKey { api_key, .. }) = command {
                        self.keys.insert(text(&api_key.0), key);
                    }
                }
                Event::MarketRegistered(MarketRegistered {
                    market, condition, ..
                }) => {
                    let name = text(&condition.0);
                    self.usual_market.get_or_insert(name.clone());
                    self.markets.insert(name, market);
                }
                Event::OperatorAdded { operator } => {
                    if let Command::AddOperator(AddOperator { name, .. }) = command {
                        self.operators.insert(name.text().to_owned(), operator);
                    }
                }
                Event::EventRegistered(EventRegistered { event, outside, .. }) => {
                    self.events.insert(named.to_owned(), event);
                    self.markets.insert(format!("outside-of-{named}"), outside);
                }
                _ => {}
            }
        }
    }
}

/// A name as bytes, padded with zeros.
pub(crate) fn padded<const N: usize>(name: &str) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .trim_end_matches('\0')
        .to_owned()
}

fn name_of<N: PartialEq>(names: &BTreeMap<String, N>, number: N) -> &str {
    names
        .iter()
        .find(|(_, known)| **known == number)
        .map_or("nobody", |(name, _)| name)
}
