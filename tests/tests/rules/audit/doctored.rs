//! Every manipulation of a journal has its exit code, and the finding names the frame. Both audits
//! find damage, wrong evidence and money from nowhere alike ([`assert_found`]). Events that do not
//! follow from their command contradict the core, and with `--reference` break a rule, too
//! ([`assert_does_not_follow`]).

use std::fs;
use std::path::Path;

use foretell_audit::Options;
use foretell_model::command::{
    AttestState, CancelAll, CancelMarketOrders, MarketDetails, Merge, MoveClock, RegisterMarket,
    Split,
};
use foretell_model::event::{self, Converted, Deposited, OrderClosed, OrderKilled, OrderRested};
use foretell_model::evidence::ActEvidence;
use foretell_model::limits::REFERENCES_PER_ACCOUNT;
use foretell_model::tail::Tail;
use foretell_model::{
    AccountNumber, CloseReason, Command, CommandStamp, Event, EventNumber, Lots, MarketNumber,
    Micros, OperatorNumber, OrderType, Outcome, Price, QuestionSet, Reference, SandboxClock,
    Sequence, Settings, Side, SlugDigest, TimeNs, WalletKind,
};
use serde_json::{Value, json};

use crate::audit::run::{BROKEN, CONTRADICTS, DAMAGED, FORGED, SOUND, UNREADABLE, audit};
use crate::audit::seal::{Loose, seal, seal_bytes};
use crate::audit::site::{Site, Wish, busy, limit};
use crate::properties::rng::Rng;

const DEFAULT: &[&str] = &["verify", "--signatures"];
const REFERENCE: &[&str] = &["verify", "--signatures", "--reference"];

fn verify(frames: &[Loose]) -> (i32, Value) {
    verify_by(DEFAULT, frames)
}

pub(crate) fn verify_by(arguments: &[&str], frames: &[Loose]) -> (i32, Value) {
    let directory = tempfile::tempdir().expect("a directory");
    seal(directory.path(), frames);
    audit(directory.path(), arguments)
}

#[track_caller]
fn assert_sound(frames: &[Loose]) {
    for arguments in [DEFAULT, REFERENCE] {
        let (code, report) = verify_by(arguments, frames);
        assert_eq!(code, SOUND, "{report:#}");
    }
}

/// Asserts a finding of both audits of doctored frames, and its sequence.
#[track_caller]
pub(crate) fn assert_found(frames: &[Loose], code: i32, sequence: u64, text: &str) {
    for arguments in [DEFAULT, REFERENCE] {
        let (found, report) = verify_by(arguments, frames);
        assert_eq!(found, code, "{report:#}");
        assert_names(&report, code, sequence, text);
    }
}

/// Asserts that events do not follow from their command, by the core and by the reference.
#[track_caller]
pub(crate) fn assert_does_not_follow(frames: &[Loose], sequence: u64) {
    let (found, report) = verify_by(DEFAULT, frames);
    assert_eq!(found, CONTRADICTS, "{report:#}");
    assert_names(&report, CONTRADICTS, sequence, "re-execut");
    let (found, report) = verify_by(REFERENCE, frames);
    assert_eq!(found, BROKEN, "{report:#}");
    assert_names(&report, CONTRADICTS, sequence, "re-execut");
    assert_names(&report, BROKEN, sequence, "the reference");
}

#[track_caller]
fn assert_names(report: &Value, code: i32, sequence: u64, text: &str) {
    let findings = report["findings"].as_array().expect("findings");
    let is_it = |finding: &&Value| {
        finding["exit_code"] == code
            && finding["sequence"] == sequence
            && finding["text"]
                .as_str()
                .is_some_and(|found| found.contains(text))
    };
    assert!(findings.iter().any(|finding| is_it(&finding)), "{report:#}");
}

/// The frame of a sequence.
pub(crate) fn at(frames: &mut [Loose], sequence: u64) -> &mut Loose {
    let place = usize::try_from(sequence - 1).expect("a small number");
    &mut frames[place]
}

