//! Checks the evidence of an order, a withdrawal or a set of quotes against its command: every signed field
//! must be the one that was executed. [`crate::prove::signatures`] checks that the owner signed it.

use foretell_model::command::{RequestWithdrawal, SetQuotes};
use foretell_model::evidence::{OrderEvidence, QuotesEvidence, WithdrawalEvidence};
use foretell_model::{AccountNumber, PlaceOrder, WalletAddress, WalletKind};

use crate::finding::{Check, Violation};
use crate::prove::registry::{Account, Market, Registry};

/// Who must have signed a command, as of its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Claim {
    /// Whose key must have signed: the owner of the wallet.
    pub(crate) owner: AccountNumber,
    /// The signing domain's number, of an order.
    pub(crate) domain: Option<u8>,
}

/// Compares the evidence of an order with its command, its account and its market.
pub(crate) fn check_order(order: &PlaceOrder, bytes: &[u8], registry: &Registry) -> Check<Claim> {
    let evidence = OrderEvidence::decode(bytes).ok_or_else(|| {
        Violation::evidence(format!(
            "{} bytes of evidence are no signed order",
            bytes.len()
        ))
    })?;
    let account = registry.account(order.account)?;
    let market = registry.market(order.market)?;
    check_parties(&evidence, account, registry)?;
    check_terms(&evidence, order, market)?;
    let domain = registry.domain(evidence.domain.0)?;
    same(domain.markets().include(market.event.is_some()), || {
        format!(
            "signing domain {} is not one for market {}",
            evidence.domain, order.market
        )
    })?;
    Ok(Claim {
        owner: account.owner,
        domain: Some(evidence.domain.0),
    })
}

/// Compares the evidence of a withdrawal with its command. The rest of what is signed is the command's.
pub(crate) fn check_withdrawal(
    asked: &RequestWithdrawal,
    bytes: &[u8],
    registry: &Registry,
) -> Check<Claim> {
    let evidence = WithdrawalEvidence::decode(bytes).ok_or_else(|| {
        Violation::evidence(format!(
            "{} bytes of evidence are no signed withdrawal",
            bytes.len()
        ))
    })?;
    let reference = blake3::hash(evidence.reference.as_bytes());
    same(*reference.as_bytes() == asked.reference.0, || {
        "another reference was signed than was executed".to_owned()
    })?;
    let owner = registry.account(asked.account)?.owner;
    same(asked.owner == owner, || {
        "a withdrawal was asked for by another than the account's owner".to_owned()
    })?;
    Ok(Claim {
        owner,
        domain: None,
    })
}

/// Compares the evidence of a set of quotes with its account. The rest of what is signed is the command's
/// and its tail's.
pub(crate) fn check_quotes(set: &SetQuotes, beside: &[u8], registry: &Registry) -> Check<Claim> {
    let lists = set.lists(beside);
    let evidence = lists.and_then(|lists| QuotesEvidence::decode(lists.evidence));
    let evidence = evidence.ok_or_else(|| {
        Violation::evidence(format!(
            "{} bytes are no tail and evidence of a set with {} markets and {} quotes",
            beside.len(),
            set.conditions,
            set.quotes
        ))
    })?;
    let account = registry.account(set.account)?;
    let owner = registry.account(account.owner)?.wallet;
    let (signed, signer) = (evidence.signature_type, evidence.signer);
    check_type(signed == account.kind.code(), signed, account)?;
    check_signer(signer == owner, signer, owner)?;
    Ok(Claim {
        owner: account.owner,
        domain: None,
    })
}

/// The maker is the order's account, its type what the account is to its owner, the signer the owner
/// (for a deposit wallet the wallet itself).
fn check_parties(evidence: &OrderEvidence<'_>, account: &Account, registry: &Registry) -> Check {
    let is_word = |index: usize, wallet: WalletAddress| {
        let word = evidence.word(index);
        word.first_chunk() == Some(&[0; 12]) && word.last_chunk() == Some(&wallet.0)
    };
    let wallet = account.wallet;
    same(is_word(1, wallet), || {
        format!("{} signed as maker, {wallet} traded", evidence.maker())
    })?;
    check_type(
        is_number(evidence.word(7), account.kind.code().into()),
        evidence.signature_type(),
        account,
    )?;
    let owner = registry.account(account.owner)?.wallet;
    let signer = match account.kind {
        WalletKind::Deposit => wallet,
        _ => owner,
    };
    check_signer(is_word(2, signer), evidence.signer(), signer)
}

fn check_type(holds: bool, signed: u8, account: &Account) -> Check {
    same(holds, || {
        let kind = account.kind.code();
        format!("signature type {signed} for a wallet that is type {kind} to its owner")
    })
}

fn check_signer(holds: bool, named: WalletAddress, signer: WalletAddress) -> Check {
    same(holds, || {
        format!("{named} is named as signer, it would be {signer}")
    })
}

fn check_terms(evidence: &OrderEvidence<'_>, order: &PlaceOrder, market: &Market) -> Check {
    let token = market.tokens[order.outcome.index()];
    same(evidence.token() == token, || {
        format!("token {} was signed, {token} was traded", evidence.token())
    })?;
    let numbers = [
        (4, order.maker_amount, "makerAmount"),
        (5, order.taker_amount, "takerAmount"),
        (6, order.side.code().into(), "side"),
        (8, order.timestamp.0, "timestamp"),
    ];
    for (index, executed, name) in numbers {
        same(is_number(evidence.word(index), executed), || {
            format!("{name} {executed} was executed, another one was signed")
        })?;
    }
    Ok(())
}

fn is_number(word: &[u8; 32], number: u64) -> bool {
    word.first_chunk() == Some(&[0; 24]) && word.last_chunk() == Some(&number.to_be_bytes())
}

fn same(holds: bool, text: impl FnOnce() -> String) -> Check {
    if holds {
        Ok(())
    } else {
        Err(Violation::evidence(text()))
    }
}
