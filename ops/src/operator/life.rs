//! Commands of a market's life: terms, words, proposals, policies.

use foretell_model::{ConditionId, OperatorRole, RoleSet};
use foretell_wire::operator::{
    Address, Clock, DisputeRequest, EventEdit, Finalisation, Hash, MarketEdit, OperatorCommand,
    PayoutName, PlainForm as _, PolicyChange, ProposalRequest, ProposalWithdrawal, TermsChange,
    WalletListing,
};

use super::arguments::{Describe, Market, Policy, Propose, Terms};
use super::{market_names, or_fresh};
use crate::config::Config;
use crate::failure::Failure;

/// The request of a command.
///
/// # Errors
/// An argument is wrong, or the market is unknown.
pub(super) fn command(config: &Config, command: &Market) -> Result<OperatorCommand, Failure> {
    let condition_of = |market: &str| market_names::condition_id(config, market);
    match command {
        Market::Terms(arguments) => terms(condition_of(&arguments.market)?, arguments),
        Market::Describe(arguments) => {
            let condition_id = condition_of(&arguments.market)?;
            Ok(describe(condition_id, arguments))
        }
        Market::DescribeEvent {
            id,
            title,
            slug,
            description,
            tags,
        } => Ok(OperatorCommand::DescribeEvent(EventEdit {
            event_id: *id,
            title: title.clone(),
            slug: slug.clone(),
            ticker: None,
            description: description.clone(),
            tags: tags.clone(),
        })),
        Market::Propose(arguments) => propose(condition_of(&arguments.market)?, arguments),
        Market::Dispute {
            market,
            counter,
            wallet,
        } => Ok(OperatorCommand::Dispute(DisputeRequest {
            condition_id: condition_of(market)?,
            counter: counter.clone().map(PayoutName::new),
            wallet: optional::<Address>("wallet", wallet.as_deref())?,
        })),
        Market::WithdrawProposal { market, wallet } => {
            Ok(OperatorCommand::WithdrawProposal(ProposalWithdrawal {
                condition_id: condition_of(market)?,
                wallet: optional::<Address>("wallet", wallet.as_deref())?,
            }))
        }
        Market::Finalise { market, proposal } => Ok(OperatorCommand::Finalise(Finalisation {
            condition_id: condition_of(market)?,
            proposal: *proposal,
        })),
        Market::Policy(arguments) => {
            let market = arguments.market.as_deref().map(condition_of).transpose()?;
            Ok(policy(market, arguments))
        }
        Market::PolicyWallet {
            wallet,
            market,
            propose,
            dispute,
        } => Ok(OperatorCommand::ListWallet(WalletListing {
            condition_id: market.as_deref().map(condition_of).transpose()?,
            wallet: Address::parse("wallet", wallet)?,
            propose: *propose,
            dispute: *dispute,
        })),
        other => Err(Failure::new(format!(
            "no command of a market's life: {other:?}"
        ))),
    }
}

fn optional<F: foretell_wire::operator::PlainForm<Json = str>>(
    field: &'static str,
    text: Option<&str>,
) -> Result<Option<F::Value>, Failure> {
    Ok(text.map(|text| F::parse(field, text)).transpose()?)
}

fn terms(condition_id: ConditionId, terms: &Terms) -> Result<OperatorCommand, Failure> {
    let change = TermsChange {
        opens_at: optional::<Clock>("opens_at", terms.opens_at.as_deref())?,
        closes_at: optional::<Clock>("closes_at", terms.closes_at.as_deref())?,
        game_start_time: optional::<Clock>("game_start_time", terms.game_start_time.as_deref())?,
        clear_book_on_start: terms.clear_book_on_start,
        taker_delay_ms: terms.taker_delay_ms,
        rebate_ppm: terms.rebate_ppm,
        ..TermsChange::new(condition_id)
    };
    Ok(OperatorCommand::SetTerms(change))
}

fn describe(condition_id: ConditionId, words: &Describe) -> OperatorCommand {
    OperatorCommand::DescribeMarket(Box::new(MarketEdit {
        question: words.question.clone(),
        outcomes: (words.outcomes.clone()).and_then(|labels| labels.try_into().ok()),
        description: words.description.clone(),
        slug: words.slug.clone(),
        tags: words.tags.clone(),
        category: words.category.clone(),
        image: words.image.clone(),
        end_date: words.end_date.clone(),
        resolution_source: words.resolution_source.clone(),
        ..MarketEdit::new(condition_id)
    }))
}

fn propose(condition_id: ConditionId, proposal: &Propose) -> Result<OperatorCommand, Failure> {
    let evidence = optional::<Hash>("evidence_sha256", proposal.evidence_sha256.as_deref())?;
    Ok(OperatorCommand::Propose(ProposalRequest {
        condition_id,
        payout: PayoutName::new(proposal.payout.clone()),
        proposal: proposal.proposal,
        source: proposal.source.clone(),
        evidence_sha256: evidence.unwrap_or_default(),
        window_seconds: proposal.window,
        wallet: optional::<Address>("wallet", proposal.wallet.as_deref())?,
        reference: or_fresh(&proposal.reference),
    }))
}

fn policy(condition_id: Option<ConditionId>, policy: &Policy) -> OperatorCommand {
    let set = |roles: &Option<Vec<OperatorRole>>| {
        let roles = roles.as_ref()?.iter();
        Some(roles.fold(RoleSet::NONE, |set, role| set.with(*role)))
    };
    OperatorCommand::SetPolicy(PolicyChange {
        condition_id,
        proposers: set(&policy.proposers),
        disputers: set(&policy.disputers),
        minimum_window_seconds: policy.window,
        second_person: policy.second_person,
        by_time: policy.by_time,
    })
}