#[test]
fn a_sound_journal_is_sound_and_says_what_was_proven() {
    let site = busy();
    let (code, report) = verify_by(REFERENCE, &site.frames);
    assert_eq!((code, &report["reference"]), (SOUND, &json!(true)));
    let (code, report) = verify(&site.frames);
    assert_eq!((code, &report["reference"]), (SOUND, &json!(false)));
    assert_eq!(report["last_sequence"], site.frames.len());
    assert_eq!(
        report["signatures"]["sound"],
        report["counts"]["signed_orders"]
    );
    assert_eq!(report["signatures"]["unsound"], 0);
    assert!(report["counts"]["signed_orders"].as_u64() > Some(8));
    assert!(report["counts"]["trades"].as_u64() > Some(3), "{report:#}");
}

/// A journal that does not begin as a sandbox has no order of an operator, and no move of the clock.
#[test]
fn only_a_sandbox_has_unsigned_orders_and_a_moved_clock() {
    let site = busy();
    let mut frames = site.frames.clone();
    let is_order = |frame: &&mut Loose| matches!(frame.command, Command::PlaceOrder(_));
    let order = frames.iter_mut().find(is_order).expect("an order");
    order.stamp.operator = OperatorNumber::FIRST_ADMIN;
    order.evidence.clear();
    let (reason, own) = ("", &[][..]);
    ActEvidence { reason, own }.encode(&mut order.evidence);
    let sequence = order.sequence;
    let (_, report) = verify_by(REFERENCE, &frames);
    assert_names(&report, FORGED, sequence, "outside a sandbox");
    for code in [CONTRADICTS, BROKEN] {
        assert_names(&report, code, sequence, "rejects it: not sandbox");
    }

    let mut frames = site.frames.clone();
    let last = frames.last().expect("a frame");
    let (sequence, time) = (last.sequence + 1, last.stamp.time);
    let (wall, by, to, frozen) = (time, 1, TimeNs(0), None);
    let clock = SandboxClock {
        wall,
        engine: TimeNs(time.0 + by),
        frozen: false,
    };
    frames.push(Loose {
        sequence,
        stamp: CommandStamp::at(time),
        command: Command::MoveClock(MoveClock {
            wall,
            by,
            to,
            frozen,
        }),
        events: vec![Event::ClockMoved { clock }],
        evidence: Vec::new(),
    });
    assert_does_not_follow(&frames, sequence);
}

#[test]
fn any_flipped_byte_is_damage() {
    let site = busy();
    let directory = tempfile::tempdir().expect("a directory");
    seal(directory.path(), &site.frames);
    let path = foretell_journal::segment::path(directory.path(), 1);
    let sound = fs::read(&path).expect("a segment");
    // In the first batch's header and its frames, and far into the file.
    for place in [
        4_096 + 20,
        4_096 + 128 + 30,
        4_096 + 400,
        sound.len() / 2 / 4_096 * 4_096 + 200,
    ] {
        let mut bytes = sound.clone();
        bytes[place] ^= 1;
        fs::write(&path, &bytes).expect("written");
        mark(directory.path(), &site);
        let (code, report) = audit(directory.path(), &["verify"]);
        assert_eq!(code, DAMAGED, "byte {place}: {report:#}");
        assert!(report["findings"][0]["sequence"].is_u64(), "{report:#}");
    }
}

/// A watermark at the end: without one, damage of the last segment could be a torn tail.
fn mark(directory: &Path, site: &Site) {
    let sound = tempfile::tempdir().expect("a directory");
    seal(sound.path(), &site.frames);
    let scan = foretell_journal::scan(sound.path(), foretell_model::Sequence(0), &mut |_| Ok(()))
        .expect("sound");
    let last = fs::read_dir(directory).expect("a directory").flatten();
    let segments =
        last.filter_map(|entry| foretell_journal::segment::number_of(entry.file_name().to_str()?));
    let segment = segments.max().expect("a segment");
    let path = foretell_journal::segment::path(sound.path(), segment);
    let end = u32::try_from(fs::metadata(path).expect("a file").len()).expect("a small file");
    let mark = foretell_journal::watermark::Watermark {
        count: 0,
        epoch: 1,
        sequence: scan.last_sequence,
        segment,
        end,
        hash: scan.hash,
        genesis: scan.genesis,
    };
    fs::write(directory.join("watermark"), mark.page().as_slice()).expect("written");
}

