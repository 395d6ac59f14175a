//! Damaged images: cut, altered, shuffled. None has the attested digest. Attested themselves, they are
//! refused or restored as exactly what they say, and nothing panics.

use std::collections::BTreeSet;

use foretell_matching::{Capacity, Exchange, RestoreError};
use foretell_model::digest::StateDigest;
use foretell_model::record::{RecordError, Vocabulary};
use foretell_model::state::{OrderIdState, StateRecord};
use foretell_model::{
    AccountNumber, EventNumber, KeyNumber, MarketNumber, Micros, Price, RejectionReason, WalletKind,
};

use crate::properties::generator::Generator;
use crate::properties::restore_agrees::{image_of, records_of};
use crate::properties::rng::Rng;

const SEQUENCES: u64 = 150;
/// Number of damaged images of each sequence's states.
const DAMAGES: u64 = 300;

/// The exchange of an image, as if that had been attested.
fn attested(image: &[u8]) -> Result<Exchange, RestoreError> {
    Exchange::read_image(Capacity::NONE, 1, image, StateDigest::of_image(image))
}

/// The exchange after a part of a sequence.
fn played(seed: u64, commands: u64) -> Exchange {
    let mut generator = Generator::new(seed);
    let mut exchange = Exchange::new(Capacity::NONE, seed);
    for _ in 0..commands {
        let Some(sent) = generator.next_sent() else {
            break;
        };
        let events = &mut Vec::new();
        exchange.apply_with(&sent.command, &sent.beside, sent.stamp, events);
        generator.observe(&sent.command, &records_of(&exchange));
    }
    exchange
}

#[test]
fn arbitrary_bytes_are_refused_or_restored_as_they_are() {
    let mut rng = Rng::new(1);
    for _ in 0..20_000 {
        let length = rng.index(200);
        // Small bytes are tags, flags and codes.
        let bound = rng.pick(&[2, 12, 256]);
        let image: Vec<u8> = (0..length)
            .map(|_| u8::try_from(rng.below(bound)).expect("below 256"))
            .collect();
        if let Ok(exchange) = attested(&image) {
            assert_eq!(image_of(&exchange), image);
        }
    }
}

#[test]
fn an_image_cut_anywhere_is_refused() {
    let exchange = played(3, 120);
    let image = image_of(&exchange);
    let mut ends = vec![0];
    for record in records_of(&exchange) {
        let mut bytes = Vec::new();
        record.append(&mut bytes);
        ends.push(ends[ends.len() - 1] + bytes.len());
    }
    for end in 0..image.len() {
        let Err(error) = attested(&image[..end]) else {
            // Without the last records it is the image of a state without what they say.
            assert!(ends.contains(&end), "{end} of {}", image.len());
            continue;
        };
        let is_cut = matches!(
            error,
            RestoreError::Unreadable {
                error: RecordError::Cut,
                ..
            }
        );
        assert_eq!(is_cut, !ends.contains(&end), "{end}: {error}");
    }
}

#[test]
fn altered_images_are_refused_or_restored_as_they_are() {
    let (mut refused, mut whole) = (0, 0);
    for seed in 0..SEQUENCES {
        let mut rng = Rng::new(seed + 77);
        let exchange = played(seed, 60 + rng.below(120));
        let (image, records) = (image_of(&exchange), records_of(&exchange));
        for _ in 0..DAMAGES {
            let damaged = if rng.percent(50) {
                with_bytes_changed(&mut rng, &image)
            } else {
                with_records_moved(&mut rng, &records)
            };
            let unattested = Exchange::read_image(Capacity::NONE, 1, &damaged, exchange.digest());
            assert!(damaged == image || unattested.is_err());
            match attested(&damaged) {
                Err(_) => refused += 1,
                Ok(other) => {
                    assert_eq!(image_of(&other), damaged);
                    whole += 1;
                }
            }
        }
    }
    // Many fields of a state are independent (a name, a time, a mark), so some alterations are
    // valid states.
    assert!(
        refused > 5_000 && whole > 500,
        "{refused} refused, {whole} whole"
    );
}

