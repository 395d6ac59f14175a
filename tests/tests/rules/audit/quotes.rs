//! The audit of quotes: a frame's set is the one that its maker signed, and each quote of it was placed, kept
//! or refused by the rules (docs/verify/rules.md §32).

use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{RenewQuotes, SetQuoteLimits, SetQuotes, Split};
use foretell_model::event::QuoteRefused;
use foretell_model::quote::{Quote, QuoteLimits};
use foretell_model::{
    AccountNumber, Branch, CloseReason, Command, Event, KeyNumber, Lots, MarketNumber, Micros,
    Outcome, Reference, RejectionReason, Sequence, Side, Verdict, WalletKind,
};
use serde_json::Value;

use crate::audit::doctored::{assert_does_not_follow, assert_found, at, verify_by};
use crate::audit::quote_sets::{Draft, quote};
use crate::audit::run::{FORGED, SOUND, audit};
use crate::audit::seal::{Loose, seal};
use crate::audit::site::{Site, limit};

use Outcome::{No, Yes};
use Side::{Buy, Sell};

/// Of a set whose frame is not what was signed.
const OTHER: &str = "quotes of its frame are those of";
const PROOFS: &[&str] = &["verify", "--signatures", "--reference"];

/// Two traders, and sets of group 0 of trader 0 in markets 0 and 2: with limits, fills, a refusal, a
/// renewal, a freeze and a lease that ends. Some quotes are live at the end.
struct Quoting {
    site: Site,
    /// Sequences of the sets.
    sets: Vec<u64>,
}

fn limits(lease_ms: u32, lots: u64, reset: bool) -> Command {
    Command::SetQuoteLimits(SetQuoteLimits {
        account: AccountNumber(0),
        key: KeyNumber(0),
        group: 0,
        limits: QuoteLimits {
            lease_ms,
            window_ms: 60_000,
            lots: Lots(lots),
            value: Micros::ZERO,
            net_lots: Lots::ZERO,
        },
        reset,
    })
}

fn quoting() -> Quoting {
    let mut site = Site::new();
    site.apply(
        Command::Split(Split {
            account: AccountNumber(0),
            market: MarketNumber(0),
            lots: Lots(20_000),
            reference: Reference([20; 32]),
        }),
        b"",
    );
    site.apply(limits(5_000, 1_000, false), b"");
    let mut sets = Vec::new();
    let bid = |lots| quote(0, (Yes, Buy), lots, 4_000);
    let ask = |lots, price| quote(0, (Yes, Sell), lots, price);
    let no_bid = |lots| Quote {
        grow_tail: true,
        ..quote(1, (No, Buy), lots, 3_000)
    };
    let first = site.draft(1, &[0, 2], &[bid(500), ask(800, 6_000), no_bid(300)]);
    sets.push(site.quote(&first));
    let taken = site.place(limit(1, (Yes, Buy), 200, 6_000));
    // Reduced, not placed since it was filled, and grown at the back.
    let mut second = site.draft(2, &[0, 2], &[bid(300), ask(700, 6_100), no_bid(500)]);
    second.set.seen = Sequence(taken - 1);
    sets.push(site.quote(&second));
    site.apply(
        Command::RenewQuotes(RenewQuotes {
            account: AccountNumber(0),
            key: KeyNumber(0),
            group: 0,
            revision: 2,
        }),
        b"",
    );
    let third = site.draft(3, &[0], &[ask(700, 6_000), ask(700, 6_100), bid(400)]);
    sets.push(site.quote(&third));
    // Reaches the limit, and its sweep takes what follows.
    site.place(limit(1, (Yes, Buy), 900, 6_100));
    site.apply(Command::Continue, b"");
    site.apply(limits(5_000, 1_000, true), b"");
    let fourth = site.draft(4, &[2], &[quote(0, (No, Buy), 100, 2_000)]);
    sets.push(site.quote(&fourth));
    site.now.0 += 6_000_000_000;
    site.apply(Command::AdvanceTime, b"");
    let last = site.draft(
        5,
        &[0, 2, 3],
        &[bid(250), ask(250, 6_200), quote(2, (Yes, Buy), 900, 1_000)],
    );
    sets.push(site.quote(&last));
    let mut of_deposit_wallet = site.draft(1, &[0], &[quote(0, (Yes, Buy), 100, 3_900)]);
    of_deposit_wallet.kind = WalletKind::Deposit;
    sets.push(site.quote(&of_deposit_wallet));
    Quoting { site, sets }
}