#[test]
fn a_missing_segment_is_damage_and_no_journal_cannot_be_read() {
    let mut site = busy();
    while site.frames.len() < 250 {
        site.idle();
    }
    let directory = tempfile::tempdir().expect("a directory");
    seal(directory.path(), &site.frames);
    let path = |number| foretell_journal::segment::path(directory.path(), number);
    mark(directory.path(), &site);
    fs::remove_file(path(2)).expect("there are two");
    let (code, report) = audit(directory.path(), &["verify"]);
    assert_eq!(code, DAMAGED, "{report:#}");
    assert_eq!(report["last_sequence"], 200, "what is before it is read");
    seal(directory.path(), &site.frames);
    fs::remove_file(path(1)).expect("there are two");
    let (code, report) = audit(directory.path(), &["verify"]);
    assert_eq!((code, &report["last_sequence"]), (DAMAGED, &json!(0)));
    let empty = tempfile::tempdir().expect("a directory");
    assert_eq!(audit(empty.path(), &["verify"]).0, UNREADABLE);
}

#[test]
fn a_frame_that_was_taken_out_is_damage_or_a_contradiction() {
    let mut frames = busy().frames;
    let placed = first_order(&frames);
    frames.remove(usize::try_from(placed).expect("small") - 1);
    let (code, report) = verify(&frames);
    assert_eq!(code, DAMAGED, "{report:#}");
    // Renumbered frames have a valid chain, but the record differs from the commands' effects.
    for (number, frame) in (1..).zip(&mut frames) {
        frame.sequence = number;
    }
    let (code, report) = verify(&frames);
    assert!(code >= CONTRADICTS, "{report:#}");
    assert!(report["findings"][0]["sequence"].as_u64() >= Some(placed));
}

fn first_order(frames: &[Loose]) -> u64 {
    let mut orders = frames
        .iter()
        .filter(|frame| matches!(frame.command, Command::PlaceOrder(_)));
    orders.next().expect("an order").sequence
}

#[test]
fn swapped_events_contradict_re_execution() {
    let mut frames = busy().frames;
    let deposit = frames
        .iter()
        .find(|frame| {
            matches!(
                frame.events[..],
                [Event::OrderClosed(_), Event::OrderClosed(_), ..]
            )
        })
        .expect("a cancel of several orders")
        .sequence;
    at(&mut frames, deposit).events.swap(0, 1);
    assert_does_not_follow(&frames, deposit);
}

#[test]
fn a_divergence_that_the_operator_accepted_is_listed() {
    let mut site = busy();
    let closes = |frame: &&Loose| {
        matches!(
            frame.events[..],
            [Event::OrderClosed(_), Event::OrderClosed(_), ..]
        )
    };
    let cancel = site.frames.iter().find(closes).expect("a cancel").sequence;
    let sequence = foretell_model::Sequence(cancel);
    site.apply(Command::AcceptDivergence { sequence }, b"");
    at(&mut site.frames, cancel).events.swap(0, 1);
    for arguments in [DEFAULT, REFERENCE] {
        let (code, report) = verify_by(arguments, &site.frames);
        assert_eq!(code, SOUND, "{report:#}");
        assert_eq!(report["accepted_divergences"], json!([cancel]));
    }
}

/// An acceptance is journalled by whoever writes the journal: it excuses another order of the same
/// events and nothing else.
#[test]
fn an_accepted_divergence_of_other_events_contradicts() {
    type IsTarget = fn(&Loose) -> bool;
    type Doctor = fn(&mut Vec<Event>);
    let cases: [(&str, IsTarget, Doctor); 3] = [
        ("no money for a deposit", deposits, Vec::clear),
        ("an order that was not closed", closes_orders, |events| {
            events.pop();
        }),
        ("a trade at another price", trades, |events| {
            for event in events {
                if let Event::Fill(fill) = event {
                    fill.yes_price.0 += 1;
                }
            }
        }),
    ];
    for (name, is_target, doctor) in cases {
        let mut site = busy();
        let target = site.frames.iter().rfind(|frame| is_target(frame));
        let target = target.expect("such a frame").sequence;
        let sequence = foretell_model::Sequence(target);
        site.apply(Command::AcceptDivergence { sequence }, b"");
        doctor(&mut at(&mut site.frames, target).events);
        for arguments in [DEFAULT, REFERENCE] {
            let (code, report) = verify_by(arguments, &site.frames);
            assert_ne!(code, SOUND, "{name}: {report:#}");
        }
    }
}

