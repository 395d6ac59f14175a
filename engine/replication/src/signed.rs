//! The log as a host uses it: what it sends is signed, and what no host of the cluster signed does not count.

use std::sync::Arc;
use std::time::{Duration, Instant};

use foretell_journal::replica::Item;
use foretell_journal::segment::SegmentHeader;

use crate::keys::{Keys, Kind, Opened, Place, claimed, id};
use crate::log::{Bounds, LogError, Outcome, Publish, ReplicatedLog, Wake};
use crate::records::{Heartbeat, HostRecord};

/// Messages that a search for the log's end passes over at most.
const MAX_PASSED: u32 = 256;
/// Pause between two lines about foreign messages.
const WARNING_PAUSE: Duration = Duration::from_secs(60);

/// A message of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// A host that may lead signed it for this number.
    Signed {
        /// The name of that host.
        host: String,
        /// An item of the journal.
        content: Vec<u8>,
    },
    /// Nobody of the cluster signed it for this number: it does not count.
    Foreign,
}

/// How a log begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beginning {
    /// It has no item of a journal.
    Empty,
    /// This message is the header of a journal's first segment, signed by a host that may lead.
    Header(u64, SegmentHeader),
    /// This message looks like an item, and no header like that is near: a host with another key wrote it, or the log's
    /// beginning was freed.
    Other(u64),
    /// The caller gave up.
    Stopped,
}

/// What follows a message of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Following {
    /// Nothing after the message with this number.
    End(u64),
    /// A message of a host.
    Signed {
        number: u64,
        host: String,
        content: Vec<u8>,
    },
    /// Many messages that do not count, up to this number, and perhaps more.
    Further(u64),
}

/// A connection to the log with the keys of this host.
#[derive(Debug)]
pub struct SignedLog {
    log: Box<dyn ReplicatedLog>,
    keys: Keys,
    /// Of the journal whose messages count; zeros while a host has no journal.
    genesis: [u8; 32],
    newest_beat: Option<Heartbeat>,
    has_heard: bool,
    foreign: Foreign,
}

/// Counts what strangers wrote.
#[derive(Debug, Default)]
struct Foreign {
    count: u64,
    /// Number of the last one: a look reads the same ones again.
    last: u64,
    warned: Option<Instant>,
}

impl Foreign {
    fn note(&mut self, number: u64) {
        if number <= self.last {
            return;
        }
        self.last = number;
        self.count += 1;
        if self.warned.is_none_or(|at| at.elapsed() >= WARNING_PAUSE) {
            self.warned = Some(Instant::now());
            let count = self.count;
            tracing::warn!(
                number,
                count,
                "the replicated log has messages that do not count: no host of this cluster signed them for their places"
            );
        }
    }
}

impl SignedLog {
    /// A connection of a host that has no journal yet: [`Self::set_genesis`] names it.
    #[must_use]
    pub fn new(log: Box<dyn ReplicatedLog>, keys: Keys) -> Self {
        let mut signed = Self {
            log,
            keys,
            genesis: [0; 32],
            newest_beat: None,
            has_heard: false,
            foreign: Foreign::default(),
        };
        signed.set_genesis([0; 32]);
        signed
    }

    /// Names the journal whose messages count.
    pub fn set_genesis(&mut self, genesis: [u8; 32]) {
        self.genesis = genesis;
        let (keys, place) = (self.keys.clone(), self.place(Kind::Heartbeat, 0));
        let age = move |payload: &[u8]| Some(heartbeat(&keys, &place, payload)?.age());
        self.log.set_beat_age(Arc::new(age));
        let keys = self.keys.clone();
        let age = move |payload: &[u8]| {
            let record = host_record(&keys, payload)?;
            Some((record.host, record.life, record.count))
        };
        self.log.set_record_age(Arc::new(age));
    }

    /// Number of messages of the journal's stream that did not count, since the start.
    #[must_use]
    pub const fn foreign(&self) -> u64 {
        self.foreign.count
    }

    /// As [`ReplicatedLog::set_waker`].
    pub fn set_waker(&mut self, wake: Wake) {
        self.log.set_waker(wake);
    }

    /// As [`ReplicatedLog::bounds`].
    ///
    /// # Errors
    /// [`LogError`].
    pub fn bounds(&mut self) -> Result<Bounds, LogError> {
        self.log.bounds()
    }

    /// As [`ReplicatedLog::outcome`].
    pub fn outcome(&mut self) -> Option<(String, Outcome)> {
        self.log.outcome()
    }

    /// As [`ReplicatedLog::read`].
    ///
    /// # Errors
    /// [`LogError`].
    pub fn read(&mut self, number: u64) -> Result<Option<Message>, LogError> {
        let payload = self.log.read(number)?;
        Ok(payload.map(|payload| self.open(number, &payload)))
    }

