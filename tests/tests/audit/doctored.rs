//! Every way of doctoring a journal has its exit code, and names the frame.

use std::fs;
use std::path::Path;

use foretell_model::limits::REFERENCES_PER_ACCOUNT;
use foretell_model::{
    AccountNumber, CloseReason, Command, Digest16, Event, Lots, MarketNumber, Micros, OrderType,
    Outcome, Price, Reference, Sequence, Settings, Side, WalletKind,
};
use serde_json::{Value, json};

use crate::rng::Rng;
use crate::run::{BROKEN, CONTRADICTS, DAMAGED, FORGED, SOUND, UNREADABLE, audit};
use crate::seal::{Loose, seal, seal_bytes};
use crate::site::{Site, Wish, busy, limit};

fn verify(frames: &[Loose]) -> (i32, Value) {
    let directory = tempfile::tempdir().expect("a directory");
    seal(directory.path(), frames);
    audit(directory.path(), &["verify", "--signatures"])
}

/// Asserts what an audit of doctored frames finds first, and where.
#[track_caller]
fn assert_found(frames: &[Loose], code: i32, sequence: u64, text: &str) {
    let (found, report) = verify(frames);
    assert_eq!(found, code, "{report:#}");
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
fn at(frames: &mut [Loose], sequence: u64) -> &mut Loose {
    let place = usize::try_from(sequence - 1).expect("a small number");
    &mut frames[place]
}

#[test]
fn a_sound_journal_is_sound_and_says_what_was_proven() {
    let site = busy();
    let (code, report) = verify(&site.frames);
    assert_eq!(code, SOUND, "{report:#}");
    assert_eq!(report["last_sequence"], site.frames.len());
    assert_eq!(
        report["signatures"]["sound"],
        report["counts"]["signed_orders"]
    );
    assert_eq!(report["signatures"]["unsound"], 0);
    assert!(report["counts"]["signed_orders"].as_u64() > Some(8));
    assert!(report["counts"]["trades"].as_u64() > Some(3), "{report:#}");
}

#[test]
fn any_flipped_byte_is_damage() {
    let site = busy();
    let directory = tempfile::tempdir().expect("a directory");
    seal(directory.path(), &site.frames);
    let path = foretell_journal::segment::path(directory.path(), 1);
    let sound = fs::read(&path).expect("a segment");
    // Into the first batch's header and its frames, and far into the file.
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
    // Numbered anew, the chain holds, and the record is not what the commands do.
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
                [Event::OrderClosed { .. }, Event::OrderClosed { .. }, ..]
            )
        })
        .expect("a cancel of several orders")
        .sequence;
    at(&mut frames, deposit).events.swap(0, 1);
    assert_found(&frames, CONTRADICTS, deposit, "event 0 is recorded as");
}

#[test]
fn a_divergence_that_the_operator_accepted_is_listed() {
    let mut site = busy();
    let closes = |frame: &&Loose| {
        matches!(
            frame.events[..],
            [Event::OrderClosed { .. }, Event::OrderClosed { .. }, ..]
        )
    };
    let cancel = site.frames.iter().find(closes).expect("a cancel").sequence;
    let sequence = foretell_model::Sequence(cancel);
    site.apply(Command::AcceptDivergence { sequence }, b"");
    at(&mut site.frames, cancel).events.swap(0, 1);
    let (code, report) = verify(&site.frames);
    assert_eq!(code, SOUND, "{report:#}");
    assert_eq!(report["accepted_divergences"], serde_json::json!([cancel]));
}

/// Accepting a divergence does not make its money be there.
#[test]
fn an_accepted_divergence_that_moved_money_contradicts_at_the_end() {
    let mut site = busy();
    let deposit = site.apply(
        Command::Deposit {
            wallet: site.wallet(0),
            amount: Micros(7),
            reference: Reference([0xEE; 32]),
        },
        b"",
    );
    let sequence = foretell_model::Sequence(deposit);
    site.apply(Command::AcceptDivergence { sequence }, b"");
    at(&mut site.frames, deposit).events.clear();
    let last = site.frames.len() as u64;
    assert_found(&site.frames, CONTRADICTS, last, "by the record");
    let (_, report) = verify(&site.frames);
    let accepted = serde_json::json!([deposit]);
    assert_eq!(report["accepted_divergences"], accepted);
}