fn deposits(frame: &Loose) -> bool {
    matches!(frame.events[..], [.., Event::Deposited(_)])
}

fn closes_orders(frame: &Loose) -> bool {
    matches!(frame.command, Command::CancelAll(_))
        && matches!(frame.events[..], [Event::OrderClosed(_), ..])
}

fn trades(frame: &Loose) -> bool {
    matches!(frame.events[..], [Event::Fill(_), ..])
}

/// Neither memory nor time grows with numbers that the journal makes up.
#[test]
fn conversions_of_nothing_are_found_before_they_cost_anything() {
    for (account, lots) in [(u32::MAX, 0), (0, u64::MAX)] {
        let mut frames = busy().frames;
        let is_group = |frame: &Loose| matches!(frame.events[..], [Event::EventRegistered(_), ..]);
        let group = frames.iter().position(is_group).expect("an event group");
        let sequence = frames[group + 1].sequence;
        at(&mut frames, sequence)
            .events
            .push(Event::Converted(Converted {
                account: AccountNumber(account),
                event: EventNumber(0),
                questions: QuestionSet::default(),
                lots: Lots(lots),
                collateral: Micros(0),
            }));
        let (code, report) = verify_by(DEFAULT, &frames);
        assert_ne!(code, SOUND, "{report:#}");
        assert!(report["findings"][0]["text"].is_string(), "{report:#}");
    }
}

/// A changed byte of a frame's events, with recomputed checksums.
#[test]
fn no_byte_of_an_event_can_be_another_and_nothing_panics() {
    let frames = busy().frames;
    let mut random = Rng::new(5);
    for round in 0..400 {
        let mut sealed: Vec<_> = frames.iter().map(|it| (it.sequence, it.bytes())).collect();
        let place = usize::try_from(random.below(frames.len() as u64)).expect("small");
        let events = frames[place].events.len() as u64;
        // The command precedes the events; a changed request may have no effect.
        let (from, bytes, is_event) = match random.below(3) {
            0 => (24, 128, false),
            _ => (160, 48 * events, true),
        };
        let at = usize::try_from(from + random.below(bytes.max(1))).expect("small");
        sealed[place].1[at] ^= 1 << random.below(8);
        let directory = tempfile::tempdir().expect("a directory");
        seal_bytes(directory.path(), &sealed);
        let [report, by_reference] = [false, true].map(|reference| {
            let options = Options {
                reference,
                ..Options::default()
            };
            let report = foretell_audit::verify(directory.path(), &options);
            report.expect("a journal")
        });
        let names_it = report
            .findings
            .iter()
            .any(|finding| finding.sequence.is_some());
        assert!(report.sound || names_it, "round {round}: {report}");
        assert!(!is_event || !report.sound, "round {round}: {report}");
        assert_eq!(report.sound, by_reference.sound, "round {round}");
    }
}

/// No allocation is sized by a sequence.
#[test]
fn sequences_that_begin_far_up_contradict_and_end_nothing() {
    let mut frames = busy().frames;
    for frame in &mut frames {
        frame.sequence += 1 << 61;
    }
    let first = frames[0].sequence;
    assert_does_not_follow(&frames, first);
}

/// A forger cannot stop the audit with a frame of an unknown version.
#[test]
fn what_is_wrong_before_a_newer_frame_is_told() {
    let site = busy();
    let audited = |frames: &[Loose]| {
        let mut sealed: Vec<_> = frames.iter().map(|it| (it.sequence, it.bytes())).collect();
        let (_, last) = sealed.last_mut().expect("frames");
        let newer = foretell_journal::frame::VERSION + 1;
        last[6..8].copy_from_slice(&newer.to_le_bytes());
        let directory = tempfile::tempdir().expect("a directory");
        seal_bytes(directory.path(), &sealed);
        audit(directory.path(), &["verify", "--signatures"])
    };
    let (code, answer) = audited(&site.frames);
    assert_eq!(code, UNREADABLE, "{answer:#}");
    let is_newer = |text: &Value| text.as_str().is_some_and(|it| it.contains("newer version"));
    assert!(is_newer(&answer["error"]), "{answer:#}");

    let mut wrong = site.frames.clone();
    let filled = wrong
        .iter()
        .find(|frame| matches!(frame.events[..], [Event::Fill(_), ..]))
        .expect("a fill")
        .sequence;
    first_fill(at(&mut wrong, filled)).fee.0 += 1;
    let mut forged = site.frames.clone();
    let signed = first_order(&forged);
    let evidence = &mut at(&mut forged, signed).evidence;
    *evidence.last_mut().expect("a signature") ^= 1;
    for (frames, expected, sequence) in [(wrong, CONTRADICTS, filled), (forged, FORGED, signed)] {
        let (code, answer) = audited(&frames);
        assert_eq!(code, expected, "{answer:#}");
        let mut found = answer["findings"].as_array().expect("findings").iter();
        assert!(found.any(|it| it["sequence"] == sequence), "{answer:#}");
        assert!(is_newer(&answer["unread"]), "{answer:#}");
    }
}

