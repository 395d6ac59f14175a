//! A small order flow worked out by hand, of the real core: every message, hashes included. Ids of
//! trades differ, because they follow from the whole genesis. Dave's order is a GTC here: a FAK that
//! buys 30 shares at 0.45 has a budget of 13.50 and gets 32.22 shares.

use std::collections::BTreeMap;

use foretell_fixtures::{deposit, market, trader};
use foretell_gateway::{StreamFold, StreamMessage, StreamReceiver};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{
    RegisterKey, RegisterMarket, ResolveMarket, SetMinimumSize, SetTick,
};
use foretell_model::{
    Command, FramePosition, FrameRef, KeyNumber, Lots, MarketNumber, OrderType, Outcome, Payout,
    Side, Tick, TimeMs, TimeNs, TokenId, Verdict,
};
use foretell_view::TradeId;
use foretell_wire::text::decimal::uint256;
use foretell_wire::text::ids;

/// Receiver and message of each line; names for the ids, `…` for the end of each.
const FLOW: &str = include_str!("worked_flow.txt");

const NAMES: &[(&str, &str)] = &[
    (
        "<M>",
        "0xddea699c0004ffeacce1649fd42f52746dda5f61ca868900a522233aa10e9669",
    ),
    (
        "<YES>",
        "88692907391501086275782613149217664138685406538999438648487231672048270396434",
    ),
    (
        "<NO>",
        "108363281934219455779095678380228533703241871776231225558353401266752510121529",
    ),
    ("<alice.key>", "0071e705-7f26-4786-8057-6a371e29d143"),
    (
        "<alice.wallet>",
        "0xb1fe0aba716df8969fd92b4634fb67b7a2a59766",
    ),
    ("<bob.key>", "3046609b-62ed-4d9d-83de-0b5be47b071c"),
    ("<bob.wallet>", "0x5eb28e6c40a734e533c900444fe94764ce76e35c"),
    ("<carol.key>", "4acaabc1-7bef-4b27-8a74-516531f3858a"),
    (
        "<carol.wallet>",
        "0xeb7b3440c5cf5afe773921edea8fa34d4cfa1d24",
    ),
    ("<dave.key>", "3189127f-7b6a-44f6-819c-18a620b4f5f2"),
    (
        "<dave.wallet>",
        "0x6700e727ae6c89429d0ea89d6a1aecfe170530bc",
    ),
    (
        "<A1>",
        "0xad0608725cbbdbc36406d149067a32b0a77a524b5fff5183cc76c0d6b7f935b5",
    ),
    (
        "<B1>",
        "0x54bef1ccfde12b92ac87f0731d2611afac49f51b8e1e1767476eff666dc51a79",
    ),
    (
        "<C1>",
        "0x908d72900e2475921b580e971e603ef224f1995cdf47e3022d12ee88ae3e6e8a",
    ),
    (
        "<D1>",
        "0xd322de085a24ae58593ea47dd09157f88fb27454bf08582384f5693d97ed06f8",
    ),
    (
        "<receipt103>",
        "0x294aacc24284aba3f7816650ea97e94074b733807e84698bcf7bdfe2e4736ce9",
    ),
    (
        "<receipt104>",
        "0x75b7d2b6c59b403f498ad849530089851674f3492bc2fde5b2612ad9d8d9df93",
    ),
    ("<zero>", "00000000-0000-0000-0000-000000000000"),
];
const STREAM: [u8; 8] = [0xfa, 0x55, 0xed, 0x59, 0xe6, 0xc7, 0xd7, 0x47];
const PEOPLE: [&str; 4] = ["alice", "bob", "carol", "dave"];
const MARKET: MarketNumber = MarketNumber(0);
/// The frame after which the market connection subscribes.
const SUBSCRIBED: u64 = 100;

fn named(name: &str) -> &'static str {
    let found = NAMES
        .iter()
        .find(|(known, _)| *known == format!("<{name}>"));
    found.expect("a name").1
}

