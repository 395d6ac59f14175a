//! Signed sets of quotes: answers that other libraries give, and what a signature does not cover.

use crate::common;

use common::{DEPOSIT, KINDS, PROXY, owner, signer, stranger, verify_set};
use foretell_auth::quotes::{QuotesMessage, quotes_separator};
use foretell_auth::signature::MalformedSignature;
use foretell_auth::{OwnerWallets, SignatureError};
use foretell_model::quote::{Quote, QuoteWord, quote_id};
use foretell_model::{
    ConditionId, Lots, OrderId, Outcome, Price, Sequence, Side, TimeMs, WalletAddress, WalletKind,
};
use proptest::prelude::*;

const CHAIN: u64 = 80_002;
const SALT: [u8; 32] = [7; 32];
const CONDITIONS: [ConditionId; 2] = [ConditionId([0x22; 32]), ConditionId([0xc4; 32])];

fn words() -> [QuoteWord; 3] {
    let quote = |condition, outcome, side, price, lots, grow_tail| {
        let (price, lots) = (Price(price), Lots(lots));
        let quote = Quote {
            condition,
            outcome,
            side,
            price,
            lots,
            grow_tail,
        };
        quote.word()
    };
    [
        quote(0, Outcome::Yes, Side::Buy, 4_200, 10_000, false),
        quote(0, Outcome::No, Side::Buy, 5_600, 10_000, true),
        quote(1, Outcome::No, Side::Sell, 9_990, 100_000_000_000, false),
    ]
}

/// A set of the deposit wallet with three quotes in two markets.
fn message(quotes: &[QuoteWord]) -> QuotesMessage<'_> {
    QuotesMessage {
        maker: DEPOSIT,
        signer: signer().address(),
        signature_type: WalletKind::Deposit,
        group: 15,
        revision: 1_710_000_000_000_000,
        seen: Sequence(123_456_789),
        timestamp: TimeMs(1_710_000_000_000),
        valid_until: TimeMs(1_710_000_060_000),
        builder: [0x33; 32],
        conditions: &CONDITIONS,
        quotes,
    }
}

/// As eth-account 0.14.0, viem 2.46.3 and alloy-sol-types 1.7.3 hash and sign them: a set without quotes, and
/// one with three.
#[test]
fn the_answers_of_other_libraries() {
    let separator = quotes_separator(CHAIN, &SALT);
    assert_eq!(
        hex::encode(separator),
        "95cc392b971f534370df8146171c7f5e3d1a063743e8a2395c342c126b4ba6eb"
    );
    let words = words();
    let three = message(&words);
    let none = QuotesMessage {
        maker: signer().address(),
        signature_type: WalletKind::Eoa,
        group: 0,
        revision: 1,
        seen: Sequence(u64::MAX),
        builder: [0; 32],
        conditions: &CONDITIONS[..1],
        quotes: &[],
        ..three
    };
    let cases = [
        (
            none,
            "3d0fb266b86495d0f5b416aadf91ee33d56e5d92fbb2eb4e09db0d5ebd87975b",
            "12ed69623814182b9a570002347cb14e3dca080f8e406dccc9e4e5d9b7033e46\
             2faebee46566062cadcfbec97b0d268cbf3cb5bd08d7cd16734252ffdc9a2b9c1b",
        ),
        (
            three,
            "6e7ae15437c955722f2d2ad7c923fcf60273a77f8d4adbbacca9455a8a26b23a",
            "91508fa64cdb8c78eb033acfa687feeba7e47e574acb7ff084b7bc9550a23dd8\
             71f0f5723f9d37b4e3d9e6ba76130d4b9cdd365cf01978556dbe95bd7c5812d71c",
        ),
    ];
    for (set, digest, signature) in cases {
        assert_eq!(hex::encode(set.digest(&separator).0), digest);
        let signed = signer().sign_quotes(&set, &separator);
        assert_eq!(hex::encode(signed), signature);
        let verified = verify_set(&set, &separator, &owner(), &signed);
        assert_eq!(verified, Ok(set.digest(&separator)));
        assert_eq!(set.verify_signature(&separator, &signed), verified);
    }
}

/// The words of those sets, as their signers packed them.
#[test]
fn the_words_of_other_libraries() {
    let packed = words().map(|word| hex::encode(word.0));
    assert_eq!(
        packed,
        [
            "0000000000001068000000000000271000000000000000000000000000000000",
            "00000100000015e0000000000000271001000000000000000000000000000000",
            "0001010100002706000000174876e80000000000000000000000000000000000",
        ]
    );
}

