//! Ids that the exchange generates for an operator's own markets, event groups and tags. Each
//! follows from the journal's genesis and a name, so a repeated registration finds the first one,
//! and every host derives the same.

use foretell_model::{ConditionId, TokenId};

/// Ids of the catalog from here on are generated; those of upstreams are below.
pub(crate) const OWN_IDS: u64 = foretell_wire::operator::OWN_IDS;
/// Bits of a generated id of the catalog below [`OWN_IDS`].
const ID_BITS: u32 = 48;

/// The condition of a market, by its slug.
pub(crate) fn condition(genesis: &[u8; 32], slug: &str) -> ConditionId {
    ConditionId(hash("condition", &[genesis, slug.as_bytes()]))
}

pub(crate) fn tokens(condition: &ConditionId) -> [TokenId; 2] {
    [0_u8, 1].map(|outcome| TokenId(hash("token", &[&condition.0, &[outcome]])))
}

/// The catalog's id of a market.
pub(crate) fn market_id(condition: &ConditionId) -> u64 {
    catalog_id("market", &condition.0)
}

/// The catalog's id of the event that shows a plain market.
pub(crate) fn event_of_market(condition: &ConditionId) -> u64 {
    catalog_id("event of market", &condition.0)
}

/// The id of an event group that was registered without one, by its slug.
pub(crate) fn event_group(genesis: &[u8; 32], slug: &str) -> u64 {
    catalog_id(
        "event group",
        &[genesis.as_slice(), slug.as_bytes()].concat(),
    )
}

/// The catalog's id of an own event group: a generated id is its own; any other could be that of an
/// upstream's event.
pub(crate) fn event_record(id: u64) -> u64 {
    if id >= OWN_IDS {
        id
    } else {
        catalog_id("event record", &id.to_be_bytes())
    }
}

/// The id of a question for which the operator gave none, by its condition.
pub(crate) fn question(condition: &ConditionId) -> String {
    ConditionId(hash("question", &[&condition.0])).to_string()
}

/// The neg-risk id of an event group, by the id of its record.
pub(crate) fn neg_risk_market(event_record: u64) -> String {
    ConditionId(hash("neg-risk market", &[&event_record.to_be_bytes()])).to_string()
}

/// The catalog's id of a tag, by its slug.
pub(crate) fn tag(slug: &str) -> u64 {
    catalog_id("tag", slug.as_bytes())
}

/// A name in URLs: the words of a title, joined by hyphens.
pub(crate) fn slug_of(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.join("-")
}

fn catalog_id(kind: &str, name: &[u8]) -> u64 {
    let hash = hash(kind, &[name]);
    let bits = hash
        .first_chunk()
        .map_or(0, |bytes| u64::from_be_bytes(*bytes));
    OWN_IDS + (bits >> (u64::BITS - ID_BITS))
}

fn hash(kind: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"foretell own ");
    hasher.update(kind.as_bytes());
    for part in parts {
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_by_kind_and_name_and_are_exact_numbers_in_a_browser() {
        let one = condition(&[1; 32], "rain");
        assert_eq!(one, condition(&[1; 32], "rain"));
        assert_ne!(one, condition(&[2; 32], "rain"));
        assert_ne!(one, condition(&[1; 32], "snow"));
        let [yes, no] = tokens(&one);
        assert_ne!(yes, no);
        let ids = [
            market_id(&one),
            event_of_market(&one),
            tag("rain"),
            event_record(7),
        ];
        for id in ids {
            assert!((OWN_IDS..1 << 53).contains(&id), "{id}");
        }
        assert_ne!(ids[0], ids[1]);
        assert_eq!(event_record(ids[0]), ids[0]);
    }
}
