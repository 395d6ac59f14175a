//! A small exchange without processes: the core executes commands, applied commands become frames,
//! and orders have the evidence and signature that a gateway sends.

use foretell_auth::{Domain, Domains, OrderFields, Signer};
use foretell_fixtures::{deposit, market, trader};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{
    BindWallet, Convert, Redeem, RegisterDomain, ResolveMarket, SetHeartbeat, Split,
};
use foretell_model::evidence::OrderEvidence;
use foretell_model::{
    AccountNumber, Command, DomainNumber, EventId, EventNumber, KeyNumber, Lots, MarketNumber,
    OrderType, Outcome, PlaceOrder, Reference, Side, TimeMs, TimeNs, TimeSeconds, Verdict,
    WalletAddress, WalletKind,
};

use super::seal::Loose;

const START: TimeNs = TimeNs(1_700_000_000_000_000_000);

/// The terms of an order; the rest follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) trader: usize,
    pub(crate) market: u32,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
    pub(crate) order_type: OrderType,
    pub(crate) lots: u64,
    pub(crate) price: u64,
    pub(crate) kind: WalletKind,
}

/// A GTC order of a trader's own wallet.
pub(crate) const fn limit(
    trader: usize,
    (outcome, side): (Outcome, Side),
    lots: u64,
    price: u64,
) -> Wish {
    Wish {
        trader,
        market: 0,
        outcome,
        side,
        order_type: OrderType::Gtc,
        lots,
        price,
        kind: WalletKind::Eoa,
    }
}

/// The exchange and its journalled frames.
pub(crate) struct Site {
    exchange: Exchange,
    pub(crate) frames: Vec<Loose>,
    signers: Vec<Signer>,
    domains: Domains,
    pub(crate) now: TimeNs,
    beats: bool,
}

/// Market 1 is the outside question of their event.
const QUESTIONS: [u32; 3] = [2, 3, 4];

impl Site {
    /// Domains, two traders with money, keys and a deposit wallet each, market 0 with a fee, and
    /// the questions of an event; under the newest rules.
    pub(crate) fn new() -> Self {
        let mut site = Self {
            exchange: Exchange::new(Capacity::default(), 7),
            frames: Vec::new(),
            signers: [1, 2]
                .map(|byte| Signer::from_bytes(&[byte; 32]).expect("a key"))
                .into(),
            domains: Domains::default(),
            now: START,
            beats: false,
        };
        let domains: Vec<Domain> = site.domains.iter().cloned().collect();
        for domain in domains {
            let (number, separator) = (domain.number(), *domain.separator());
            let command = Command::RegisterDomain(RegisterDomain {
                domain: number,
                separator,
            });
            site.apply(command, domain.text().as_bytes());
        }
        for number in [0, 1] {
            let owner = site.signers[number as usize].address();
            for command in trader(number).named(owner.0).open(1_000) {
                site.apply(command, b"");
            }
        }
        for (trader, byte) in [(0, 3), (1, 4)] {
            let owner = site.signers[trader].address();
            let wallet = deposit_wallet(trader);
            site.apply(
                Command::BindWallet(BindWallet {
                    owner,
                    wallet,
                    kind: WalletKind::Deposit,
                }),
                b"",
            );
            site.apply(deposit(wallet, 1_000, [byte; 32]), b"");
        }
        let market = register(0, None);
        site.apply(market, b"{}");
        site.apply(Command::RegisterEvent { event: EventId(9) }, b"{}");
        for number in QUESTIONS {
            let market = register(number, Some(EventNumber(0)));
            site.apply(market, b"{}");
        }
        for market in [0].into_iter().chain(QUESTIONS).map(MarketNumber) {
            site.apply(Command::ActivateMarket { market }, b"");
        }
        site
    }

    /// Applies a command that must succeed.
    pub(crate) fn apply(&mut self, command: Command, evidence: &[u8]) -> u64 {
        let mut events = Vec::new();
        self.now.0 += 1_000_000;
        let verdict = self
            .exchange
            .apply_with(&command, evidence, self.now, &mut events);
        assert!(
            matches!(verdict, Verdict::Applied(_)),
            "{command:?}: {verdict:?}"
        );
        let sequence = self.exchange.sequence().0;
        let is_killed = matches!(events[..], [foretell_model::Event::OrderKilled(_)]);
        self.frames.push(Loose {
            sequence,
            stamp: self.now.into(),
            command,
            events,
            evidence: if is_killed {
                Vec::new()
            } else {
                evidence.to_vec()
            },
        });
        sequence
    }

    /// A command without relevant effect; returns its sequence.
    pub(crate) fn idle(&mut self) -> u64 {
        self.beats = !self.beats;
        let owner = AccountNumber(0);
        self.apply(
            Command::SetHeartbeat(SetHeartbeat {
                owner,
                on: self.beats,
            }),
            b"",
        )
    }

    /// Signs and places an order; returns its sequence.
    pub(crate) fn place(&mut self, wish: Wish) -> u64 {
        let (command, evidence) = self.sign(wish, wish.trader);
        self.apply(command, &evidence)
    }

