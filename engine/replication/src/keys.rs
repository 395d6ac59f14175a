//! The signatures of what the log carries. A server of the log, a host that only reads, and whoever reaches the
//! servers can write into the log; only a host that may lead can sign.
//!
//! A signed message is: Ed25519 signature (64 bytes), length of the host's name (1), the name, the content. They are one
//! payload, so that every reader sees the same bytes. The signature covers, integers little-endian:
//!
//! ```text
//! 0 kind, 24 bytes | 24 genesis of the journal, 32 | 56 number in the log, 8
//! 64 name of the host, padded with zeros, 64 | 128 BLAKE3 of the content, 32
//! ```
//! No name has a zero, so that it is signed with its length. The content has the term. Records have number 0; those of hosts are read before a host has a journal, so their
//! genesis is zeros.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use thiserror::Error;

const SIGNATURE_BYTES: usize = 64;
/// Maximum length of a host's name, in bytes.
const MAX_HOST_BYTES: usize = 64;
/// Length of what a signature covers.
const STATEMENT_BYTES: usize = 24 + 32 + 8 + MAX_HOST_BYTES + 32;
/// Bytes of an id: unguessable before the message is sent.
const ID_BYTES: usize = 16;

/// What a payload is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// An item of the journal.
    Item,
    Heartbeat,
    HostRecord,
}

/// The place for which a payload is signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) kind: Kind,
    pub(crate) genesis: [u8; 32],
    /// Number in the log; 0 of records.
    pub(crate) number: u64,
}

impl Place {
    fn statement(&self, host: &str, content: &[u8]) -> [u8; STATEMENT_BYTES] {
        let kind: &[u8; 24] = match self.kind {
            Kind::Item => b"foretell log item 1\0\0\0\0\0",
            Kind::Heartbeat => b"foretell heartbeat 1\0\0\0\0",
            Kind::HostRecord => b"foretell host record 1\0\0",
        };
        let mut statement = [0; STATEMENT_BYTES];
        statement[..24].copy_from_slice(kind);
        statement[24..56].copy_from_slice(&self.genesis);
        statement[56..64].copy_from_slice(&self.number.to_le_bytes());
        statement[64..64 + host.len()].copy_from_slice(host.as_bytes());
        statement[128..].copy_from_slice(blake3::hash(content).as_bytes());
        statement
    }
}

/// A payload whose signature holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Opened<'m> {
    pub(crate) host: &'m str,
    pub(crate) content: &'m [u8],
    /// A host that may lead signed it, not a reader.
    pub(crate) may_lead: bool,
}

/// 32 bytes that are no public key, or a weak one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("not a public Ed25519 key")]
pub struct InvalidKey;

/// The keys of a host.
#[derive(Clone)]
pub struct Keys {
    host: String,
    own: SigningKey,
    /// Of the hosts that may lead: they share one key.
    cluster: VerifyingKey,
    /// Of hosts that only read, by name. Each signs nothing but its own record.
    readers: BTreeMap<String, VerifyingKey>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({}, secret)", self.host)
    }
}

impl Keys {
    /// Of a host that may lead, with the secret of the cluster. `readers` are the public keys of readers by name.
    ///
    /// # Errors
    /// A reader's key is none.
    ///
    /// # Panics
    /// It is not a name: [`is_host_name`].
    pub fn of_leader(
        host: &str,
        secret: &[u8; 32],
        readers: &BTreeMap<String, [u8; 32]>,
    ) -> Result<Self, InvalidKey> {
        let own = SigningKey::from_bytes(secret);
        let cluster = own.verifying_key();
        Self::new(host, own, cluster, readers)
    }

    /// Of a host that only reads, with a secret of its own and the public key of the cluster.
    ///
    /// # Errors
    /// A public key is none.
    ///
    /// # Panics
    /// As [`Self::of_leader`].
    pub fn of_reader(
        host: &str,
        secret: &[u8; 32],
        cluster: &[u8; 32],
        readers: &BTreeMap<String, [u8; 32]>,
    ) -> Result<Self, InvalidKey> {
        let cluster = public(cluster)?;
        Self::new(host, SigningKey::from_bytes(secret), cluster, readers)
    }