/// A byte of a frame's events, its checksums made right again.
#[test]
fn no_byte_of_an_event_can_be_another_and_nothing_panics() {
    let frames = busy().frames;
    let mut random = Rng::new(5);
    for round in 0..400 {
        let mut sealed: Vec<_> = frames.iter().map(|it| (it.sequence, it.bytes())).collect();
        let place = usize::try_from(random.below(frames.len() as u64)).expect("small");
        let events = frames[place].events.len() as u64;
        // The command stands before the events; what it asks may be changed to no effect.
        let (from, bytes, is_event) = match random.below(3) {
            0 => (24, 128, false),
            _ => (160, 48 * events, true),
        };
        let at = usize::try_from(from + random.below(bytes.max(1))).expect("small");
        sealed[place].1[at] ^= 1 << random.below(8);
        let directory = tempfile::tempdir().expect("a directory");
        seal_bytes(directory.path(), &sealed);
        let report = foretell_ops::audit::verify(directory.path(), &Default::default());
        let report = report.expect("a journal");
        let names_it = report
            .findings
            .iter()
            .any(|finding| finding.sequence.is_some());
        assert!(report.is_sound() || names_it, "round {round}: {report}");
        assert!(!is_event || !report.is_sound(), "round {round}: {report}");
    }
}

/// Nothing is sized by a sequence.
#[test]
fn sequences_that_begin_far_up_contradict_and_end_nothing() {
    let mut frames = busy().frames;
    for frame in &mut frames {
        frame.sequence += 1 << 61;
    }
    let first = frames[0].sequence;
    assert_found(&frames, CONTRADICTS, first, "re-execution");
}