fn events(frames: &[Loose]) -> impl Iterator<Item = &Event> {
    frames.iter().flat_map(|frame| &frame.events)
}

#[test]
fn a_journal_of_quotes_is_sound() {
    let Quoting { site, sets } = quoting();
    let has = |is: &dyn Fn(&Event) -> bool| events(&site.frames).any(is);
    assert!(has(&|event| matches!(event, Event::QuotesFrozen(_))));
    assert!(has(&|event| matches!(event, Event::QuotesRenewed(_))));
    assert!(has(&|event| matches!(event, Event::OrderDecreased(_))));
    for ended in [
        CloseReason::Requoted,
        CloseReason::LimitReached,
        CloseReason::LeaseEnded,
    ] {
        assert!(
            has(&|event| matches!(event, Event::OrderClosed(closed) if closed.reason == ended)),
            "{ended:?}"
        );
    }
    let (code, report) = verify_by(PROOFS, &site.frames);
    assert_eq!(code, SOUND, "{report:#}");
    assert_eq!(report["counts"]["signed_sets"], sets.len());
    let orders = report["counts"]["signed_orders"].as_u64().expect("a count");
    assert_eq!(report["signatures"]["sound"], orders + sets.len() as u64);
}

/// The journal that an exchange would have written of these commands: all but the signatures is sound.
fn executed_again(frames: &[Loose]) -> Vec<Loose> {
    let mut exchange = Exchange::new(Capacity::default(), 9);
    let again = frames.iter().map(|frame| {
        let mut events = Vec::new();
        let (command, beside) = (&frame.command, &frame.evidence);
        let verdict = exchange.apply_with(command, beside, frame.stamp, &mut events);
        assert!(
            matches!(verdict, Verdict::Applied(_)),
            "{command:?}: {verdict:?}"
        );
        Loose {
            events,
            ..frame.clone()
        }
    });
    again.collect()
}

/// A change of the frame of a set, executed as it says.
#[track_caller]
fn assert_forged(change: impl Fn(&mut SetQuotes, &mut Vec<u8>), text: &str) {
    let mut site = Site::new();
    let quotes = [
        quote(0, (Yes, Buy), 500, 4_000),
        quote(0, (Yes, Buy), 500, 4_100),
        quote(1, (No, Buy), 300, 3_000),
    ];
    let draft = site.draft(7, &[0, 2], &quotes);
    let sequence = site.quote(&draft);
    site.idle();
    let frame = at(&mut site.frames, sequence);
    let Command::SetQuotes(set) = &mut frame.command else {
        panic!("a set");
    };
    change(set, &mut frame.evidence);
    let frames = executed_again(&site.frames);
    assert_found(&frames, FORGED, sequence, text);
}

#[test]
fn what_a_frame_says_otherwise_than_was_signed_is_found() {
    assert_forged(|set, _| set.group = 1, OTHER);
    assert_forged(|set, _| set.revision += 1, OTHER);
    assert_forged(|set, _| set.seen = Sequence(3), OTHER);
    assert_forged(|set, _| set.timestamp.0 -= 1, OTHER);
    assert_forged(|set, _| set.valid_until.0 += 1, OTHER);
    assert_forged(|set, _| set.digest.0[0] ^= 1, OTHER);
    // The second market, and the fields of a word.
    assert_forged(|_, beside| beside[4] = 3, OTHER);
    let words = 8;
    for (byte, value) in [(1, 1), (2, 1), (7, 0x3C), (15, 0x90), (16, 1)] {
        assert_forged(|_, beside| beside[words + byte] = value, OTHER);
    }
    assert_forged(|_, beside| beside[words + 2 * 32 + 3] = 1, OTHER);
    // Its builder and chain.
    let evidence = words + 3 * 32;
    assert_forged(|_, beside| beside[evidence + 21] ^= 1, OTHER);
    assert_forged(|_, beside| beside[evidence + 53] ^= 1, OTHER);
}

#[test]
fn a_quote_that_was_left_out_of_its_set_is_found() {
    let left_out = |index: usize| {
        move |set: &mut SetQuotes, beside: &mut Vec<u8>| {
            set.quotes -= 1;
            beside.drain(8 + 32 * index..8 + 32 * (index + 1));
        }
    };
    for index in 0..3 {
        assert_forged(left_out(index), OTHER);
    }
    assert_forged(
        |set, beside| {
            set.quotes += 1;
            beside.splice(8..8, quote(0, (Yes, Buy), 100, 100).word().0);
        },
        OTHER,
    );
}

