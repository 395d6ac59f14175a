//! Statements other than orders, as commands.

use foretell_model::command::{
    ArchiveMarket, AttestState, Begin, BindWallet, CancelAll, CancelMarketOrders, CancelOrder,
    Convert, DecreaseOrder, Deposit, Merge, PauseMarket, Redeem, RegisterKey, ResolveMarket,
    ResumeMarket, RevokeKey, SetClosedOnly, SetFee, SetHeartbeat, SetMinimumSize, SetTick, Split,
    Withdraw, WithdrawFees,
};
use foretell_model::{
    Branch, Command, EventId, FeeSchedule, Hold, Lots, MarketNumber, OrderId, Outcome, Payout,
    QuestionIndex, QuestionSet, Reference, Sequence, SystemMode, TimeNs, WalletKind,
};

use crate::scenarios::names::{Names, padded};
use crate::scenarios::text;
use crate::scenarios::words::Words;

/// State shared by all statements.
pub(crate) struct Desk {
    pub(crate) names: Names,
    /// Number of references assigned to statements that name none.
    references: u32,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self {
            names: Names::default(),
            references: 0,
        }
    }

    /// The command of a statement that begins with a keyword; `None` when the first word is a
    /// trader's name.
    pub(crate) fn operator_command(
        &mut self,
        first: &str,
        words: &mut Words<'_>,
    ) -> Result<Option<Command>, String> {
        Ok(Some(match first {
            "bind" => {
                let wallet = Names::wallet(words.next()?);
                words.expect("to")?;
                let owner = Names::wallet(words.next()?);
                words.expect("as")?;
                let kind = text::one_of(WalletKind::ALL, words.next()?)?;
                Command::BindWallet(BindWallet {
                    owner,
                    wallet,
                    kind,
                })
            }
            "unbind" => Command::UnbindWallet {
                wallet: Names::wallet(words.next()?),
            },
            "closed-only" => Command::SetClosedOnly(SetClosedOnly {
                wallet: Names::wallet(words.next()?),
                closed_only: on_or_off(words)?,
            }),
            "heartbeat" => Command::SetHeartbeat(SetHeartbeat {
                owner: self.names.account(words.next()?),
                on: on_or_off(words)?,
            }),
            "key" => {
                let name = words.next()?;
                let owner = words.option("of").unwrap_or(name);
                Command::RegisterKey(RegisterKey {
                    owner: Names::wallet(owner),
                    nonce: padded(words.option("nonce").unwrap_or("0")),
                    api_key: Names::api_key(name),
                    read_only: words.flag("read-only"),
                })
            }
            "revoke" => match words.option("operator") {
                Some(operator) => Command::RevokeOperator {
                    operator: self.names.operator(operator),
                },
                None => Command::RevokeKey(RevokeKey {
                    key: self.names.key(words.next()?),
                    cancel_orders: words.flag("cancelling"),
                }),
            },
            "collect" => {
                words.expect("fees")?;
                Command::WithdrawFees(WithdrawFees {
                    amount: text::micros(words.next()?)?,
                    reference: self.reference(words),
                })
            }
            "event" => {
                let id = padded(words.next()?);
                Command::RegisterEvent {
                    event: EventId(u64::from_be_bytes(id)),
                }
            }
            "mode" => Command::SetMode {
                mode: text::one_of(SystemMode::ALL, words.next()?)?,
            },
            "rules" => {
                let rules = text::number(words.next()?)?;
                Command::SwitchRules {
                    rules: rules.try_into().map_err(|_| format!("no rules {rules}"))?,
                }
            }
            "attest" => Command::AttestState(AttestState {
                sequence: Sequence(text::number(words.next()?)?),
                state: [0; 32],
                snapshot: [0; 32],
            }),
            "begin" => Command::Begin(Begin {
                sandbox: words.flag("sandbox"),
                pays_on_redeem: words.flag("redeem"),
                simulated_until: match words.option("simulated") {
                    Some(until) => TimeNs(text::number(until)?),
                    None => TimeNs(0),
                },
            }),
            "restore" => Command::Restore {
                branch: Branch(padded(words.next()?)),
            },
            "open" => {
                words.expect("withdrawals")?;
                Command::OpenWithdrawals
            }
            "advance" => Command::AdvanceTime,
            "continue" => Command::Continue,
            _ => return self.market_command(first, words),
        }))
    }

    fn market_command(
        &mut self,
        first: &str,
        words: &mut Words<'_>,
    ) -> Result<Option<Command>, String> {
        Ok(Some(match first {
            "activate" => Command::ActivateMarket {
                market: self.market(words)?,
            },
            "pause" => Command::PauseMarket(PauseMarket {
                hold: hold(words),
                market: self.market(words)?,
            }),
            "resume" => Command::ResumeMarket(ResumeMarket {
                hold: hold(words),
                market: self.market(words)?,
            }),
            "close" => Command::CloseMarket {
                market: self.market(words)?,
            },
            "resolve" => Command::ResolveMarket(ResolveMarket {
                market: self.market(words)?,
                payout: text::one_of(Payout::ALL, words.next()?)?,
                replaces: None,
            }),
            "archive" => Command::ArchiveMarket(ArchiveMarket {
                market: self.market(words)?,
                archived: on_or_off(words)?,
            }),
            "tick" => Command::SetTick(SetTick {
                market: self.market(words)?,
                tick: text::tick(words.next()?)?,
            }),
            "minimum" => Command::SetMinimumSize(SetMinimumSize {
                market: self.market(words)?,
                minimum_size: text::shares(words.next()?)?,
            }),
            "fee" => Command::SetFee(SetFee {
                market: self.market(words)?,
                fee: fee(words.next()?)?,
            }),
            _ => return Ok(None),
        }))
    }

    /// A trader's commands other than orders.
    pub(crate) fn trader_command(
        &mut self,
        name: &str,
        verb: &str,
        words: &mut Words<'_>,
    ) -> Result<Command, String> {
        let account = self.names.account(name);
        let wallet = Names::wallet(name);
        Ok(match verb {
            "deposits" => Command::Deposit(Deposit {
                wallet,
                amount: text::micros(words.next()?)?,
                reference: self.reference(words),
            }),
            "withdraws" => Command::Withdraw(Withdraw {
                wallet,
                amount: text::micros(words.next()?)?,
                reference: self.reference(words),
            }),
            "splits" => Command::Split(Split {
                account,
                lots: text::shares(words.next()?)?,
                market: self.market_option(words),
                reference: self.reference(words),
            }),
            "merges" => Command::Merge(Merge {
                account,
                lots: text::shares(words.next()?)?,
                market: self.market_option(words),
                reference: self.reference(words),
            }),
            "redeems" => Command::Redeem(Redeem {
                account,
                market: self.market(words)?,
                reference: self.reference(words),
            }),
            "converts" => {
                let lots: Lots = text::shares(words.next()?)?;
                words.expect("of")?;
                let questions = questions(words.next()?)?;
                words.expect("in")?;
                Command::Convert(Convert {
                    account,
                    event: self.names.event(words.next()?),
                    questions,
                    lots,
                    reference: self.reference(words),
                })
            }
            "cancels" => self.cancel(name, words)?,
            "decreases" => {
                let order = self.order(words.next()?)?;
                words.expect("to")?;
                Command::DecreaseOrder(DecreaseOrder {
                    owner: self.names.account(name),
                    order,
                    lots: text::shares(words.next()?)?,
                })
            }
            _ => return Err(format!("`{verb}` was not understood")),
        })
    }

    /// `o1`, `all`, or `market A [YES|NO]`.
    fn cancel(&self, name: &str, words: &mut Words<'_>) -> Result<Command, String> {
        let owner = self.names.account(name);
        let heartbeat = words.flag("for-silence");
        Ok(match words.next()? {
            "all" => Command::CancelAll(CancelAll { owner, heartbeat }),
            "market" => Command::CancelMarketOrders(CancelMarketOrders {
                owner,
                market: self.market(words)?,
                outcome: if words.flag("YES") {
                    Some(Outcome::Yes)
                } else {
                    words.flag("NO").then_some(Outcome::No)
                },
            }),
            label => Command::CancelOrder(CancelOrder {
                owner,
                order: self.order(label)?,
            }),
        })
    }

    /// The id of an order by its name.
    fn order(&self, label: &str) -> Result<OrderId, String> {
        let placed = self.names.orders.get(label);
        let placed = placed.ok_or_else(|| format!("no order is called `{label}`"))?;
        Ok(placed.order)
    }

    pub(crate) fn market(&self, words: &mut Words<'_>) -> Result<MarketNumber, String> {
        Ok(self.names.market(words.next()?))
    }

    /// `in A`, or the default market.
    pub(crate) fn market_option(&self, words: &mut Words<'_>) -> MarketNumber {
        let usual = self.names.usual_market.as_deref().unwrap_or_default();
        self.names.market(words.option("in").unwrap_or(usual))
    }

    /// `ref r`, or an unused one.
    pub(crate) fn reference(&mut self, words: &mut Words<'_>) -> Reference {
        self.references += 1;
        match words.option("ref") {
            Some(reference) => Reference(padded(reference)),
            None => Reference(padded(&format!("#{}", self.references))),
        }
    }
}