#[test]
fn money_out_of_nothing_breaks_a_rule() {
    let frames = busy().frames;
    let deposit = frames
        .iter()
        .find(|frame| matches!(frame.command, Command::Deposit(_)))
        .expect("a deposit")
        .sequence;
    for change in [|amount: u64| amount + 1, |_| u64::MAX] {
        let mut frames = busy().frames;
        let events = &mut at(&mut frames, deposit).events;
        let Event::Deposited(Deposited { amount, .. }) = &mut events[1] else {
            panic!("an account is opened and money comes in");
        };
        *amount = Micros(change(amount.0));
        assert_found(&frames, BROKEN, deposit, "that nobody asked for");
    }

    let mut frames = frames;
    let events = &mut at(&mut frames, deposit).events;
    events.push(events[1]);
    assert_found(&frames, BROKEN, deposit, "twice");
}

/// The last order, signed by a key, and one frame after it.
fn with_last_order(change: impl Fn(&mut Loose)) -> (Vec<Loose>, u64) {
    let mut site = Site::new();
    let sequence = site.place(limit(0, (Outcome::Yes, Side::Buy), 1_000, 4_000));
    site.idle();
    change(at(&mut site.frames, sequence));
    (site.frames, sequence)
}

#[test]
fn a_forged_signature_is_found() {
    let mut site = Site::new();
    let (command, evidence) = site.sign(limit(0, (Outcome::Yes, Side::Buy), 1_000, 4_000), 1);
    let sequence = site.apply(command, &evidence);
    assert_found(
        &site.frames,
        FORGED,
        sequence,
        "recovered address is not the signer's",
    );
    let wish = limit(0, (Outcome::Yes, Side::Buy), 1_000, 4_000);
    let (command, evidence) = site.sign(
        Wish {
            kind: WalletKind::Deposit,
            ..wish
        },
        1,
    );
    let sequence = site.apply(command, &evidence);
    let address = site.wallet(1).to_string();
    assert_found(
        &site.frames,
        FORGED,
        sequence,
        &format!("{address} signed for a wallet of"),
    );
    let (code, _) = {
        let directory = tempfile::tempdir().expect("a directory");
        seal(directory.path(), &site.frames);
        audit(directory.path(), &["verify"])
    };
    assert_eq!(code, SOUND, "without --signatures nobody looks");
}

#[test]
fn every_changed_evidence_word_is_found() {
    let said = [
        "",
        "signed as maker",
        "named as signer",
        "was signed",
        "makerAmount",
        "takerAmount",
        "side",
        "signature type",
        "timestamp",
        "",
        "",
    ];
    for (word, text) in said.iter().enumerate() {
        let (frames, sequence) = with_last_order(|frame| frame.evidence[32 * word + 31] ^= 2);
        // Fields that are not in the command change the hash, and so the id.
        let text = if text.is_empty() {
            "recovered address"
        } else {
            text
        };
        assert_found(&frames, FORGED, sequence, text);
        // The high bytes of a word are significant.
        if matches!(word, 1 | 2 | 4..=8) {
            let (frames, sequence) = with_last_order(|frame| frame.evidence[32 * word] ^= 1);
            assert_found(&frames, FORGED, sequence, "");
        }
    }
}