    fn new(
        host: &str,
        own: SigningKey,
        cluster: VerifyingKey,
        readers: &BTreeMap<String, [u8; 32]>,
    ) -> Result<Self, InvalidKey> {
        assert!(is_host_name(host), "{host:?} is the name of a host");
        let keys = readers
            .iter()
            .map(|(name, key)| Ok((name.clone(), public(key)?)));
        Ok(Self {
            host: host.to_owned(),
            own,
            cluster,
            readers: keys.collect::<Result<_, _>>()?,
        })
    }

    /// Name of this host.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Public half of this host's secret.
    #[must_use]
    pub fn public_key(&self) -> [u8; 32] {
        self.own.verifying_key().to_bytes()
    }

    /// The payload of a content.
    pub(crate) fn seal(&self, place: &Place, content: &[u8]) -> Vec<u8> {
        let signature = self.own.sign(&place.statement(&self.host, content));
        let length = u8::try_from(self.host.len()).expect("checked when the keys were made");
        let mut payload = Vec::with_capacity(SIGNATURE_BYTES + 1 + self.host.len() + content.len());
        payload.extend_from_slice(&signature.to_bytes());
        payload.push(length);
        payload.extend_from_slice(self.host.as_bytes());
        payload.extend_from_slice(content);
        payload
    }

    /// The content of a payload that was signed for this place; `None` of any other bytes.
    pub(crate) fn open<'m>(&self, place: &Place, payload: &'m [u8]) -> Option<Opened<'m>> {
        let (signature, host, content) = parts(payload)?;
        let statement = place.statement(host, content);
        let holds = |key: &VerifyingKey| key.verify_strict(&statement, &signature).is_ok();
        let may_lead = holds(&self.cluster);
        let is_reader =
            || place.kind == Kind::HostRecord && self.readers.get(host).is_some_and(holds);
        (may_lead || is_reader()).then_some(Opened {
            host,
            content,
            may_lead,
        })
    }
}

fn public(bytes: &[u8; 32]) -> Result<VerifyingKey, InvalidKey> {
    let key = VerifyingKey::from_bytes(bytes).map_err(|_| InvalidKey)?;
    if key.is_weak() {
        Err(InvalidKey)
    } else {
        Ok(key)
    }
}

/// Signature, host and content that a payload claims.
fn parts(payload: &[u8]) -> Option<(Signature, &str, &[u8])> {
    let (signature, rest) = payload.split_first_chunk::<SIGNATURE_BYTES>()?;
    let (length, rest) = rest.split_first()?;
    let (host, content) = rest.split_at_checked(usize::from(*length))?;
    let host = str::from_utf8(host).ok()?;
    is_host_name(host).then(|| (Signature::from_bytes(signature), host, content))
}

/// Whether a text is 1 to 64 letters, digits and hyphens of ASCII.
#[must_use]
pub fn is_host_name(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !text.is_empty() && text.len() <= MAX_HOST_BYTES && text.chars().all(is_allowed)
}

/// The content that a payload claims to have, whoever signed it.
pub(crate) fn claimed(payload: &[u8]) -> Option<&[u8]> {
    parts(payload).map(|(_, _, content)| content)
}

