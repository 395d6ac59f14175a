//! The audit of withdrawals: their owner signed what was executed, for this journal or its branch
//! (docs/verify/rules.md §30, §31).

use foretell_audit::{Options, verify};
use foretell_auth::Signer;
use foretell_auth::withdrawal::WithdrawalMessage;
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{Deposit, RequestWithdrawal};
use foretell_model::evidence::{ActEvidence, WithdrawalEvidence};
use foretell_model::{
    AccountNumber, Branch, Command, CommandStamp, Micros, OperatorNumber, Reference, TimeMs,
    TimeNs, Verdict,
};

use crate::audit::seal::{GENESIS, Loose, seal};

const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const CHAIN: u64 = 80_002;
const NOW: TimeNs = TimeNs(1_800_000_000_000_000_000);

/// What a test changes of a sound journal.
#[derive(Clone, Copy)]
struct Signed {
    key: &'static str,
    chain: u64,
    salt: [u8; 32],
    destination: &'static str,
    reference: &'static str,
    amount: u64,
    branch: Option<[u8; 32]>,
}

const SOUND: Signed = Signed {
    key: KEY,
    chain: CHAIN,
    salt: GENESIS,
    destination: "bank account 7",
    reference: "rent",
    amount: 60,
    branch: None,
};

/// A deposit, a restore where there is a branch, and a withdrawal of 60 by the reference "rent", with
/// this signature.
fn frames(signed: Signed) -> Vec<Loose> {
    let owner = Signer::from_hex(KEY).expect("a key").address();
    let valid_until = TimeMs(NOW.millis().0 + 600_000);
    let message = WithdrawalMessage {
        wallet: owner,
        destination: signed.destination,
        amount: Micros(signed.amount),
        reference: signed.reference,
        valid_until,
    };
    let signer = Signer::from_hex(signed.key).expect("a key");
    let signature = signer.sign_digest(&message.digest(CHAIN, &signed.salt));
    let mut evidence = Vec::new();
    WithdrawalEvidence {
        chain: signed.chain,
        destination: SOUND.destination,
        reference: SOUND.reference,
        signature: &signature,
    }
    .encode(&mut evidence);
    let deposit = Command::Deposit(Deposit {
        wallet: owner,
        amount: Micros(100),
        reference: Reference([1; 32]),
    });
    let restore = signed.branch.map(|branch| Command::Restore {
        branch: Branch(branch),
    });
    let request = Command::RequestWithdrawal(RequestWithdrawal {
        owner: AccountNumber(0),
        account: AccountNumber(0),
        amount: Micros(60),
        reference: Reference(*blake3::hash(SOUND.reference.as_bytes()).as_bytes()),
        valid_until,
    });
    let open = signed.branch.map(|_| Command::OpenWithdrawals);
    let commands = [Some(deposit), restore, open, Some(request)]
        .into_iter()
        .flatten();
    let mut exchange = Exchange::new(Capacity::default(), 1);
    let applied = commands.map(|command| {
        let mut stamp = CommandStamp::at(NOW);
        if matches!(command, Command::OpenWithdrawals) {
            stamp.operator = OperatorNumber::FIRST_ADMIN;
        }
        let mut events = Vec::new();
        let verdict = exchange.apply(&command, stamp, &mut events);
        assert!(
            matches!(verdict, Verdict::Applied(_)),
            "{command:?}: {verdict:?}"
        );
        let mut of_command = Vec::new();
        match command {
            Command::RequestWithdrawal(_) => of_command.clone_from(&evidence),
            Command::OpenWithdrawals => {
                let (reason, own) = ("reconciled", &[][..]);
                ActEvidence { reason, own }.encode(&mut of_command);
            }
            _ => {}
        }
        Loose {
            sequence: exchange.sequence().0,
            stamp,
            command,
            events,
            evidence: of_command,
        }
    });
    applied.collect()
}

/// Numbers of sound and unsound signatures.
fn audited(signed: Signed) -> (u64, u64) {
    let directory = tempfile::tempdir().expect("a directory");
    seal(directory.path(), &frames(signed));
    let options = Options {
        signatures: true,
        reference: true,
        ..Options::default()
    };
    let report = verify(directory.path(), &options).expect("a journal");
    let counts = report.signatures.as_ref().expect("they were checked");
    assert_eq!(report.sound, counts.unsound == 0, "{report}");
    (counts.sound, counts.unsound)
}

#[test]
fn a_withdrawal_that_its_owner_did_not_sign_so_is_found() {
    assert_eq!(audited(SOUND), (1, 0));
    let branch = [7; 32];
    let restored = Signed {
        branch: Some(branch),
        salt: branch,
        ..SOUND
    };
    assert_eq!(audited(restored), (1, 0));
    let other_key = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
    for (what, wrong) in [
        (
            "signer",
            Signed {
                key: other_key,
                ..SOUND
            },
        ),
        (
            "chain",
            Signed {
                chain: 137,
                ..SOUND
            },
        ),
        (
            "exchange",
            Signed {
                salt: [8; 32],
                ..SOUND
            },
        ),
        (
            "destination",
            Signed {
                destination: "bank account 8",
                ..SOUND
            },
        ),
        (
            "reference",
            Signed {
                reference: "food",
                ..SOUND
            },
        ),
        (
            "amount",
            Signed {
                amount: 61,
                ..SOUND
            },
        ),
        (
            "before the restore",
            Signed {
                salt: GENESIS,
                ..restored
            },
        ),
    ] {
        assert_eq!(audited(wrong), (0, 1), "{what}");
    }
}