#[test]
fn evidence_must_be_there_and_name_a_registered_domain_of_the_market() {
    let (frames, sequence) = with_last_order(|frame| frame.evidence.clear());
    assert_found(&frames, FORGED, sequence, "without evidence");
    let (frames, sequence) = with_last_order(|frame| frame.evidence.truncate(200));
    assert_found(&frames, FORGED, sequence, "no signed order");
    let (frames, sequence) = with_last_order(|frame| frame.evidence[352] = 77);
    assert_found(
        &frames,
        FORGED,
        sequence,
        "signing domain 77 was never registered",
    );
    let (frames, sequence) = with_last_order(|frame| frame.evidence[352] = 2);
    assert_found(&frames, FORGED, sequence, "is not one for market 0");
    let mut frames = Site::new().frames;
    at(&mut frames, 1).evidence[6] ^= 1;
    assert_found(&frames, FORGED, 1, "does not give its separator");
}

#[test]
fn an_id_that_is_not_the_hash_of_what_was_signed_is_found() {
    let (frames, sequence) = with_last_order(|frame| {
        let Command::PlaceOrder(order) = &mut frame.command else {
            panic!("an order");
        };
        order.order.0[5] ^= 1;
    });
    assert_found(&frames, FORGED, sequence, "was signed");
}

/// Two asks, at 0.50 and 0.51, of trader 0; then trader 1 buys.
fn asks() -> Site {
    let mut site = Site::new();
    let account = foretell_model::AccountNumber(0);
    let reference = foretell_model::Reference([30; 32]);
    let (market, lots) = (foretell_model::MarketNumber(0), Lots(5_000));
    site.apply(
        Command::Split(Split {
            account,
            market,
            lots,
            reference,
        }),
        b"",
    );
    site.place(limit(0, (Outcome::Yes, Side::Sell), 1_000, 5_000));
    site.place(limit(0, (Outcome::Yes, Side::Sell), 1_000, 5_100));
    site.place(limit(0, (Outcome::Yes, Side::Sell), 1_000, 5_100));
    site
}

fn first_fill(frame: &mut Loose) -> &mut foretell_model::Fill {
    match &mut frame.events[0] {
        Event::Fill(fill) => fill,
        other => panic!("a fill, not {other:?}"),
    }
}

#[test]
fn a_trade_through_is_found() {
    let mut site = asks();
    let sequence = site.place(limit(1, (Outcome::Yes, Side::Buy), 1_000, 5_100));
    let second = foretell_model::OrderNumber(sequence - 2);
    let fill = first_fill(at(&mut site.frames, sequence));
    (fill.maker_order, fill.yes_price) = (second, Price(5_100));
    assert_does_not_follow(&site.frames, sequence);
}

#[test]
fn a_fill_out_of_turn_at_one_price_is_found() {
    let mut site = asks();
    site.place(limit(1, (Outcome::Yes, Side::Buy), 1_000, 5_000));
    let sequence = site.place(limit(1, (Outcome::Yes, Side::Buy), 500, 5_100));
    let later = foretell_model::OrderNumber(sequence - 2);
    first_fill(at(&mut site.frames, sequence)).maker_order = later;
    assert_does_not_follow(&site.frames, sequence);
}

#[test]
fn a_fill_that_was_left_out_is_found() {
    let mut site = asks();
    let sequence = site.place(limit(1, (Outcome::Yes, Side::Buy), 1_000, 5_100));
    let rested = Event::OrderRested(OrderRested {
        lots: Lots(1_000),
        price: Price(5_100),
    });
    at(&mut site.frames, sequence).events = vec![rested];
    assert_does_not_follow(&site.frames, sequence);
}

#[test]
fn less_and_more_and_dearer_than_due_is_found() {
    let doctored = |change: fn(&mut foretell_model::Fill)| {
        let mut site = asks();
        let sequence = site.place(limit(1, (Outcome::Yes, Side::Buy), 1_000, 5_100));
        change(first_fill(at(&mut site.frames, sequence)));
        (site.frames, sequence)
    };
    let changes: [fn(&mut foretell_model::Fill); 3] = [
        |fill| fill.fee = Micros(fill.fee.0 + 10),
        |fill| fill.lots = Lots(fill.lots.0 - 1),
        |fill| fill.maker_left = Lots(5),
    ];
    for change in changes {
        let (frames, sequence) = doctored(change);
        assert_does_not_follow(&frames, sequence);
    }
    // More than there can be does not add up either.
    let (frames, sequence) = doctored(|fill| fill.lots = Lots(u64::MAX));
    assert_found(&frames, BROKEN, sequence, "shares at once");
    let (frames, sequence) = doctored(|fill| fill.lots = Lots(10_000_000));
    assert_found(&frames, BROKEN, sequence, "are taken from");
}