    /// As [`ReplicatedLog::next`]. A message that does not count was read twice: another server may have it intact.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn next(&mut self, after: u64) -> Result<Option<Message>, LogError> {
        let number = after + 1;
        let Some(payload) = self.log.next(after)? else {
            return Ok(None);
        };
        let mut message = self.open(number, &payload);
        if message == Message::Foreign {
            let Some(again) = self.read(number)? else {
                return Ok(None);
            };
            message = again;
        }
        Ok(Some(message))
    }

    /// Counts a message that this host passes over, and says so now and then.
    pub fn note_foreign(&mut self, number: u64) {
        self.foreign.note(number);
    }

    /// How the log begins. If with the header of a journal that a host signed for it, that journal's messages count from
    /// then on. Calls `goes_on` before each message that it reads.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn beginning(
        &mut self,
        bounds: Bounds,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Beginning, LogError> {
        let mut other = None;
        for number in bounds.first..=bounds.last {
            if !goes_on() {
                return Ok(Beginning::Stopped);
            }
            let payload = self.log.read(number)?.unwrap_or_default();
            let Some(Ok(item)) = claimed(&payload).map(Item::read) else {
                continue;
            };
            if let Item::Segment(header) = item {
                let before = std::mem::replace(&mut self.genesis, header.genesis);
                if header.number == 1 && self.open(number, &payload) != Message::Foreign {
                    self.set_genesis(header.genesis);
                    return Ok(Beginning::Header(number, header));
                }
                self.genesis = before;
            }
            if number - *other.get_or_insert(number) > MAX_PASSED.into() {
                break;
            }
        }
        Ok(other.map_or(Beginning::Empty, Beginning::Other))
    }

    /// Name of this host.
    pub(crate) fn host(&self) -> &str {
        self.keys.host()
    }

    /// What follows message `after`. Passes over foreign messages, and over those of hosts that `is_stale` names.
    pub(crate) fn following(
        &mut self,
        after: u64,
        is_stale: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Following, LogError> {
        let mut last = after;
        for _ in 0..MAX_PASSED {
            let number = last + 1;
            match self.read(number)? {
                None => return Ok(Following::End(last)),
                Some(Message::Signed { host, content }) if !is_stale(&content) => {
                    return Ok(Following::Signed {
                        number,
                        host,
                        content,
                    });
                }
                Some(_) => self.foreign.note(number),
            }
            last = number;
        }
        Ok(Following::Further(last))
    }

    /// The number of the log's last message, if none after number `after` counts.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn end_without_items(&mut self, after: u64) -> Result<Option<u64>, LogError> {
        Ok(match self.following(after, &|_| false)? {
            Following::End(last) => Some(last),
            Following::Signed { .. } | Following::Further(_) => None,
        })
    }

    /// Signs an item and sends it as the message after number `expected`; see [`Publish`]. Returns the id of this attempt.
    pub(crate) fn publish(
        &mut self,
        expected: u64,
        after: Option<String>,
        attempt: u32,
        content: &[u8],
    ) -> String {
        let payload = self
            .keys
            .seal(&self.place(Kind::Item, expected + 1), content);
        let id = id(&payload, attempt);
        self.log.publish(Publish {
            expected,
            after,
            id: id.clone(),
            payload,
        });
        id
    }

    /// As [`ReplicatedLog::beat`].
    pub fn beat(&mut self, beat: &Heartbeat) {
        let payload = self
            .keys
            .seal(&self.place(Kind::Heartbeat, 0), &beat.encode());
        self.log.beat(payload, beat.resigned);
    }

    /// The newest heartbeat of the cluster that this connection has read. A repeated older one does not replace it.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn last_beat(&mut self) -> Result<Option<&Heartbeat>, LogError> {
        let place = self.place(Kind::Heartbeat, 0);
        for payload in self.log.beats()? {
            self.has_heard = true;
            let Some(beat) = heartbeat(&self.keys, &place, &payload) else {
                continue;
            };
            let newest = self.newest_beat.as_ref();
            if newest.is_none_or(|newest| newest.age() < beat.age()) {
                self.newest_beat = Some(beat);
            }
        }
        Ok(self.newest_beat.as_ref())
    }

    /// Whether there was a heartbeat, of whomever: if there is none now, the servers lost it, and a leader may live.
    #[must_use]
    pub const fn has_heard(&self) -> bool {
        self.has_heard
    }

    /// As [`ReplicatedLog::announce`].
    pub fn announce(&mut self, record: &HostRecord) {
        let payload = self.keys.seal(&HOST_RECORD, &record.encode());
        self.log.announce(&record.host, payload);
    }

    /// The records of hosts that have arrived since the last call, each signed by its host.
    pub fn announced(&mut self) -> Vec<HostRecord> {
        let payloads = self.log.announced();
        let record = |payload: &Vec<u8>| host_record(&self.keys, payload);
        payloads.iter().filter_map(record).collect()
    }

    /// The newest record of each host, signed by that host. An older one may stand under another subject.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn hosts(&mut self) -> Result<Vec<HostRecord>, LogError> {
        let payloads = self.log.hosts()?;
        let record = |payload: &Vec<u8>| host_record(&self.keys, payload);
        let mut hosts: Vec<HostRecord> = payloads.iter().filter_map(record).collect();
        hosts.sort_by(|a, b| (&a.host, b.wall_ms).cmp(&(&b.host, a.wall_ms)));
        hosts.dedup_by(|later, first| later.host == first.host);
        Ok(hosts)
    }

    fn place(&self, kind: Kind, number: u64) -> Place {
        Place {
            kind,
            genesis: self.genesis,
            number,
        }
    }

    fn open(&self, number: u64, payload: &[u8]) -> Message {
        match self.keys.open(&self.place(Kind::Item, number), payload) {
            Some(opened) => Message::Signed {
                host: opened.host.to_owned(),
                content: opened.content.to_vec(),
            },
            None => Message::Foreign,
        }
    }
}

/// A heartbeat that a host of the cluster signed for this place.
fn heartbeat(keys: &Keys, place: &Place, payload: &[u8]) -> Option<Heartbeat> {
    Heartbeat::decode(keys.open(place, payload)?.content)
}

/// A record that its host signed.
fn host_record(keys: &Keys, payload: &[u8]) -> Option<HostRecord> {
    let Opened {
        host,
        content,
        may_lead,
    } = keys.open(&HOST_RECORD, payload)?;
    let record = HostRecord::decode(content)?;
    let is_reader = record.role == "reader";
    (record.host == host && (may_lead || is_reader)).then_some(record)
}

const HOST_RECORD: Place = Place {
    kind: Kind::HostRecord,
    genesis: [0; 32],
    number: 0,
};
