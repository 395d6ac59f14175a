//! Compares the records of a market's life: people, terms, resolution, rebates, work in the background.

use foretell_model::state::{self, BackgroundWork, StateRecord};
use foretell_model::{AccountNumber, MarketNumber, MarketTerms, Micros, OperatorNumber, TimeNs};
use foretell_view::{ListedWallet, Policy, View};

use super::compare::same;

/// Number of records of each kind: the view must not have more.
#[derive(Default)]
pub(super) struct Seen {
    operators: usize,
    terms: usize,
    policies: usize,
    listed: usize,
    proposals: usize,
    accrued: Vec<(AccountNumber, Micros)>,
    withdrawals: usize,
    background: usize,
}

pub(super) fn compare(view: &View, record: &StateRecord, seen: &mut Seen) -> Result<(), String> {
    match *record {
        StateRecord::Site(state::Site {
            payments, policy, ..
        }) => {
            same("payments", &view.people().payments, &payments)?;
            same("policy", &view.resolutions().site.policy, &policy)
        }
        StateRecord::Operator(state::Operator {
            operator,
            name,
            role,
            token,
            added,
            live,
        }) => {
            seen.operators += 1;
            let known = view.people().operator(operator).ok_or("no operator")?;
            let is_live = known.is_live();
            if added > TimeNs(0) {
                same("added", &known.added, &added)?;
            }
            let known = (known.name, known.role, known.token, is_live);
            same("operator", &known, &(name, role, token, live))
        }
        StateRecord::Terms(state::Terms {
            market,
            terms,
            clear_armed,
        }) => {
            seen.terms += 1;
            let known = view.markets().get(market).ok_or("no market")?;
            same("terms", &known.terms, &terms)?;
            same("armed", &known.clear_armed, &clear_armed)
        }
        StateRecord::Policy(state::Policy { market, policy }) => {
            seen.policies += 1;
            let known = view.resolutions().own_policy(market).ok_or("no policy")?;
            same("policy", &known.policy, &policy)
        }
        StateRecord::ListedWallet(state::ListedWallet {
            market,
            account,
            propose,
            dispute,
        }) => {
            seen.listed += 1;
            let known = policy_of(view, market).ok_or("no policy")?;
            let listed = ListedWallet { propose, dispute };
            same("listed", &known.wallets.get(&account), &Some(&listed))
        }
        StateRecord::Proposal(_) => {
            seen.proposals += 1;
            compare_proposal(view, record)
        }
        StateRecord::Accrued(state::Accrued { account, amount }) => {
            seen.accrued.push((account, amount));
            Ok(())
        }
        StateRecord::PendingWithdrawal(it) => {
            seen.withdrawals += 1;
            let waiting = view.withdrawals().waiting();
            let known = waiting.get(it.withdrawal).ok_or("no withdrawal")?;
            let is_by_operator = known.asked_by != OperatorNumber::NONE;
            let known = (
                is_by_operator,
                known.claimed_by,
                known.two_persons,
                known.account,
                known.amount,
            );
            let it = (
                it.by_operator,
                it.claimed_by,
                it.two_persons,
                it.account,
                it.amount,
            );
            same("withdrawal", &known, &it)
        }
        StateRecord::Background(state::Background {
            first,
            work,
            next,
            end,
            paid,
        }) => {
            let task = view.background().tasks().nth(seen.background);
            seen.background += 1;
            let market = match work {
                BackgroundWork::Settlement { market } => Some(market),
                BackgroundWork::Rebates => None,
            };
            let known = task.map(|it| (it.first, it.market, it.next, it.end, it.paid));
            same(
                "background",
                &known,
                &Some((first, market, next, end, paid)),
            )
        }
        _ => Err("not a record of a market's life".to_owned()),
    }
}

fn policy_of(view: &View, market: Option<MarketNumber>) -> Option<&Policy> {
    match market {
        None => Some(&view.resolutions().site),
        Some(market) => view.resolutions().own_policy(market),
    }
}

fn compare_proposal(view: &View, record: &StateRecord) -> Result<(), String> {
    let StateRecord::Proposal(state::Proposal {
        market,
        proposal,
        time,
        payout,
        operator,
        by,
        window_seconds,
        evidence,
        by_time,
        second_person,
        disputed,
        disputed_by_time,
        counter,
    }) = *record
    else {
        return Ok(());
    };
    let known = view.resolutions().proposal(market).ok_or("no proposal")?;
    let dispute = view.resolutions().dispute(market);
    same("number", &(known.number, known.time), &(proposal, time))?;
    same("payout", &known.payout, &payout)?;
    same("proposer", &(known.operator, known.wallet), &(operator, by))?;
    same("window", &known.window_seconds, &window_seconds)?;
    same("evidence", &known.evidence, &evidence)?;
    let rules = (known.by_time, known.second_person);
    same("rules", &rules, &(by_time, second_person))?;
    same("disputed", &dispute.is_some(), &disputed)?;
    let by_nobody =
        dispute.is_some_and(|it| it.operator == OperatorNumber::NONE && it.wallet.is_none());
    same("disputed by time", &by_nobody, &disputed_by_time)?;
    same("counter", &dispute.and_then(|it| it.counter), &counter)
}

pub(super) fn compare_counts(view: &View, seen: &Seen) -> Result<(), String> {
    let resolutions = view.resolutions();
    same(
        "operators",
        &view.people().operators().len(),
        &seen.operators,
    )?;
    let with_terms = (view.markets().iter())
        .filter(|(_, market)| market.terms != MarketTerms::default())
        .count();
    same("terms", &with_terms, &seen.terms)?;
    same(
        "policies",
        &resolutions.own_policies().len(),
        &seen.policies,
    )?;
    let own = resolutions.own_policies().map(|(_, policy)| policy);
    let lists = own.chain([&resolutions.site]);
    let listed: usize = lists.map(|policy| policy.wallets.len()).sum();
    same("listed wallets", &listed, &seen.listed)?;
    same("proposals", &resolutions.proposals().len(), &seen.proposals)?;
    let waiting = view.withdrawals().waiting().count();
    same("withdrawals", &waiting, &seen.withdrawals)?;
    same("work", &view.background().tasks().len(), &seen.background)?;
    let accrued: Vec<_> = (view.accounts().iter())
        .map(|(number, account)| (number, account.accrued))
        .filter(|(_, amount)| *amount != Micros::ZERO)
        .collect();
    same("accrued", &accrued, &seen.accrued)?;
    let sum = seen.accrued.iter().map(|(_, amount)| *amount).sum();
    same("accrued in all", &view.system().accrued, &sum)
}