#[test]
fn a_kill_and_a_close_without_reason_are_found() {
    let mut site = asks();
    let wish = limit(1, (Outcome::Yes, Side::Buy), 1_000, 5_100);
    let sequence = site.place(Wish {
        order_type: OrderType::Fok,
        ..wish
    });
    let reason = foretell_model::RejectionReason::FokNotFilled;
    at(&mut site.frames, sequence).events = vec![Event::OrderKilled(OrderKilled {
        reason,
        details: [0; 2],
    })];
    assert_does_not_follow(&site.frames, sequence);

    let mut site = asks();
    let sequence = site.idle();
    at(&mut site.frames, sequence).command = Command::AdvanceTime;
    at(&mut site.frames, sequence).events = vec![Event::OrderClosed(OrderClosed {
        order: foretell_model::OrderNumber(sequence - 1),
        account: foretell_model::AccountNumber(0),
        lots: Lots(1_000),
        reason: CloseReason::Expired,
    })];
    assert_does_not_follow(&site.frames, sequence);
}

/// An idle frame, and a frame with this content in its place.
fn with_frame(command: impl Fn(u64) -> Command, events: Vec<Event>) -> (Vec<Loose>, u64) {
    let mut site = asks();
    let sequence = site.idle();
    let frame = at(&mut site.frames, sequence);
    (frame.command, frame.events) = (command(sequence), events);
    (site.frames, sequence)
}

#[test]
fn a_cancel_that_ended_nothing_is_found() {
    let owner = AccountNumber(1);
    let cancels = [
        Command::CancelAll(CancelAll {
            owner,
            heartbeat: false,
        }),
        Command::CancelMarketOrders(CancelMarketOrders {
            owner,
            market: MarketNumber(0),
            outcome: None,
        }),
    ];
    for cancel in cancels {
        let (frames, sequence) = with_frame(|_| cancel, Vec::new());
        assert_does_not_follow(&frames, sequence);
    }
}

#[test]
fn a_kill_with_other_amounts_is_found() {
    let mut site = asks();
    let sequence = site.place(limit(1, (Outcome::Yes, Side::Buy), 150, 5_000));
    assert_sound(&site.frames);
    for (place, by) in [(0, 1), (1, -1)] {
        let mut frames = site.frames.clone();
        let [Event::OrderKilled(OrderKilled { details, .. })] =
            &mut at(&mut frames, sequence).events[..]
        else {
            panic!("it is worth 0.75, and 1 is the minimum");
        };
        details[place] = details[place].wrapping_add_signed(by);
        assert_does_not_follow(&frames, sequence);
    }
}

#[test]
fn rules_that_become_older_or_switch_unasked_are_found() {
    let to = |rules| Event::RulesSwitched { rules };
    for rules in [0, 1, 2] {
        let (frames, sequence) = with_frame(|_| Command::SwitchRules { rules }, vec![to(rules)]);
        assert_does_not_follow(&frames, sequence);
    }
    let (frames, sequence) = with_frame(|_| Command::AdvanceTime, vec![to(2)]);
    assert_does_not_follow(&frames, sequence);
}

#[test]
fn a_state_that_is_attested_before_it_was_there_is_found() {
    let attest = |sequence| {
        Command::AttestState(AttestState {
            sequence: Sequence(sequence),
            state: [1; 32],
            snapshot: [2; 32],
        })
    };
    let (frames, sequence) = with_frame(attest, vec![Event::StateAttested]);
    assert_does_not_follow(&frames, sequence);
    let (frames, sequence) = with_frame(|_| Command::AdvanceTime, vec![Event::StateAttested]);
    assert_does_not_follow(&frames, sequence);
}

#[test]
fn a_reference_that_moves_money_twice_is_found() {
    let mut site = Site::new();
    let wallet = site.wallet(0);
    let deposit = |byte: u8| foretell_fixtures::deposit(wallet, Micros(7), [byte; 32]);
    site.apply(deposit(0xE0), b"");
    let second = site.apply(deposit(0xE1), b"");
    at(&mut site.frames, second).command = deposit(0xE0);
    assert_does_not_follow(&site.frames, second);
}