/// The id of a payload's attempt: of its signature, so that nobody takes it before the message is sent. An attempt after
/// one that the log certainly refused has another id: a server may remember that of a refused message, and would
/// take the repeat for a duplicate.
pub(crate) fn id(payload: &[u8], attempt: u32) -> String {
    let mut id = String::with_capacity(2 * ID_BYTES + 4);
    for byte in &payload[..ID_BYTES] {
        write!(id, "{byte:02x}").expect("a string grows");
    }
    if attempt > 0 {
        write!(id, "~{attempt}").expect("a string grows");
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place {
        kind: Kind::Item,
        genesis: [7; 32],
        number: 9,
    };

    fn none() -> BTreeMap<String, [u8; 32]> {
        BTreeMap::new()
    }

    fn keys(host: &str) -> Keys {
        Keys::of_leader(host, &[1; 32], &none()).unwrap()
    }

    #[test]
    fn a_signature_holds_for_every_bit_and_its_place_alone() {
        let payload = keys("alpha").seal(&PLACE, b"content");
        let opened = keys("beta").open(&PLACE, &payload).unwrap();
        assert_eq!((opened.host, opened.content), ("alpha", &b"content"[..]));
        for bit in 0..8 * payload.len() {
            let mut other = payload.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(keys("beta").open(&PLACE, &other), None, "bit {bit}");
        }
        for end in 0..payload.len() {
            assert_eq!(
                keys("beta").open(&PLACE, &payload[..end]),
                None,
                "{end} bytes"
            );
        }
        let mut longer = payload.clone();
        longer[SIGNATURE_BYTES] += 1;
        longer.insert(SIGNATURE_BYTES + 1 + "alpha".len(), 0);
        assert_eq!(keys("beta").open(&PLACE, &longer), None, "alpha\\0");
        let elsewhere = [
            Place {
                number: 10,
                ..PLACE
            },
            Place {
                genesis: [8; 32],
                ..PLACE
            },
            Place {
                kind: Kind::Heartbeat,
                ..PLACE
            },
            Place {
                kind: Kind::HostRecord,
                ..PLACE
            },
        ];
        for place in elsewhere {
            assert_eq!(keys("beta").open(&place, &payload), None, "{place:?}");
        }
        let other = Keys::of_leader("alpha", &[2; 32], &none()).unwrap();
        assert_eq!(other.open(&PLACE, &payload), None);
        let reader = Keys::of_reader("gamma", &[3; 32], &keys("alpha").public_key(), &none());
        assert!(reader.unwrap().open(&PLACE, &payload).is_some());
    }

    #[test]
    fn a_reader_signs_its_own_record_and_nothing_else() {
        let cluster = keys("alpha").public_key();
        let sealed = |host: &str, place: &Place| {
            let reader = Keys::of_reader(host, &[3; 32], &cluster, &none()).unwrap();
            reader.seal(place, b"content")
        };
        let public = Keys::of_leader("gamma", &[3; 32], &none())
            .unwrap()
            .public_key();
        let listed = BTreeMap::from([("gamma".to_owned(), public)]);
        let host = Keys::of_leader("alpha", &[1; 32], &listed).unwrap();
        let record = Place {
            kind: Kind::HostRecord,
            ..PLACE
        };
        let payload = sealed("gamma", &record);
        assert!(
            host.open(&record, &payload)
                .is_some_and(|opened| !opened.may_lead)
        );
        assert_eq!(
            host.open(&record, &sealed("beta", &record)),
            None,
            "another's name"
        );
        for kind in [Kind::Item, Kind::Heartbeat] {
            let place = Place { kind, ..PLACE };
            assert_eq!(
                host.open(&place, &sealed("gamma", &place)),
                None,
                "{kind:?}"
            );
        }
        assert_eq!(
            keys("beta").open(&record, &sealed("gamma", &record)),
            None,
            "not listed"
        );
    }

    #[test]
    fn what_is_signed_is_laid_out_as_it_says() {
        let statement = PLACE.statement("alpha", b"content");
        assert_eq!(&statement[..24], b"foretell log item 1\0\0\0\0\0");
        assert_eq!(statement[24..56], [7; 32]);
        assert_eq!(statement[56..64], [9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(&statement[64..69], b"alpha");
        assert_eq!(statement[69..128], [0; 59]);
        assert_eq!(&statement[128..], blake3::hash(b"content").as_bytes());
        assert_eq!(format!("{:?}", keys("alpha")), "Keys(alpha, secret)");
    }

    #[test]
    fn a_weak_key_is_none() {
        let mut neutral = [0; 32];
        neutral[0] = 1;
        let refused = Keys::of_reader("gamma", &[3; 32], &neutral, &none());
        assert_eq!(refused.map(drop), Err(InvalidKey));
    }
}
