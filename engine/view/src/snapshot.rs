//! The view in a snapshot: sections with the live state and the tails of the history, and the list
//! of sealed chunks. Reading it back gives an equal view.
//!
//! Each module defines the bytes of its own part; this one combines them in a fixed order, so that
//! equal views give equal bytes.

use std::collections::BTreeMap;

use foretell_model::OrderNumber;
use foretell_model::codec::{CodecError, Stored, put_all, stored};

use crate::history::{ChunkRef, LogName};
use crate::rows::order::Order;
use crate::rows::orders::Delay;
use crate::storage::chunk::{ChunkBytes, Chunking};
use crate::view::View;

/// Version of the layout of snapshots and chunks. Raise it with every change of either, so that a
/// build ignores files of another layout.
pub const VIEW_VERSION: u32 = 23;

/// The section that describes the others.
const HEADER: &str = "view";
/// The section of live orders, by number.
const LIVE_ORDERS: &str = "live-orders";
/// The section of what delayed orders wait for.
const DELAYS: &str = "delays";

/// The bytes of a view.
#[derive(Clone, Debug)]
pub struct ViewSnapshot {
    /// Sections by name.
    pub sections: Vec<(&'static str, Vec<u8>)>,
    /// Every sealed chunk; [`View::chunk_bytes`] returns their bytes.
    pub chunks: Vec<ChunkRef>,
}

/// Why a snapshot gives no view. The caller ignores the snapshot: the journal has everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ViewSnapshotError {
    /// It has another layout.
    #[error("view version {0}, expected {VIEW_VERSION}")]
    Version(u32),
    /// A section is missing.
    #[error("section {0:?} is missing")]
    NoSection(&'static str),
    /// A section that this crate cannot have written.
    #[error("section {0:?} cannot be read")]
    Malformed(&'static str),
    /// A chunk that it needs is missing.
    #[error("{0} is missing")]
    NoChunk(ChunkRef),
}

stored! {
    /// The section that describes the others.
    #[derive(Debug)]
    struct ViewHeader {
        version: u32,
        /// `None` for the standard size.
        chunk_bits: Option<u8>,
        genesis: [u8; 32],
    }
}

impl View {
    /// The bytes of the view; `None` after a rejected frame, because the view is then inconsistent.
    /// The cost is that of the live state and of one chunk per log.
    #[must_use]
    pub fn snapshot(&self) -> Option<ViewSnapshot> {
        if self.broken {
            return None;
        }
        let header = ViewHeader {
            version: VIEW_VERSION,
            chunk_bits: match self.chunking {
                Chunking::Standard => None,
                Chunking::Bits(bits) | Chunking::Bounded { bits, .. } => Some(bits),
            },
            genesis: self.genesis,
        };
        let mut sections = vec![(HEADER, bytes(&header))];
        for (name, part) in self.live_parts() {
            let mut section = Vec::new();
            part.put_live(&mut section);
            sections.push((name, section));
        }
        sections.push((DELAYS, bytes(&self.orders.delays)));
        let mut live = Vec::new();
        put_all(self.orders.all_live(), &mut live);
        sections.push((LIVE_ORDERS, live));
        for &log in LogName::ALL {
            let mut section = Vec::new();
            self.log(log).put_open(&mut section);
            sections.push((log.text(), section));
        }
        let chunks = LogName::ALL.iter().flat_map(|&log| self.chunks_of(log));
        Some(ViewSnapshot {
            sections,
            chunks: chunks.collect(),
        })
    }

    /// Restores a view. `section` returns a section by name, `chunk` a sealed chunk, both with the
    /// bytes that were written.
    ///
    /// # Errors
    /// [`ViewSnapshotError`] when a part is missing or cannot have been written by this build. Damaged
    /// bytes may also give a view with wrong content, so the caller must verify them first.
    pub fn from_snapshot<'a>(
        section: impl Fn(&str) -> Option<&'a [u8]>,
        mut chunk: impl FnMut(ChunkRef) -> Option<ChunkBytes>,
    ) -> Result<Self, ViewSnapshotError> {
        let header = read_header(&section)?;
        let chunking = header.chunk_bits.map_or(Chunking::Standard, Chunking::Bits);
        let mut view = Self::with_chunking(header.genesis, chunking);
        for (name, part) in view.live_parts_mut() {
            read(&section, name, |from| part.take_live(from))?;
        }
        for &log in LogName::ALL {
            view.restore_log(log, &section, &mut chunk)?;
        }
        view.connect_parts()?;
        let orders = read(&section, LIVE_ORDERS, Stored::take)?;
        let delays = read(&section, DELAYS, Stored::take)?;
        view.restore_orders(orders, delays)?;
        Ok(view)
    }

    fn restore_log<'a>(
        &mut self,
        name: LogName,
        section: impl Fn(&str) -> Option<&'a [u8]>,
        mut chunk: impl FnMut(ChunkRef) -> Option<ChunkBytes>,
    ) -> Result<(), ViewSnapshotError> {
        let log = self.log_mut(name);
        let rows = log.chunks().chunk_rows();
        let text = name.text();
        let malformed = |_| ViewSnapshotError::Malformed(text);
        let mut open = section(text).ok_or(ViewSnapshotError::NoSection(text))?;
        let mut sealed = Vec::new();
        for number in 0..u32::take(&mut open).map_err(malformed)? {
            let wanted = ChunkRef {
                log: name,
                number,
                rows,
            };
            sealed.push(chunk(wanted).ok_or(ViewSnapshotError::NoChunk(wanted))?);
        }
        log.restore(sealed, &mut open).map_err(malformed)?;
        match open {
            [] => Ok(()),
            _ => Err(ViewSnapshotError::Malformed(text)),
        }
    }