/// The operator's hold, or with `upstream` the upstream's.
fn hold(words: &mut Words<'_>) -> Hold {
    match words.flag("upstream") {
        true => Hold::Upstream,
        false => Hold::Operator,
    }
}

pub(crate) fn index(text: &str) -> Result<QuestionIndex, String> {
    let number = u8::try_from(text::number(text)?).ok();
    let index = number.and_then(QuestionIndex::from_code);
    index.ok_or_else(|| format!("`{text}` is no index of a question"))
}

fn on_or_off(words: &mut Words<'_>) -> Result<bool, String> {
    match words.next()? {
        "on" => Ok(true),
        "off" => Ok(false),
        other => Err(format!("`{other}` is neither on nor off")),
    }
}

/// `40000^1`: parts per million and exponent.
pub(crate) fn fee(text: &str) -> Result<FeeSchedule, String> {
    let wrong = || format!("`{text}` is no fee");
    let (rate, exponent) = text.split_once('^').ok_or_else(wrong)?;
    Ok(FeeSchedule {
        rate_ppm: rate.parse().map_err(|_| wrong())?,
        exponent: exponent.parse().map_err(|_| wrong())?,
    })
}

/// `0,2`: indexes in the event's list; `none` is the empty set.
fn questions(text: &str) -> Result<QuestionSet, String> {
    if text == "none" {
        return Ok(QuestionSet::default());
    }
    text.split(',')
        .try_fold(QuestionSet::default(), |set, question| {
            question
                .parse()
                .map(|question| set.with(question))
                .map_err(|_| format!("`{question}` is no place in a list"))
        })
}