    /// An order of one trader, signed by another, or by itself.
    pub(crate) fn sign(&self, wish: Wish, signer: usize) -> (Command, Vec<u8>) {
        let owner = self.signers[wish.trader].address();
        let (account, maker) = self.account(wish.trader, wish.kind);
        let (shares, value) = (wish.lots * 10_000, wish.lots * wish.price);
        let (maker_amount, taker_amount) = match wish.side {
            Side::Buy => (value, shares),
            Side::Sell => (shares, value),
        };
        let mut salt = [0; 32];
        salt[24..].copy_from_slice(&(self.frames.len() as u64).to_be_bytes());
        let fields = OrderFields {
            salt,
            maker,
            signer: if wish.kind == WalletKind::Deposit {
                maker
            } else {
                owner
            },
            token: market(wish.market).terms.tokens[wish.outcome.index()],
            maker_amount,
            taker_amount,
            side: wish.side,
            signature_type: wish.kind,
            timestamp: self.now.millis(),
            metadata: [0; 32],
            builder: [0; 32],
        };
        let domain = self
            .domains
            .candidates(wish.market > 0)
            .next()
            .expect("a domain");
        let signature = self.signers[signer].sign_order(&fields, domain);
        let command = PlaceOrder {
            order: foretell_auth::signing::signed_order_id(&fields, domain),
            account,
            key: KeyNumber(number(wish.trader).0),
            market: MarketNumber(wish.market),
            outcome: wish.outcome,
            side: wish.side,
            order_type: wish.order_type,
            post_only: false,
            maker_amount,
            taker_amount,
            expiration: TimeSeconds(0),
            timestamp: TimeMs(self.now.millis().0),
        };
        let words = fields.words();
        let mut evidence = Vec::new();
        OrderEvidence {
            words: &words,
            domain: domain.number(),
            signature: &signature,
        }
        .encode(&mut evidence);
        (Command::PlaceOrder(command), evidence)
    }

    /// The digest of every state so far, indexed by sequence; the first is that of the empty state.
    pub(crate) fn digests(&self) -> Vec<[u8; 32]> {
        let mut exchange = Exchange::new(Capacity::default(), 8);
        let mut digests = vec![exchange.digest()];
        digests.extend(self.frames.iter().map(|frame| {
            let (command, beside) = (&frame.command, &frame.evidence);
            exchange.apply_with(command, beside, frame.stamp, &mut Vec::new());
            exchange.digest()
        }));
        digests
    }

    /// A trader's own wallet, or its deposit wallet.
    pub(crate) fn account(
        &self,
        trader: usize,
        kind: WalletKind,
    ) -> (AccountNumber, WalletAddress) {
        match kind {
            WalletKind::Eoa => (number(trader), self.wallet(trader)),
            _ => (number(trader + 2), deposit_wallet(trader)),
        }
    }

    pub(crate) fn signer(&self, trader: usize) -> &Signer {
        &self.signers[trader]
    }

    /// The address of a trader.
    pub(crate) fn wallet(&self, trader: usize) -> WalletAddress {
        self.signers[trader].address()
    }
}

fn number(account: usize) -> AccountNumber {
    AccountNumber(u32::try_from(account).expect("few accounts"))
}

fn deposit_wallet(trader: usize) -> WalletAddress {
    WalletAddress([[0xD0; 20], [0xD1; 20]][trader])
}

fn register(number: u32, event: Option<EventNumber>) -> Command {
    let market = market(number).refines().minimum(Lots(100)).fee(20_000);
    event.map_or(market, |event| market.of(event)).register()
}

/// Trading of every kind: resting, all three matches, kills, cancels, sets, a conversion, a
/// resolution.
pub(crate) fn busy() -> Site {
    use Outcome::{No, Yes};
    use Side::{Buy, Sell};
    let mut site = Site::new();
    let sets = |account, market, lots, byte| {
        Command::Split(Split {
            account: AccountNumber(account),
            market: MarketNumber(market),
            lots: Lots(lots),
            reference: Reference([byte; 32]),
        })
    };
    site.apply(sets(0, 0, 20_000, 20), b"set-up");
    site.apply(sets(2, QUESTIONS[0], 1_000, 21), b"");
    site.place(limit(0, (Yes, Sell), 3_000, 6_100));
    site.place(limit(0, (No, Buy), 2_000, 4_000)); // an ask at 0.60
    site.place(limit(0, (Yes, Buy), 500, 3_000));
    site.place(limit(1, (Yes, Buy), 3_000, 6_200)); // mints 2,000 at 0.60, takes 1,000 at 0.61
    site.place(limit(0, (Yes, Buy), 200, 6_200)); // closes its own ask, then rests
    site.place(Wish {
        order_type: OrderType::Fok,
        ..limit(1, (Yes, Sell), 3_000, 6_300)
    }); // killed
    site.place(limit(0, (No, Sell), 1_000, 3_900)); // a bid at 0.61
    site.place(Wish {
        kind: WalletKind::Deposit,
        ..limit(1, (Yes, Buy), 700, 5_500)
    });
    site.place(Wish {
        order_type: OrderType::Fak,
        ..limit(1, (Yes, Sell), 400, 6_000)
    }); // 200 at 0.62, merges 200
    for number in [0, 1] {
        site.apply(trader(number).cancel_all(), b"");
    }
    site.place(Wish {
        market: QUESTIONS[0],
        kind: WalletKind::Deposit,
        ..limit(0, (No, Sell), 500, 2_000)
    });
    let mut questions = foretell_model::QuestionSet::default();
    questions = questions.with(0);
    site.apply(
        Command::Convert(Convert {
            account: AccountNumber(2),
            event: EventNumber(0),
            questions,
            lots: Lots(200),
            reference: Reference([22; 32]),
        }),
        b"",
    );
    site.apply(
        Command::CloseMarket {
            market: MarketNumber(0),
        },
        b"",
    );
    let payout = foretell_model::Payout::Half;
    site.apply(
        Command::ResolveMarket(ResolveMarket {
            market: MarketNumber(0),
            payout,
            replaces: None,
        }),
        b"",
    );
    site.apply(
        Command::Redeem(Redeem {
            account: AccountNumber(0),
            market: MarketNumber(0),
            reference: Reference([23; 32]),
        }),
        b"",
    );
    site
}

/// A signing domain that no order uses.
pub(crate) const SPARE_DOMAIN: DomainNumber = DomainNumber(200);