    /// Checks what parts have in common, and computes the holders from the holdings.
    fn connect_parts(&mut self) -> Result<(), ViewSnapshotError> {
        let accounts = self.accounts.count();
        let holders = self.holdings.holders(self.markets.end());
        let holders = holders.filter(|_| self.holdings.accounts() == accounts);
        self.positions.holders = holders.ok_or(ViewSnapshotError::Malformed("holdings"))?;
        if self.standings.len() != accounts {
            return Err(ViewSnapshotError::Malformed("standings"));
        }
        let of_builders = &self.builder_standings;
        let fits = of_builders.builders() <= self.builders.count();
        if of_builders.accounts() != accounts || !fits {
            return Err(ViewSnapshotError::Malformed("builder-standings"));
        }
        Ok(())
    }

    /// Adds the live orders to the tables of orders and to their books.
    fn restore_orders(
        &mut self,
        orders: Vec<Order>,
        mut delays: BTreeMap<OrderNumber, Delay>,
    ) -> Result<(), ViewSnapshotError> {
        for order in orders {
            // Lists of trades are found by the builder's index.
            let builder = order.builder.map(|slot| self.builders.code(slot));
            let known = (self.accounts.get(order.account)).zip(self.markets.get(order.market));
            if builder == Some(None) || known.is_none() {
                return Err(ViewSnapshotError::Malformed(LIVE_ORDERS));
            }
            let restored = match delays.remove(&order.number) {
                Some(delay) => self.orders.delay(order, delay),
                None => (self.books.restore(&order)).and_then(|()| self.orders.rest(order)),
            };
            restored.map_err(|_| ViewSnapshotError::Malformed(LIVE_ORDERS))?;
        }
        match delays.is_empty() {
            true => Ok(()),
            false => Err(ViewSnapshotError::Malformed(DELAYS)),
        }
    }
}

fn bytes(value: &impl Stored) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.put(&mut bytes);
    bytes
}

/// Reads a whole section.
fn read<'a, T>(
    section: impl Fn(&str) -> Option<&'a [u8]>,
    name: &'static str,
    take: impl FnOnce(&mut &'a [u8]) -> Result<T, CodecError>,
) -> Result<T, ViewSnapshotError> {
    let mut bytes = section(name).ok_or(ViewSnapshotError::NoSection(name))?;
    let value = take(&mut bytes).ok().filter(|_| bytes.is_empty());
    value.ok_or(ViewSnapshotError::Malformed(name))
}

fn read_header<'a>(
    section: impl Fn(&str) -> Option<&'a [u8]>,
) -> Result<ViewHeader, ViewSnapshotError> {
    let mut bytes = section(HEADER).ok_or(ViewSnapshotError::NoSection(HEADER))?;
    // The layout after the version is known only for the current version.
    match u32::take(&mut bytes) {
        Ok(VIEW_VERSION) => read(section, HEADER, Stored::take),
        Ok(version) => Err(ViewSnapshotError::Version(version)),
        Err(_) => Err(ViewSnapshotError::Malformed(HEADER)),
    }
}