#[test]
fn parties_and_key_of_a_set_are_found() {
    let evidence = 8 + 3 * 32;
    assert_forged(|_, beside| beside[evidence] ^= 1, "named as signer");
    assert_forged(|_, beside| beside[evidence + 20] = 2, "signature type 2");
    assert_forged(
        |_, beside| beside.truncate(evidence),
        "no tail and evidence",
    );
    assert_forged(|_, beside| beside.push(0), "no tail and evidence");
    assert_forged(|_, beside| *beside.last_mut().expect("v") = 5, "v is 5");
}

/// Signs a set otherwise than an exchange would take it.
#[track_caller]
fn assert_signed_wrongly(change: impl Fn(&mut Draft), text: &str) {
    let mut site = Site::new();
    let mut draft = site.draft(1, &[0, 2], &[quote(0, (Yes, Buy), 500, 4_000)]);
    change(&mut draft);
    let sequence = site.quote(&draft);
    assert_found(&site.frames, FORGED, sequence, text);
}

#[test]
fn a_set_that_its_owner_did_not_sign_for_this_exchange_is_found() {
    assert_signed_wrongly(|draft| draft.signs = 1, "signed for a wallet of");
    assert_signed_wrongly(|draft| draft.salt = [8; 32], OTHER);
    assert_signed_wrongly(
        |draft| {
            draft.markets.reverse();
        },
        "not in ascending order",
    );
}

/// The set without its last quote, under its own digest and the signature of the whole set.
#[test]
fn a_digest_that_was_made_anew_is_not_the_one_that_was_signed() {
    let mut site = Site::new();
    let quotes = [4_000, 4_100].map(|price| quote(0, (Yes, Buy), 500, price));
    let (_, signed) = site.sign_set(&site.draft(1, &[0], &quotes));
    let (command, mut beside) = site.sign_set(&site.draft(1, &[0], &quotes[..1]));
    let signature = beside.len() - 65;
    beside.splice(signature.., signed[signed.len() - 65..].iter().copied());
    let sequence = site.apply(command, &beside);
    assert_found(&site.frames, FORGED, sequence, "signed for a wallet of");
}

#[test]
fn a_set_is_signed_for_the_branch_since_a_restore() {
    for (salt, is_sound) in [([7; 32], true), (crate::audit::seal::GENESIS, false)] {
        let mut site = Site::new();
        let branch = Branch([7; 32]);
        site.apply(Command::Restore { branch }, b"");
        let mut draft = site.draft(1, &[0], &[quote(0, (Yes, Buy), 500, 4_000)]);
        draft.salt = salt;
        let sequence = site.quote(&draft);
        if is_sound {
            let (code, report) = verify_by(PROOFS, &site.frames);
            assert_eq!(code, SOUND, "{report:#}");
        } else {
            assert_found(&site.frames, FORGED, sequence, OTHER);
        }
    }
}

/// The sets that place something, each with a change of its events.
fn doctored_sets(change: impl Fn(&mut Vec<Event>) -> bool) -> usize {
    let Quoting { site, sets } = quoting();
    let mut changed = 0;
    for sequence in sets {
        let mut frames = site.frames.clone();
        if change(&mut at(&mut frames, sequence).events) {
            changed += 1;
            assert_does_not_follow(&frames, sequence);
        }
    }
    changed
}

#[test]
fn an_event_of_a_set_that_the_book_does_not_justify_is_found() {
    let place = |events: &[Event]| {
        events
            .iter()
            .position(|event| matches!(event, Event::QuotePlaced(_)))
    };
    for reason in [RejectionReason::CrossesBook, RejectionReason::FilledSince] {
        let changed = doctored_sets(|events| {
            place(events).is_some_and(|at| {
                events[at] = Event::QuoteRefused(QuoteRefused { index: 0, reason });
                true
            })
        });
        assert_eq!(changed, 6);
    }
    let left_out = doctored_sets(|events| {
        place(events).is_some_and(|at| {
            events.remove(at);
            true
        })
    });
    assert_eq!(left_out, 6);
    let swapped = doctored_sets(|events| {
        let at = place(events);
        let next = at.and_then(|at| place(&events[at + 1..]).map(|next| (at, at + 1 + next)));
        next.is_some_and(|(one, other)| {
            events.swap(one, other);
            true
        })
    });
    assert!(swapped > 2, "{swapped}");
    let smaller = doctored_sets(|events| {
        let placed = events.iter_mut().find_map(|event| match event {
            Event::QuotePlaced(placed) => Some(placed),
            _ => None,
        });
        placed.is_some_and(|placed| {
            placed.lots.0 -= 1;
            true
        })
    });
    assert_eq!(smaller, 6);
    let excused = doctored_sets(|events| {
        let before = events.len();
        events.retain(|event| !matches!(event, Event::QuoteRefused(_)));
        events.len() < before
    });
    assert_eq!(excused, 1, "a refusal was hidden");
}