#[test]
fn an_owner_that_has_more_than_its_share_of_order_ids_is_found() {
    let mut site = asks();
    let share = |remembered_order_ids| Command::ChangeSettings {
        settings: Settings {
            remembered_order_ids,
            ..Settings::default()
        }
        .into(),
    };
    let settings = site.apply(share(4 * 64), b"");
    let sequence = site.place(limit(0, (Outcome::Yes, Side::Sell), 1_000, 5_100));
    at(&mut site.frames, settings).command = share(3 * 64);
    assert_does_not_follow(&site.frames, sequence);
}

#[test]
fn an_account_that_has_more_references_than_it_may_is_found() {
    let mut site = Site::new();
    let (account, market, lots) = (AccountNumber(0), MarketNumber(0), Lots(1));
    let reference = |number: u32| {
        let mut reference = [0xEE; 32];
        reference[..4].copy_from_slice(&number.to_le_bytes());
        Reference(reference)
    };
    let split = |number| {
        Command::Split(Split {
            account,
            market,
            lots,
            reference: reference(number),
        })
    };
    for number in 0..REFERENCES_PER_ACCOUNT {
        site.apply(split(number), b"");
    }
    let merge = Command::Merge(Merge {
        account,
        market,
        lots,
        reference: reference(REFERENCES_PER_ACCOUNT),
    });
    let last = site.apply(merge, b"");
    assert_sound(&site.frames);
    let frame = at(&mut site.frames, last);
    frame.command = split(REFERENCES_PER_ACCOUNT);
    frame.events = vec![Event::Split(event::Split {
        account,
        market,
        lots,
    })];
    assert_does_not_follow(&site.frames, last);
}

/// A report counts what was executed, however far ahead the reader was: many batches, and what is
/// wrong later in one of them.
#[test]
fn a_report_ends_at_the_first_wrong_frame() {
    let mut site = asks();
    while site.frames.len() < 2_990 {
        site.idle();
    }
    let first = site.place(limit(1, (Outcome::Yes, Side::Buy), 1_000, 5_100));
    let second = site.place(limit(1, (Outcome::Yes, Side::Buy), 1_000, 5_100));
    while site.frames.len() < 6_000 {
        site.idle();
    }
    let sound_signatures = |report: &Value| report["signatures"]["sound"].as_u64();
    let (_, report) = verify(&site.frames);
    let all = sound_signatures(&report).expect("a count");

    let lots = Lots(10_000_000);
    first_fill(at(&mut site.frames, second)).lots = lots;
    assert_found(&site.frames, BROKEN, second, "are taken from");
    let (_, report) = verify(&site.frames);
    assert_eq!(
        report["findings"].as_array().map(Vec::len),
        Some(2),
        "{report:#}"
    );
    assert_eq!(report["counts"]["commands"], second, "{report:#}");
    assert_eq!(sound_signatures(&report), Some(all - 1), "{report:#}");

    first_fill(at(&mut site.frames, first)).fee.0 += 10;
    assert_does_not_follow(&site.frames, first);
    let (_, report) = verify(&site.frames);
    assert_eq!(
        report["findings"].as_array().map(Vec::len),
        Some(1),
        "{report:#}"
    );
    assert_eq!(report["counts"]["commands"], first, "{report:#}");
    assert_eq!(sound_signatures(&report), Some(all - 1), "{report:#}");
}

#[test]
fn a_description_with_another_slug_than_the_registered_one_is_found() {
    let mut site = Site::new();
    let details = MarketDetails {
        slug: SlugDigest::of("told"),
        ..MarketDetails::default()
    };
    let mut beside = Vec::new();
    Tail::append(&[details], &mut beside);
    let command = Command::RegisterMarket(RegisterMarket {
        has_details: true,
        ..foretell_fixtures::market(90).terms
    });
    let described = [&beside[..], br#"{"slug":"told"}"#].concat();
    let sequence = site.apply(command, &described);
    assert_sound(&site.frames);
    at(&mut site.frames, sequence).evidence = [&beside[..], br#"{"slug":"sold"}"#].concat();
    assert_found(&site.frames, FORGED, sequence, "slug");
}