/// An alteration of each record that it fits, and why the list is refused then.
type Alteration = (fn(&mut StateRecord), &'static str);

const ALTERATIONS: &[Alteration] = &[
    (
        |record| {
            if let StateRecord::Account(account) = record {
                (account.kind, account.owner) = (WalletKind::Safe, AccountNumber(9_999));
            }
        },
        "unknown owner of a wallet",
    ),
    (
        |record| {
            if let StateRecord::Key(key) = record {
                key.owner = AccountNumber(9_999);
            }
        },
        "unknown account",
    ),
    (
        |record| {
            if let StateRecord::Market(market) = record {
                market.question = Some((EventNumber(9_999), 0));
            }
        },
        "unknown event group",
    ),
    (
        |record| {
            if let StateRecord::Order(order) = record {
                order.price = Price(0);
            }
        },
        "price is off the tick grid",
    ),
    (
        |record| {
            if let StateRecord::Order(order) = record {
                order.market = MarketNumber(9_999);
            }
        },
        "unknown market",
    ),
    (
        |record| {
            if let StateRecord::RememberedOrder(order) = record {
                order.key = KeyNumber(9_999);
            }
        },
        "unknown key",
    ),
    (
        |record| {
            if let StateRecord::RememberedOrder(order) = record {
                let (reason, minimum) = (RejectionReason::FokNotFilled, Micros(u64::MAX));
                order.state = OrderIdState::Killed { reason, minimum };
            }
        },
        "minimum out of range",
    ),
    (
        |record| {
            if let StateRecord::RememberedOrder(order) = record {
                order.state = OrderIdState::Done;
            }
        },
        "live orders and live ids differ",
    ),
    (
        |record| {
            if let StateRecord::RememberedReference(used) = record {
                used.scope = Some(AccountNumber(9_999));
            }
        },
        "unknown account",
    ),
    (
        |record| {
            if let StateRecord::Terms(terms) = record {
                terms.market = MarketNumber(9_999);
            }
        },
        "unknown market",
    ),
    (
        |record| {
            if let StateRecord::ListedWallet(listed) = record {
                listed.market = Some(MarketNumber(9_999));
            }
        },
        "a wallet is listed for a market without a policy",
    ),
    (
        |record| {
            if let StateRecord::Accrued(accrued) = record {
                accrued.amount = Micros(u64::MAX);
            }
        },
        "accrued rebates overflow",
    ),
    (
        |record| {
            if let StateRecord::DelayedOrder(delayed) = record {
                delayed.account = AccountNumber(9_999);
            }
        },
        "unknown account",
    ),
];

#[test]
fn what_cannot_be_indexed_summed_or_linked_is_refused() {
    let states: Vec<_> = (0..SEQUENCES)
        .map(|seed| records_of(&played(seed, 400)))
        .collect();
    for (row, (alter, expected)) in ALTERATIONS.iter().enumerate() {
        let reasons = states.iter().filter_map(|records| {
            let mut altered = records.clone();
            altered.iter_mut().for_each(alter);
            let mut image = Vec::new();
            altered.iter().for_each(|record| record.append(&mut image));
            match attested(&image) {
                Err(RestoreError::Impossible { what, .. }) => Some(what),
                _ => None,
            }
        });
        let mut reasons = reasons.collect::<BTreeSet<_>>();
        assert!(
            reasons.remove(expected),
            "row {row}, {expected}: {reasons:?}"
        );
    }
}

#[test]
fn a_list_in_another_order_is_another_state() {
    let records = records_of(&played(5, 150));
    let accounts: Vec<_> = (0..records.len())
        .filter(|at| matches!(records[*at], StateRecord::Account(_)))
        .collect();
    let mut swapped = records.clone();
    swapped.swap(accounts[0], accounts[1]);
    let mut image = Vec::new();
    swapped.iter().for_each(|record| record.append(&mut image));
    assert_eq!(attested(&image).err(), Some(RestoreError::OtherState));
}

fn with_bytes_changed(rng: &mut Rng, image: &[u8]) -> Vec<u8> {
    let mut bytes = image.to_vec();
    for _ in 0..=rng.below(2) {
        let at = rng.index(bytes.len());
        match rng.below(4) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at] = rng.pick(&[0, 1, 2, 0x7F, 0xFF]),
            2 => bytes[at] = bytes[at].wrapping_add(rng.pick(&[1, 255])),
            _ => {
                let end = (at + rng.index(9)).min(bytes.len());
                bytes[at..end].fill(rng.pick(&[0, 0xFF]));
            }
        }
    }
    bytes
}

fn with_records_moved(rng: &mut Rng, records: &[StateRecord]) -> Vec<u8> {
    let mut records = records.to_vec();
    let (one, other) = (rng.index(records.len()), rng.index(records.len()));
    match rng.below(3) {
        0 => records.swap(one, other),
        1 => {
            records.remove(one);
        }
        _ => records.insert(one, records[other]),
    }
    let mut image = Vec::new();
    records.iter().for_each(|record| record.append(&mut image));
    image
}
