//! The audit of wide random journals: the core's results conserve money and shares, and are those of
//! the reference.

use foretell_audit::{Options, verify};
use foretell_auth::{Domain, Markets, OrderFields};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{RegisterDomain, SetQuotes};
use foretell_model::evidence::{ActEvidence, OrderEvidence, QuotesEvidence};
use foretell_model::state::{self, StateRecord};
use foretell_model::{
    AccountNumber, Command, CommandStamp, Event, MarketNumber, OperatorNumber, PlaceOrder, TokenId,
    Verdict, WalletAddress, WalletKind,
};

use crate::audit::seal::{Loose, seal};
use crate::audit::site::SPARE_DOMAIN;
use crate::properties::generator::{Generator, Sent};
use crate::properties::spread::over_cores;

const JOURNALS: u64 = 400;

#[test]
fn random_journals_are_sound() {
    let audited = over_cores(JOURNALS, |seed, _: &mut ()| {
        let frames = frames(seed);
        if frames.is_empty() {
            return Ok(());
        }
        let directory = tempfile::tempdir().expect("a directory");
        seal(directory.path(), &frames);
        for reference in [false, true] {
            let options = Options {
                reference,
                ..Options::default()
            };
            let report = verify(directory.path(), &options).expect("a journal");
            assert!(report.sound, "seed {seed}: {report}");
            assert_eq!(report.last_sequence.0, frames.len() as u64, "seed {seed}");
        }
        Ok::<_, ()>(())
    });
    audited.expect("a difference is a panic");
}

/// The core's journal of a seed's commands. Orders have their fields as evidence, without
/// signatures.
fn frames(seed: u64) -> Vec<Loose> {
    let mut exchange = Exchange::new(Capacity::default(), seed);
    let mut generator = Generator::new(seed);
    let (mut frames, mut state): (Vec<Loose>, Vec<StateRecord>) = (Vec::new(), Vec::new());
    let domain = spare_domain();
    let spare = Command::RegisterDomain(RegisterDomain {
        domain: domain.number(),
        separator: *domain.separator(),
    });
    let mut time = foretell_model::TimeNs(0);
    let mut events = Vec::new();
    let mut next = Some(Sent {
        command: spare,
        beside: Vec::new(),
        stamp: CommandStamp::at(time),
    });
    while let Some(Sent {
        command,
        beside,
        mut stamp,
    }) = next
    {
        // A generated domain has no text that gives its separator, a generated withdrawal none that gives its
        // reference.
        let is_made_up = matches!(command, Command::RegisterDomain(RegisterDomain { domain, .. }) if domain != SPARE_DOMAIN)
            || matches!(command, Command::RequestWithdrawal(_));
        if !is_made_up {
            time = time.max(stamp.time);
            stamp.time = time;
            // Rules before 3 know no operators, and nobody else signs an order.
            if matches!(command, Command::PlaceOrder(_) | Command::SetQuotes(_)) {
                stamp.operator = OperatorNumber::NONE;
            }
            let evidence = match command {
                Command::SetQuotes(set) => evidence_of_set(&set, &beside, &state),
                // What the generator has beside a command is its tail.
                _ => [
                    beside.clone(),
                    evidence_of(&command, stamp.operator, &state, &domain),
                ]
                .concat(),
            };
            events.clear();
            if let Verdict::Applied(_) = exchange.apply_with(&command, &beside, stamp, &mut events)
            {
                let is_killed = matches!(events[..], [Event::OrderKilled(_)]);
                frames.push(Loose {
                    sequence: exchange.sequence().0,
                    stamp,
                    command,
                    events: events.clone(),
                    evidence: if is_killed { Vec::new() } else { evidence },
                });
            }
        }
        state.clear();
        exchange.visit_state(&mut |record| state.push(*record));
        generator.observe(&command, &state);
        next = generator.next_sent();
    }
    frames
}

fn spare_domain() -> Domain {
    let contract = WalletAddress([9; 20]);
    Domain::new(
        SPARE_DOMAIN,
        "Foretell",
        "1",
        80_002,
        contract,
        Markets::Both,
    )
    .expect("a domain")
}

/// An operator's begins with a reason.
fn evidence_of(
    command: &Command,
    operator: OperatorNumber,
    state: &[StateRecord],
    domain: &Domain,
) -> Vec<u8> {
    let mut evidence = Vec::new();
    if operator != OperatorNumber::NONE {
        let (reason, own) = ("drawn at random", &[][..]);
        ActEvidence { reason, own }.encode(&mut evidence);
    }
    match command {
        Command::RegisterDomain(_) => evidence.extend(domain.text().bytes()),
        Command::PlaceOrder(order) => {
            if let Some(words) = words_of(order, state) {
                let domain = domain.number();
                OrderEvidence {
                    words: &words,
                    domain,
                    signature: &[1; 65],
                }
                .encode(&mut evidence);
            }
        }
        _ => {}
    }
    evidence
}

/// The tail of a set and its evidence, without a signature.
fn evidence_of_set(set: &SetQuotes, beside: &[u8], state: &[StateRecord]) -> Vec<u8> {
    let parties = account(set.account, state);
    let owner = parties.and_then(|(_, owner, _)| account(owner, state));
    let (Some((_, _, kind)), Some((owner, _, _)), Some(lists)) =
        (parties, owner, set.lists(beside))
    else {
        return Vec::new();
    };
    let mut evidence = beside[..beside.len() - lists.evidence.len()].to_vec();
    QuotesEvidence {
        signer: owner,
        signature_type: kind.code(),
        builder: [0; 32],
        chain: 80_002,
        signature: &[1; 65],
    }
    .encode(&mut evidence);
    evidence
}

/// The words a client would sign for this command; `None` when account or market do not exist, so
/// that there is no frame.
fn words_of(order: &PlaceOrder, state: &[StateRecord]) -> Option<[u8; 352]> {
    let (maker, owner, kind) = account(order.account, state)?;
    let (owner, _, _) = account(owner, state)?;
    let fields = OrderFields {
        salt: [3; 32],
        maker,
        signer: if kind == WalletKind::Deposit {
            maker
        } else {
            owner
        },
        token: tokens(order.market, state)?[order.outcome.index()],
        maker_amount: order.maker_amount,
        taker_amount: order.taker_amount,
        side: order.side,
        signature_type: kind,
        timestamp: order.timestamp,
        metadata: [0; 32],
        builder: [0; 32],
    };
    Some(fields.words())
}

fn account(
    number: AccountNumber,
    state: &[StateRecord],
) -> Option<(WalletAddress, AccountNumber, WalletKind)> {
    state.iter().find_map(|record| match *record {
        StateRecord::Account(state::Account {
            account,
            wallet,
            owner,
            kind,
            ..
        }) if account == number => Some((wallet, owner, kind)),
        _ => None,
    })
}

fn tokens(number: MarketNumber, state: &[StateRecord]) -> Option<[TokenId; 2]> {
    state.iter().find_map(|record| match *record {
        StateRecord::Market(state::Market { market, tokens, .. }) if market == number => {
            Some(tokens)
        }
        _ => None,
    })
}
