//! The view as bytes: what lives and the open ends of history in sections, beside the list of the
//! sealed chunks. A view made of them is the view they were made of.
//!
//! Each view's own file says what its bytes are; here they are put together. The order of things
//! is always the same, so that equal views have equal images.

use crate::accounts::Accounts;
use crate::actions::Actions;
use crate::chunk::{ChunkBytes, Chunking};
use crate::history::{ChunkRef, LogName};
use crate::list::{Heads, Lists, Summary};
use crate::log::Log;
use crate::markets::Markets;
use crate::midpoints::Midpoints;
use crate::named::NamedLog;
use crate::order::Order;
use crate::orders::Orders;
use crate::pairs::Pairs;
use crate::positions::Positions;
use crate::row::{Row, Stored, put_all, stored, take_bytes};
use crate::trades::Trades;
use crate::view::View;

/// Names the layout of images and chunks. Raised with every change of either, so that what another
/// build wrote is ignored instead of misread.
pub const VIEW_VERSION: u32 = 6;

/// The section of the open positions.
const OPEN_POSITIONS: &str = "open-positions";
/// The section of the newest trades of each account in each market.
const TRADED_MARKETS: &str = "traded-markets";

/// A view as bytes.
#[derive(Clone, Debug)]
pub struct Image {
    /// Sections by name.
    pub sections: Vec<(&'static str, Vec<u8>)>,
    /// Every sealed chunk; [`View::chunk_bytes`] has their bytes.
    pub chunks: Vec<ChunkRef>,
}

/// Why an image is no view. It is to be ignored: the journal has everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ImageError {
    /// It has another layout.
    #[error("the image has view version {0}, not {VIEW_VERSION}")]
    Version(u32),
    /// A section is not there.
    #[error("the image has no section {0:?}")]
    NoSection(&'static str),
    /// A section cannot be what this crate wrote.
    #[error("section {0:?} of the image cannot be read")]
    Malformed(&'static str),
    /// A chunk it needs is not there.
    #[error("{0} is not there")]
    NoChunk(ChunkRef),
}

/// The section that says what the others are.
#[derive(Debug)]
struct Head {
    version: u32,
    /// `None` for the standard one.
    chunk_bits: Option<u8>,
    genesis: [u8; 32],
}

stored!(Head {
    version: u32,
    chunk_bits: Option<u8>,
    genesis: [u8; 32],
});

impl View {
    /// The view as bytes; `None` when it refused a frame, for then it is no state of the exchange.
    /// The work is that of what lives, and of one chunk a log.
    #[must_use]
    pub fn image(&self) -> Option<Image> {
        if self.broken {
            return None;
        }
        let head = Head {
            version: VIEW_VERSION,
            chunk_bits: match self.chunking {
                Chunking::Standard => None,
                Chunking::Bits(bits) | Chunking::Bounded { bits, .. } => Some(bits),
            },
            genesis: self.genesis,
        };
        let mut sections = vec![
            ("view", bytes(&head)),
            ("system", bytes(&self.system)),
            ("accounts", bytes(&self.accounts)),
            ("keys", bytes(&self.keys)),
            ("events", bytes(&self.events)),
            ("markets", bytes(&self.markets)),
            ("books", bytes(&self.books)),
            ("builders", bytes(&self.builders)),
            ("open-midpoints", bytes(&self.midpoints.current)),
            (OPEN_POSITIONS, bytes(&self.positions.open)),
            (TRADED_MARKETS, bytes(self.trades.of_pair.newest())),
            ("turnover", bytes(&self.turnover)),
        ];
        let mut live = Vec::new();
        put_all(self.orders.all_live(), &mut live);
        sections.push(("live-orders", live));
        for &log in LogName::ALL {
            let mut section = Vec::new();
            self.log(log).put_tail(&mut section);
            if let Some(heads) = self.heads(log) {
                heads.put(&mut section);
            }
            sections.push((log.text(), section));
        }
        let chunks = LogName::ALL.iter().flat_map(|&log| self.log(log).refs(log));
        Some(Image {
            sections,
            chunks: chunks.collect(),
        })
    }

    /// The view of an image. `section` finds a section by name, `chunk` a sealed chunk, both as
    /// they were written.
    ///
    /// # Errors
    /// [`ImageError`] when something is missing or is not what this build writes. Bytes that were
    /// damaged may also give a view with wrong content: that they were not is the caller's to know.
    pub fn from_image<'a>(
        section: impl Fn(&str) -> Option<&'a [u8]>,
        chunk: impl FnMut(ChunkRef) -> Option<ChunkBytes>,
    ) -> Result<Self, ImageError> {
        let mut image = Reader {
            section,
            chunk,
            chunking: Chunking::Standard,
        };
        let head: Head = image.read_head()?;
        image.chunking = head.chunk_bits.map_or(Chunking::Standard, Chunking::Bits);
        let accounts: Accounts = image.read("accounts")?;
        let markets: Markets = image.read("markets")?;
        let positions = Positions::of(
            image.read(OPEN_POSITIONS)?,
            image.read_log(LogName::ClosedPositions)?,
            image.read_lists(LogName::AccountClosed)?,
            &accounts,
            &markets,
        );
        let of_pair = Pairs::of(
            image.read_log(LogName::AccountMarketTrades)?,
            image.read(TRADED_MARKETS)?,
            accounts.count(),
        );
        let mut view = Self {
            genesis: head.genesis,
            chunking: image.chunking,
            broken: false,
            system: image.read("system")?,
            accounts,
            keys: image.read("keys")?,
            events: image.read("events")?,
            markets,
            books: image.read("books")?,
            builders: image.read("builders")?,
            orders: Orders::of(NamedLog::of(image.read_log(LogName::FinishedOrders)?)),
            trades: Trades {
                all: NamedLog::of(image.read_log(LogName::Trades)?),
                of_all: image.read_lists(LogName::AllTrades)?,
                of_account: image.read_lists(LogName::AccountTrades)?,
                of_market: image.read_lists(LogName::MarketTrades)?,
                of_pair: of_pair.ok_or(ImageError::Malformed(TRADED_MARKETS))?,
                of_token: image.read_lists(LogName::TokenTrades)?,
                of_builder: image.read_lists(LogName::BuilderTrades)?,
            },
            midpoints: Midpoints {
                current: image.read("open-midpoints")?,
                turns: image.read_log(LogName::Midpoints)?,
                of_market: image.read_lists(LogName::MarketMidpoints)?,
            },
            positions: positions.ok_or(ImageError::Malformed(OPEN_POSITIONS))?,
            actions: Actions {
                all: image.read_log(LogName::Actions)?,
                of_account: image.read_lists(LogName::AccountActions)?,
            },
            turnover: image.read("turnover")?,
        };
        const LIVE: &str = "live-orders";
        for order in image.read::<Vec<Order>>(LIVE)? {
            // A list is found by its builder's place.
            let builder = order.builder.map(|slot| view.builders.code(slot));
            if builder == Some(None) {
                return Err(ImageError::Malformed(LIVE));
            }
            let restored = view.books.restore(&order);
            restored
                .and_then(|()| view.orders.rest(order))
                .map_err(|_| ImageError::Malformed(LIVE))?;
        }
        Ok(view)
    }
}

fn bytes(value: &impl Stored) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.put(&mut bytes);
    bytes
}