/// Who forges a journal cannot make the audit silent by a frame that this build does not know.
#[test]
fn what_is_wrong_before_a_newer_frame_is_told() {
    let site = busy();
    let audited = |frames: &[Loose]| {
        let mut sealed: Vec<_> = frames.iter().map(|it| (it.sequence, it.bytes())).collect();
        let (_, last) = sealed.last_mut().expect("frames");
        last[6..8].copy_from_slice(&3_u16.to_le_bytes());
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
    for (frames, expected, sequence) in [(wrong, BROKEN, filled), (forged, FORGED, signed)] {
        let (code, answer) = audited(&frames);
        assert_eq!(code, expected, "{answer:#}");
        let mut found = answer["findings"].as_array().expect("findings").iter();
        assert!(found.any(|it| it["sequence"] == sequence), "{answer:#}");
        assert!(is_newer(&answer["unread"]), "{answer:#}");
    }
}

#[test]
fn money_out_of_nothing_breaks_a_rule() {
    let mut frames = busy().frames;
    let deposit = frames
        .iter()
        .find(|frame| matches!(frame.command, Command::Deposit { .. }))
        .expect("a deposit")
        .sequence;
    let Event::Deposited { amount, .. } = &mut at(&mut frames, deposit).events[1] else {
        panic!("an account is opened and money comes in");
    };
    *amount = Micros(amount.0 + 1);
    assert_found(&frames, BROKEN, deposit, "that nobody asked for");

    let mut frames = busy().frames;
    let events = &mut at(&mut frames, deposit).events;
    events.push(events[1]);
    assert_found(&frames, BROKEN, deposit, "twice");
}

/// The last order, signed by somebody, with one more frame behind it.
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
        // What no field of the command names changes the hash, and so the id.
        let text = if text.is_empty() {
            "recovered address"
        } else {
            text
        };
        assert_found(&frames, FORGED, sequence, text);
        // The high bytes of a word are part of it.
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
        Command::Split {
            account,
            market,
            lots,
            reference,
        },
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
fn a_trade_through_is_found_by_the_auditors_own_book() {
    let mut site = asks();
    let sequence = site.place(limit(1, (Outcome::Yes, Side::Buy), 1_000, 5_100));
    let second = foretell_model::OrderNumber(sequence - 2);
    let fill = first_fill(at(&mut site.frames, sequence));
    (fill.maker_order, fill.yes_price) = (second, Price(5_100));
    assert_found(&site.frames, BROKEN, sequence, "stood before it");
    assert_found(
        &site.frames,
        BROKEN,
        sequence,
        &format!("traded with order {second} at 5100"),
    );
}

#[test]
fn a_fill_out_of_turn_at_one_price_is_found() {
    let mut site = asks();
    site.place(limit(1, (Outcome::Yes, Side::Buy), 1_000, 5_000));
    let sequence = site.place(limit(1, (Outcome::Yes, Side::Buy), 500, 5_100));
    let later = foretell_model::OrderNumber(sequence - 2);
    first_fill(at(&mut site.frames, sequence)).maker_order = later;
    assert_found(&site.frames, BROKEN, sequence, "stood before it");
}

#[test]
fn a_fill_that_was_left_out_is_found() {
    let mut site = asks();
    let sequence = site.place(limit(1, (Outcome::Yes, Side::Buy), 1_000, 5_100));
    let rested = Event::OrderRested {
        lots: Lots(1_000),
        price: Price(5_100),
    };
    at(&mut site.frames, sequence).events = vec![rested];
    assert_found(
        &site.frames,
        BROKEN,
        sequence,
        "although an order within its limit does too",
    );
}

#[test]
fn less_and_more_and_dearer_than_due_is_found() {
    type Change = fn(&mut foretell_model::Fill);
    let doctored: [(Change, &str); 4] = [
        (|fill| fill.fee = Micros(fill.fee.0 + 10), "were due"),
        (|fill| fill.lots = Lots(fill.lots.0 - 1), "were due"),
        (|fill| fill.lots = Lots(u64::MAX), "were due"),
        (|fill| fill.maker_left = Lots(5), "are left of order"),
    ];
    for (change, text) in doctored {
        let mut site = asks();
        let sequence = site.place(limit(1, (Outcome::Yes, Side::Buy), 1_000, 5_100));
        change(first_fill(at(&mut site.frames, sequence)));
        assert_found(&site.frames, BROKEN, sequence, text);
    }
}

#[test]
fn a_kill_and_a_close_without_reason_are_found() {
    let mut site = asks();
    let wish = limit(1, (Outcome::Yes, Side::Buy), 1_000, 5_100);
    let sequence = site.place(Wish {
        order_type: OrderType::Fok,
        ..wish
    });
    let reason = foretell_model::RefusalReason::FokNotFilled;
    at(&mut site.frames, sequence).events = vec![Event::OrderKilled {
        reason,
        details: [0; 2],
    }];
    assert_found(&site.frames, BROKEN, sequence, "was killed as FokNotFilled");

    let mut site = asks();
    let sequence = site.idle();
    at(&mut site.frames, sequence).command = Command::AdvanceTime;
    at(&mut site.frames, sequence).events = vec![Event::OrderClosed {
        order: foretell_model::OrderNumber(sequence - 1),
        account: foretell_model::AccountNumber(0),
        lots: Lots(1_000),
        reason: CloseReason::Expired,
    }];
    assert_found(&site.frames, BROKEN, sequence, "is closed as Expired");
}

/// A frame that says nothing of interest, and another thing in its place.
fn with_frame(command: impl Fn(u64) -> Command, events: Vec<Event>) -> (Vec<Loose>, u64) {
    let mut site = asks();
    let sequence = site.idle();
    let frame = at(&mut site.frames, sequence);
    (frame.command, frame.events) = (command(sequence), events);
    (site.frames, sequence)
}

#[test]
fn a_cancel_that_ended_nothing_is_found() {
    let (owner, request) = (AccountNumber(1), Digest16([1; 16]));
    let cancels = [
        Command::CancelAll {
            owner,
            heartbeat: false,
            request,
        },
        Command::CancelMarketOrders {
            owner,
            market: MarketNumber(0),
            outcome: None,
            request,
        },
    ];
    for cancel in cancels {
        let (frames, sequence) = with_frame(|_| cancel, Vec::new());
        assert_found(&frames, BROKEN, sequence, "that ended no order");
    }
}

#[test]
fn a_kill_with_other_amounts_is_found() {
    let mut site = asks();
    let sequence = site.place(limit(1, (Outcome::Yes, Side::Buy), 150, 5_000));
    assert_eq!(verify(&site.frames).0, SOUND);
    for (place, by) in [(0, 1), (1, -1)] {
        let mut frames = site.frames.clone();
        let [Event::OrderKilled { details, .. }] = &mut at(&mut frames, sequence).events[..] else {
            panic!("it is worth 0.75, and 1 is the minimum");
        };
        details[place] = details[place].wrapping_add_signed(by);
        assert_found(&frames, BROKEN, sequence, "[750000, 1000000] were due");
    }
}

#[test]
fn rules_that_become_older_or_switch_unasked_are_found() {
    let to = |rules| Event::RulesSwitched { rules };
    for rules in [1, 2, 3] {
        let (frames, sequence) = with_frame(|_| Command::SwitchRules { rules }, vec![to(rules)]);
        let text = format!("the rules are switched from 2 to {rules}");
        assert_found(&frames, BROKEN, sequence, &text);
    }
    let (frames, sequence) = with_frame(|_| Command::AdvanceTime, vec![to(2)]);
    assert_found(&frames, BROKEN, sequence, "the rules are switched");
}

#[test]
fn a_state_that_is_attested_before_it_was_there_is_found() {
    let attest = |sequence| Command::AttestState {
        sequence: Sequence(sequence),
        state: [1; 32],
        snapshot: [2; 32],
    };
    let (frames, sequence) = with_frame(attest, vec![Event::StateAttested]);
    assert_found(&frames, BROKEN, sequence, "before it was there");
    let (frames, sequence) = with_frame(|_| Command::AdvanceTime, vec![Event::StateAttested]);
    assert_found(&frames, BROKEN, sequence, "by another command");
}

#[test]
fn a_reference_that_moves_money_twice_is_found() {
    let mut site = Site::new();
    let wallet = site.wallet(0);
    let deposit = |byte| Command::Deposit {
        wallet,
        amount: Micros(7),
        reference: Reference([byte; 32]),
    };
    site.apply(deposit(0xE0), b"");
    let second = site.apply(deposit(0xE1), b"");
    at(&mut site.frames, second).command = deposit(0xE0);
    assert_found(&site.frames, BROKEN, second, "a reference was used before");
}

#[test]
fn an_owner_that_has_more_than_its_share_of_order_ids_is_found() {
    let mut site = asks();
    let share = |remembered_order_ids| {
        Command::ChangeSettings(Settings {
            remembered_order_ids,
            ..Settings::default()
        })
    };
    let settings = site.apply(share(4 * 64), b"");
    let sequence = site.place(limit(0, (Outcome::Yes, Side::Sell), 1_000, 5_100));
    at(&mut site.frames, settings).command = share(3 * 64);
    let text = "while 3 ids of account 0 were remembered, 3 may be";
    assert_found(&site.frames, BROKEN, sequence, text);
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
    let split = |number| Command::Split {
        account,
        market,
        lots,
        reference: reference(number),
    };
    for number in 0..REFERENCES_PER_ACCOUNT {
        site.apply(split(number), b"");
    }
    let merge = Command::Merge {
        account,
        market,
        lots,
        reference: reference(REFERENCES_PER_ACCOUNT),
    };
    let last = site.apply(merge, b"");
    assert_eq!(verify(&site.frames).0, SOUND);
    let frame = at(&mut site.frames, last);
    frame.command = split(REFERENCES_PER_ACCOUNT);
    frame.events = vec![Event::Split {
        account,
        market,
        lots,
    }];
    let text = "while 512 of its references were remembered";
    assert_found(&site.frames, BROKEN, last, text);
}