fn token(name: &str) -> TokenId {
    TokenId(uint256(named(name)).expect("a token"))
}

fn genesis() -> [u8; 32] {
    let mut genesis = [0; 32];
    genesis[..8].copy_from_slice(&STREAM);
    genesis
}

/// The core, and the messages of its frames.
struct Flow {
    core: Exchange,
    fold: StreamFold,
    sent: Vec<StreamMessage>,
}

impl Flow {
    fn apply(&mut self, command: &Command, evidence: &[u8]) {
        let mut events = Vec::new();
        let sequence = self.core.sequence().next();
        let time =
            TimeNs((1_790_000_000_234 + sequence.0 * 1_000 - SUBSCRIBED * 1_000) * 1_000_000);
        let verdict = self.core.apply(command, time, &mut events);
        assert!(
            matches!(verdict, Verdict::Applied(_)),
            "{command:?}: {verdict:?}"
        );
        let frame = FrameRef {
            operator: foretell_model::OperatorNumber::NONE,
            touched: 0,
            sequence,
            time,
            command,
            events: &events,
            evidence,
            place: FramePosition::default(),
        };
        let receipt = match sequence.0 {
            103 => ids::bytes32(named("receipt103")),
            104 => ids::bytes32(named("receipt104")),
            _ => Some([0; 32]),
        };
        let messages = self
            .fold
            .fold(&frame, receipt.expect("32 bytes"), TimeMs(0));
        self.sent.extend(messages.expect("a frame that follows"));
    }

    fn deposit(&mut self, wallet: &str, reference: u8) {
        let wallet = ids::address(wallet).expect("an address");
        self.apply(&deposit(wallet, 1_000, [reference; 32]), &[]);
    }

    /// Price in hundredths, whole shares.
    fn place(
        &mut self,
        (person, order): (u32, &str),
        (outcome, side): (Outcome, Side),
        (shares, price): (u64, u64),
        order_type: OrderType,
    ) {
        let time = 1_790_000_000_234 + (self.core.sequence().0 + 1 - SUBSCRIBED) * 1_000;
        let id = ids::order_id(named(order)).expect("an id");
        let order = trader(person)
            .order(side, shares)
            .at_cents(price)
            .of(outcome);
        let order = order.as_type(order_type).id(id).signed(TimeMs(time));
        self.apply(&order.place(), &[]);
    }

    /// Everything up to the frame of the subscription.
    fn prepare(&mut self) {
        for (person, number) in PEOPLE.iter().zip(0..) {
            self.deposit(named(&format!("{person}.wallet")), number);
        }
        for person in PEOPLE {
            let wallet = ids::address(named(&format!("{person}.wallet")));
            let key = Command::RegisterKey(RegisterKey {
                owner: wallet.expect("an address"),
                nonce: [0; 32],
                api_key: ids::api_key(named(&format!("{person}.key"))).expect("a key"),
                read_only: false,
            });
            self.apply(&key, &[]);
        }
        let market = RegisterMarket {
            condition: ids::condition_id(named("M")).expect("a condition"),
            tokens: [token("YES"), token("NO")],
            ..market(0).refines().terms
        };
        let description = serde_json::json!({
            "question": "Will it rain in Oslo on 1 October 2026?",
            "slug": "rain-oslo-2026-10-01", "market_id": 1_031_769, "tags": ["weather"],
        });
        let description = description.to_string().into_bytes();
        self.apply(&Command::RegisterMarket(market), &description);
        self.apply(&Command::ActivateMarket { market: MARKET }, &[]);
        self.apply(&trader(2).split(MARKET, 120), &[]);
        while self.core.sequence().0 < SUBSCRIBED - 1 {
            let reference = u8::try_from(self.core.sequence().0).expect("few frames") + 50;
            self.deposit(named("alice.wallet"), reference);
        }
        let minimum_size = Lots(500);
        let minimum = Command::SetMinimumSize(SetMinimumSize {
            market: MARKET,
            minimum_size,
        });
        self.apply(&minimum, &[]);
    }