/// An image being read.
struct Reader<S, C> {
    section: S,
    chunk: C,
    chunking: Chunking,
}

impl<'a, S, C> Reader<S, C>
where
    S: Fn(&str) -> Option<&'a [u8]>,
    C: FnMut(ChunkRef) -> Option<ChunkBytes>,
{
    fn read_head(&self) -> Result<Head, ImageError> {
        const NAME: &str = "view";
        let mut bytes = (self.section)(NAME).ok_or(ImageError::NoSection(NAME))?;
        // What follows the version is known only when it is ours.
        let version = u32::take(&mut &*bytes).ok_or(ImageError::Malformed(NAME))?;
        if version != VIEW_VERSION {
            return Err(ImageError::Version(version));
        }
        let head = Head::take(&mut bytes).filter(|_| bytes.is_empty());
        head.ok_or(ImageError::Malformed(NAME))
    }

    fn read<T: Stored>(&self, name: &'static str) -> Result<T, ImageError> {
        let mut bytes = (self.section)(name).ok_or(ImageError::NoSection(name))?;
        let value = T::take(&mut bytes).filter(|_| bytes.is_empty());
        value.ok_or(ImageError::Malformed(name))
    }

    fn read_log<R: Row>(&mut self, log: LogName) -> Result<Log<R>, ImageError> {
        match self.read_history(log)? {
            (rows, []) => Ok(rows),
            _ => Err(ImageError::Malformed(log.text())),
        }
    }

    fn read_lists<T: Summary>(&mut self, log: LogName) -> Result<Lists<T>, ImageError> {
        let (postings, mut beside) = self.read_history(log)?;
        let heads = Heads::take(&mut beside).filter(|_| beside.is_empty());
        let heads = heads.ok_or(ImageError::Malformed(log.text()))?;
        Ok(Lists::of(postings, heads))
    }

    /// A log, and what its section holds beside the tail.
    fn read_history<R: Row>(&mut self, log: LogName) -> Result<(Log<R>, &'a [u8]), ImageError> {
        let malformed = ImageError::Malformed(log.text());
        let mut bytes = (self.section)(log.text()).ok_or(ImageError::NoSection(log.text()))?;
        let count = u32::take(&mut bytes).ok_or(malformed)?;
        let tail = take_bytes(&mut bytes).ok_or(malformed)?;
        let rows = 1 << self.chunking.bits(R::CHUNK_BITS);
        let mut sealed = Vec::new();
        for number in 0..count {
            let chunk = ChunkRef { log, number, rows };
            sealed.push((self.chunk)(chunk).ok_or(ImageError::NoChunk(chunk))?);
        }
        let log = Log::restore(self.chunking, sealed, tail).ok_or(malformed)?;
        Ok((log, bytes))
    }
}