#[test]
fn the_id_of_a_quote_is_the_digest_with_its_index() {
    let digest = message(&words()).digest(&quotes_separator(CHAIN, &SALT));
    let id = |index| quote_id(&digest, index).to_string();
    let head = "0x6e7ae15437c955722f2d2ad7c923fcf60273a77f8d4adbbacca9455a8a26b2";
    assert_eq!(id(0), format!("{head}00"));
    assert_eq!(id(63), format!("{head}3f"));
}

#[test]
fn every_kind_of_maker_signs_with_65_bytes_of_its_owner() {
    let separator = quotes_separator(CHAIN, &SALT);
    for signature_type in KINDS {
        let maker = owner().wallet(signature_type).unwrap();
        let words = words();
        let set = QuotesMessage {
            maker,
            signature_type,
            ..message(&words)
        };
        let signature = signer().sign_quotes(&set, &separator);
        assert!(verify_set(&set, &separator, &owner(), &signature).is_ok());
        let mut spelled = signature;
        spelled[64] -= 27;
        assert!(verify_set(&set, &separator, &owner(), &spelled).is_ok());
    }
}

/// A signature that would recover the right key cannot help these, and a malformed one does not hide them.
#[test]
fn parties_are_checked_before_the_signature() {
    let separator = quotes_separator(CHAIN, &SALT);
    let words = words();
    let set = message(&words);
    let strange = QuotesMessage {
        signer: stranger().address(),
        ..set
    };
    let eoa = |maker, signature_type| QuotesMessage {
        maker,
        signature_type,
        ..set
    };
    let unbound = SignatureError::WalletNotBound;
    let cases = [
        (strange, owner(), SignatureError::SignerIsNotKeyOwner),
        (
            set,
            OwnerWallets::alone(stranger().address()),
            SignatureError::SignerIsNotKeyOwner,
        ),
        (
            set,
            OwnerWallets::alone(signer().address()),
            unbound(WalletKind::Deposit),
        ),
        (
            eoa(DEPOSIT, WalletKind::Eoa),
            owner(),
            unbound(WalletKind::Eoa),
        ),
        (
            eoa(PROXY, WalletKind::Safe),
            owner(),
            unbound(WalletKind::Safe),
        ),
        (
            eoa(signer().address(), WalletKind::Proxy),
            owner(),
            unbound(WalletKind::Proxy),
        ),
    ];
    for (set, owner, expected) in cases {
        for key in [signer(), stranger()] {
            let signature = key.sign_quotes(&set, &separator);
            assert_eq!(
                verify_set(&set, &separator, &owner, &signature),
                Err(expected)
            );
        }
        assert_eq!(verify_set(&set, &separator, &owner, &[]), Err(expected));
    }
}

#[test]
fn the_signature_of_another_key_or_for_another_exchange_is_refused() {
    let separator = quotes_separator(CHAIN, &SALT);
    let words = words();
    let set = message(&words);
    let refused = |signature: &[u8]| verify_set(&set, &separator, &owner(), signature).unwrap_err();
    let strange = stranger().sign_quotes(&set, &separator);
    assert_eq!(refused(&strange), SignatureError::OtherSigner);
    for (chain, salt) in [(CHAIN + 1, SALT), (CHAIN, [8; 32]), (CHAIN, [0; 32])] {
        let signature = signer().sign_quotes(&set, &quotes_separator(chain, &salt));
        assert_eq!(refused(&signature), SignatureError::OtherSigner);
    }
    let signature = signer().sign_quotes(&set, &separator);
    for length in [0, 64, 66] {
        let mut bytes = signature.to_vec();
        bytes.resize(length, 0);
        let malformed = MalformedSignature::Length(length);
        assert_eq!(refused(&bytes), SignatureError::Malformed(malformed));
    }
}

/// A set with its lists.
#[derive(Clone, Debug)]
struct Owned {
    fields: QuotesMessage<'static>,
    conditions: Vec<ConditionId>,
    quotes: Vec<QuoteWord>,
}

impl Owned {
    fn digest(&self, chain: u64, salt: &[u8; 32]) -> OrderId {
        let Self {
            fields,
            conditions,
            quotes,
        } = self;
        let message = QuotesMessage {
            conditions,
            quotes,
            ..*fields
        };
        message.digest(&quotes_separator(chain, salt))
    }
}