    fn run(&mut self) {
        use Outcome::{No, Yes};
        let (buy, sell) = (Side::Buy, Side::Sell);
        self.place((0, "A1"), (Yes, buy), (100, 40), OrderType::Gtc);
        self.place((1, "B1"), (No, buy), (50, 55), OrderType::Gtc);
        self.place((2, "C1"), (Yes, sell), (120, 40), OrderType::Gtc);
        self.place((3, "D1"), (Yes, buy), (30, 45), OrderType::Gtc);
        let order = ids::order_id(named("B1")).expect("an id");
        self.apply(&trader(1).cancel(order), &[]);
        let tick = Tick::Thousandth;
        let market = MARKET;
        self.apply(&Command::SetTick(SetTick { market, tick }), &[]);
        self.apply(&Command::CloseMarket { market }, &[]);
        let payout = Payout::Yes;
        self.apply(
            &Command::ResolveMarket(ResolveMarket {
                market,
                payout,
                replaces: None,
            }),
            &[],
        );
    }
}

/// What a message is in the flow's receivers; `None` for those nobody there subscribed to.
fn receiver(message: &StreamMessage) -> Option<&'static str> {
    match message.receiver {
        StreamReceiver::Token(_, Outcome::Yes)
        | StreamReceiver::CustomToken(_, Outcome::Yes)
        | StreamReceiver::Market(_)
        | StreamReceiver::CustomAll => Some("market"),
        StreamReceiver::Key(key, _) => Some(PEOPLE[key.0 as usize]),
        _ => None,
    }
}

#[test]
fn the_worked_flow_is_what_the_core_and_the_streams_send() {
    let genesis = genesis();
    let mut flow = Flow {
        core: Exchange::new(Capacity::NONE, 1),
        fold: StreamFold::new(genesis, 1_000, 4_096),
        sent: Vec::new(),
    };
    flow.prepare();
    assert_eq!(flow.core.sequence().0, SUBSCRIBED);
    flow.sent.clear();
    let book = flow.fold.book(MARKET, Outcome::Yes).expect("a book");
    let (head, _) = book.split_once(r#","server_ts_ms""#).expect("a stamp");
    let mut sent = BTreeMap::from([("market", vec![format!(r#"{head},"server_ts_ms":"0"}}"#)])]);
    flow.run();
    let is_carols = |message: &StreamMessage| {
        // Left out in the flow: like Bob's.
        matches!(message.receiver, StreamReceiver::Key(KeyNumber(2), _))
            && message.text.contains(r#""sequence":"104""#)
    };
    for message in flow.sent.iter().filter(|message| !is_carols(message)) {
        if let Some(receiver) = receiver(message) {
            sent.entry(receiver).or_default().push(message.text.clone());
        }
    }
    let mut expected = BTreeMap::<&str, Vec<String>>::new();
    for line in FLOW.lines() {
        let (receiver, text) = line.split_once(' ').expect("a receiver");
        let stamp = format!(
            r#","stream_id":"{}","server_ts_ms":"0""#,
            hex::encode(STREAM)
        );
        let text = text.replace('\u{2026}', &stamp);
        let mut text = text.replace(r#""order_type":"FAK""#, r#""order_type":"GTC""#);
        for (name, id) in NAMES {
            text = text.replace(name, id);
        }
        for (name, sequence) in [("<t1>", 103), ("<t2>", 104)] {
            let id = TradeId::new(&genesis, foretell_model::Sequence(sequence));
            text = text.replace(name, &id.to_string());
        }
        expected.entry(receiver).or_default().push(text);
    }
    for (receiver, expected) in &expected {
        let sent = &sent[receiver];
        for (sent, expected) in sent.iter().zip(expected) {
            assert_eq!(sent, expected, "to {receiver}");
        }
        assert_eq!(sent.len(), expected.len(), "to {receiver}: {sent:#?}");
    }
    assert_eq!(expected.values().map(Vec::len).sum::<usize>(), 36);
}