#[test]
fn quotes_that_end_in_silence_are_found() {
    let Quoting { site, .. } = quoting();
    let ends = |frame: &&Loose| {
        !matches!(frame.command, Command::SetQuotes(_))
            && frame
                .events
                .iter()
                .any(|event| matches!(event, Event::OrderClosed(_) | Event::QuotesFrozen(_)))
    };
    let frames: Vec<u64> = site
        .frames
        .iter()
        .filter(ends)
        .map(|frame| frame.sequence)
        .collect();
    assert_eq!(frames.len(), 3, "a freeze, its end, a lease");
    for sequence in frames {
        let mut frames = site.frames.clone();
        let is_end =
            |event: &Event| matches!(event, Event::OrderClosed(_) | Event::QuotesFrozen(_));
        at(&mut frames, sequence)
            .events
            .retain(|event| !is_end(event));
        assert_does_not_follow(&frames, sequence);
    }
}

fn told(frames: &[Loose], arguments: &[&str]) -> Value {
    let directory = tempfile::tempdir().expect("a directory");
    seal(directory.path(), frames);
    let (code, answer) = audit(directory.path(), arguments);
    assert_eq!(code, SOUND, "{answer:#}");
    answer
}

#[test]
fn a_set_is_shown_by_its_quotes() {
    let Quoting { site, sets } = quoting();
    let shown = told(&site.frames, &["show", &sets[0].to_string()]);
    let evidence = &shown["evidence"];
    let condition = foretell_fixtures::market(2).terms.condition;
    assert_eq!(evidence["conditions"][1], condition.to_string());
    let second = &evidence["quotes"][1];
    assert_eq!(
        (&second["side"], &second["price"]),
        (&"SELL".into(), &"0.6000".into())
    );
    assert_eq!(evidence["quotes"][2]["grow_tail"], true);
    assert_eq!(evidence["signer"], site.wallet(0).to_string());
    let placed = &shown["events"][3]["QuotePlaced"];
    assert_eq!(
        placed["order"]["is"],
        format!("quote 2 of sequence {}", sets[0])
    );
    assert_eq!(placed["shares"], "3.00");
}

#[test]
fn an_export_has_a_row_for_each_placed_quote() {
    let Quoting { site, .. } = quoting();
    let out = tempfile::tempdir().expect("a directory");
    let path = |name: &str| out.path().join(name).to_str().expect("text").to_owned();
    let (trades, orders) = (path("t.csv"), path("o.csv"));
    told(
        &site.frames,
        &["export", "--trades", &trades, "--orders", &orders],
    );
    let rows = |file: &str| -> Vec<Vec<String>> {
        let rows = csv::Reader::from_path(file)
            .expect("a table")
            .into_deserialize();
        rows.map(|row| row.expect("a row")).collect()
    };
    let (trades, orders) = (rows(&trades), rows(&orders));
    let placed = events(&site.frames).filter(|event| matches!(event, Event::QuotePlaced(_)));
    let of_sets: Vec<_> = orders.iter().filter(|row| row[8] == "true").collect();
    assert_eq!(of_sets.len(), placed.count());
    let first = of_sets
        .iter()
        .find(|row| row[2].ends_with("00") && row[14] == "closed: requoted");
    assert!(first.is_some(), "{of_sets:#?}");
    let statuses = [
        "live",
        "filled",
        "closed: limit-reached",
        "closed: lease-ended",
    ];
    for status in statuses {
        assert!(
            of_sets.iter().any(|row| row[14] == status),
            "{status}: {of_sets:#?}"
        );
    }
    let live = orders.iter().filter(|row| row[14] == "live").count();
    let replayed = told(&site.frames, &["replay"]);
    let resting = replayed["orders"].as_array().expect("orders");
    assert_eq!(live, resting.len());
    for order in resting {
        let row = orders.iter().find(|row| order["order_id"] == row[2]);
        let sequence = row.expect("a row")[0].parse::<u64>().expect("a number");
        assert_eq!(order["sequence"], sequence);
    }
    let makers: Vec<&String> = trades.iter().map(|row| &row[15]).collect();
    assert!(!makers.is_empty());
    for maker in makers {
        assert!(of_sets.iter().any(|row| row[2] == *maker), "{maker}");
    }
}