fn sets() -> impl Strategy<Value = Owned> {
    let parties = (
        any::<[u8; 20]>(),
        any::<[u8; 20]>(),
        prop::sample::select(KINDS.to_vec()),
    );
    let numbers = any::<(u8, u64, u64, u64, u64)>();
    let words = || prop::collection::vec(any::<[u8; 32]>(), 1..5);
    (parties, numbers, any::<[u8; 32]>(), words(), words()).prop_map(
        |((maker, signed_by, signature_type), numbers, builder, conditions, quotes)| {
            let (group, revision, seen, timestamp, valid_until) = numbers;
            let fields = QuotesMessage {
                maker: WalletAddress(maker),
                signer: WalletAddress(signed_by),
                signature_type,
                group,
                revision,
                seen: Sequence(seen),
                timestamp: TimeMs(timestamp),
                valid_until: TimeMs(valid_until),
                builder,
                conditions: &[],
                quotes: &[],
            };
            Owned {
                fields,
                conditions: conditions.into_iter().map(ConditionId).collect(),
                quotes: quotes.into_iter().map(QuoteWord).collect(),
            }
        },
    )
}

/// Every set that differs from one in a field, or in the length or order of a list.
fn changes(set: &Owned, at: prop::sample::Index, change: u8, number: u64) -> Vec<Owned> {
    let changed = |apply: &dyn Fn(&mut Owned)| {
        let mut changed = set.clone();
        apply(&mut changed);
        changed
    };
    let byte = at.index(32);
    let [condition, quote] = [set.conditions.len(), set.quotes.len()].map(|count| at.index(count));
    let kind = set.fields.signature_type;
    let other = KINDS[(usize::from(kind.code()) + 1 + at.index(3)) % 4];
    let mut all = vec![
        changed(&|it| it.fields.maker.0[at.index(20)] ^= change),
        changed(&|it| it.fields.signer.0[at.index(20)] ^= change),
        changed(&|it| it.fields.signature_type = other),
        changed(&|it| it.fields.group ^= change),
        changed(&|it| it.fields.revision ^= number),
        changed(&|it| it.fields.seen.0 ^= number),
        changed(&|it| it.fields.timestamp.0 ^= number),
        changed(&|it| it.fields.valid_until.0 ^= number),
        changed(&|it| it.fields.builder[byte] ^= change),
        changed(&|it| it.conditions[condition].0[byte] ^= change),
        changed(&|it| it.quotes[quote].0[byte] ^= change),
        changed(&|it| it.conditions.truncate(it.conditions.len() - 1)),
        changed(&|it| it.quotes.truncate(it.quotes.len() - 1)),
        changed(&|it| it.conditions.push(ConditionId([0; 32]))),
        changed(&|it| it.quotes.push(QuoteWord([0; 32]))),
        // A word moves from one list into the other.
        changed(&|it| {
            let moved = it.conditions.pop();
            it.quotes
                .insert(0, QuoteWord(moved.map_or([0; 32], |it| it.0)));
        }),
    ];
    if set.quotes.first() != set.quotes.last() {
        all.push(changed(&|it| it.quotes.reverse()));
    }
    all
}

proptest! {
    #[test]
    fn a_change_of_anything_is_another_digest(
        set in sets(), at: prop::sample::Index, change in 1_u8.., number in 1_u64..,
        chain: u64, salt: [u8; 32]
    ) {
        let digest = set.digest(chain, &salt);
        prop_assert_eq!(set.digest(chain, &salt), digest);
        for (index, changed) in changes(&set, at, change, number).iter().enumerate() {
            prop_assert_ne!(changed.digest(chain, &salt), digest, "change {}", index);
        }
        prop_assert_ne!(set.digest(chain ^ number, &salt), digest);
        let mut other = salt;
        other[at.index(32)] ^= change;
        prop_assert_ne!(set.digest(chain, &other), digest);
    }

    #[test]
    fn a_changed_signature_is_refused_or_spells_v_otherwise(
        at in 0_usize..65, change in 1_u8..
    ) {
        let separator = quotes_separator(CHAIN, &SALT);
        let words = words();
        let set = message(&words);
        let mut signature = signer().sign_quotes(&set, &separator);
        let v = signature[64];
        signature[at] ^= change;
        if verify_set(&set, &separator, &owner(), &signature).is_ok() {
            prop_assert_eq!(at, 64);
            prop_assert_eq!(signature[64] % 27, v % 27);
        }
    }

    #[test]
    fn any_bytes_as_a_signature_are_refused(
        signature in prop::collection::vec(any::<u8>(), 0..100)
    ) {
        let separator = quotes_separator(CHAIN, &SALT);
        let words = words();
        prop_assert!(verify_set(&message(&words), &separator, &owner(), &signature).is_err());
    }
}
