//! Keys, event groups, markets, and system-wide switches.

use foretell_model::command::{RegisterDomain, RegisterKey};
use foretell_model::event::{
    EventRegistered, FeeSet, KeyRegistered, MarketArchived, MarketRegistered, MarketStateSet,
    MinimumSizeSet, TermsSet, TickSet,
};
use foretell_model::words::edited;
use foretell_model::{Command, Event, MarketNumber, MarketState, SlugDigest};

use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::rows::keys::Key;
use crate::rows::markets::Market;
use crate::rows::system::Domain;
use crate::view::View;

impl View {
    pub(super) fn fold_key(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        match (event, step.frame.command) {
            (
                &Event::KeyRegistered(KeyRegistered { key, owner }),
                &Command::RegisterKey(RegisterKey {
                    nonce,
                    api_key,
                    read_only,
                    ..
                }),
            ) => self.keys.register(
                key,
                Key {
                    api_key,
                    owner,
                    nonce,
                    read_only,
                    created: step.now,
                    revoked: None,
                },
            ),
            (&Event::KeyRevoked { key }, _) => self.keys.revoke(key, step.now),
            _ => Err(mismatch(event)),
        }
    }

    pub(super) fn fold_question_list(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        match *event {
            Event::EventRegistered(registered) => {
                (self.events).register(registered, step.evidence(), step.now)?;
                let EventRegistered { event, id, outside } = registered;
                self.open_market(step, outside, Market::outside(event, id, step.at()))
            }
            Event::EventDescribed { event } => {
                let group = self.events.get_mut(event)?;
                group.description = edited(&group.description, step.evidence()).into();
                Ok(())
            }
            Event::EventFrozen { event } => {
                self.events.get_mut(event)?.frozen = true;
                Ok(())
            }
            _ => Err(mismatch(event)),
        }
    }

    pub(super) fn fold_market(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        match (event, step.frame.command) {
            (
                &Event::MarketRegistered(MarketRegistered {
                    market,
                    question,
                    has_slug,
                    ..
                }),
                Command::RegisterMarket(rules),
            ) => {
                let registered = Market {
                    has_slug,
                    ..Market::registered(rules, question, step.evidence(), step.at())
                };
                self.open_market(step, market, registered)?;
                match rules.event {
                    Some(event) => self.events.add_question(event, question, market),
                    None => Ok(()),
                }
            }
            (
                &Event::MarketStateSet(MarketStateSet {
                    market,
                    state,
                    holds,
                }),
                _,
            ) => {
                let market = self.markets.change(market, step.frame.sequence)?;
                market.state = state;
                market.holds = holds;
                let since = match state {
                    MarketState::Active => &mut market.activated,
                    MarketState::Closed => &mut market.closed,
                    MarketState::Registered | MarketState::Paused | MarketState::Resolved => {
                        return Ok(());
                    }
                };
                since.get_or_insert(step.now);
                Ok(())
            }
            (&Event::MarketArchived(MarketArchived { market, archived }), _) => {
                self.markets.change(market, step.frame.sequence)?.archived = archived;
                Ok(())
            }
            (&Event::MarketDescribed { market }, Command::DescribeMarket(edit)) => {
                let market = self.markets.change(market, step.frame.sequence)?;
                market.has_slug = edit
                    .slug
                    .map_or(market.has_slug, |slug| slug != SlugDigest::ZERO);
                market.description = edited(&market.description, step.evidence()).into();
                Ok(())
            }
            _ => Err(mismatch(event)),
        }
    }

    fn open_market(
        &mut self,
        step: &FoldStep<'_>,
        number: MarketNumber,
        market: Market,
    ) -> Result<(), Impossible> {
        self.markets.add(number, market)?;
        self.books.open(number, step.at())?;
        self.midpoints.open(number)?;
        self.positions.open_market();
        self.volume.open_market(number)
    }

    /// Tick, minimum size, fee and terms. The first two are shown with the book.
    pub(super) fn fold_rules(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        let sequence = step.frame.sequence;
        match *event {
            Event::TickSet(TickSet { market, tick }) => {
                self.markets.change(market, sequence)?.tick = tick;
                self.books.touch(market, step.at())?;
            }
            Event::MinimumSizeSet(MinimumSizeSet {
                market,
                minimum_size,
            }) => {
                self.markets.change(market, sequence)?.minimum_size = minimum_size;
                self.books.touch(market, step.at())?;
            }
            Event::FeeSet(FeeSet { market, fee }) => {
                self.markets.change(market, sequence)?.fee = fee
            }
            Event::TermsSet(TermsSet {
                market,
                terms,
                clear_armed,
            }) => {
                let market = self.markets.change(market, sequence)?;
                market.terms = terms;
                market.clear_armed = clear_armed;
            }
            Event::MarketCleared { market } => {
                let market = self.markets.change(market, sequence)?;
                market.cleared = Some(step.now);
                market.clear_armed = false;
            }
            _ => return Err(mismatch(event)),
        }
        Ok(())
    }

    pub(super) fn fold_system(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        let system = &mut self.system;
        match (event, step.frame.command) {
            (&Event::ModeSet { mode }, _) => system.mode = mode,
            (Event::SettingsChanged, Command::ChangeSettings { settings }) => {
                system.settings = settings.applied_to(system.settings);
            }
            (&Event::RulesSwitched { rules }, _) => system.rules = rules,
            (Event::DivergenceAccepted | Event::StateAttested, _) => {}
            (Event::Begun, Command::Begin(beginning)) => system.beginning = *beginning,
            (&Event::ClockMoved { clock }, _) => {
                system.clock = clock;
                system.time = clock.engine;
            }
            (&Event::Restored { branch }, _) => {
                system.branch = branch;
                system.restored = step.frame.sequence;
                system.withdrawals_shut = true;
                self.resolutions.reopen(step.now);
            }
            (Event::WithdrawalsOpened, _) => {
                system.withdrawals_shut = false;
                self.resolutions.reopen(step.now);
            }
            (&Event::Reopened { at }, _) => self.resolutions.reopen(at),
            (
                &Event::DomainRegistered { domain },
                &Command::RegisterDomain(RegisterDomain { separator, .. }),
            ) => {
                let entry = Domain {
                    separator,
                    text: step.evidence().into(),
                    registered: step.now,
                };
                if system.domains.insert(domain, entry).is_some() {
                    return Err(Impossible::DuplicateName);
                }
            }
            (Event::WorkPending, _) => system.work_pending = true,
            _ => return Err(mismatch(event)),
        }
        Ok(())
    }
}
