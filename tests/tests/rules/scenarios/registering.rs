//! Registrations of markets, with what they have no room for (docs/verify/rules.md §12).

use foretell_model::command::{MarketDetails, RegisterMarket};
use foretell_model::tail::Tail;
use foretell_model::{Command, ContentDigest, MarketTerms, Opening, SlugDigest, TimeNs};

use crate::scenarios::market_life::terms;
use crate::scenarios::names::Names;
use crate::scenarios::statements::{Desk, fee, index};
use crate::scenarios::text;
use crate::scenarios::words::Words;

impl Desk {
    /// The command of a registration, and its tail:
    /// `[tick 0.01] [keeps-tick] [min 5] [fee 40000^1] [tokens B] [event E [index 7]]`, and
    /// `[now | never] [slug a | slug-if-free a] [content 1]` with the words of terms.
    pub(crate) fn registration(
        &mut self,
        words: &mut Words<'_>,
        now: TimeNs,
    ) -> Result<(Command, Vec<u8>), String> {
        let details = details(words, now)?;
        let mut tail = Vec::new();
        let has_details = details != MarketDetails::default();
        if has_details {
            Tail::append(&[details], &mut tail);
        }
        let name = words.next()?;
        let command = Command::RegisterMarket(RegisterMarket {
            index: words.option("index").map(index).transpose()?,
            condition: Names::condition(name),
            tokens: Names::tokens(words.option("tokens").unwrap_or(name)),
            tick: text::tick(words.option("tick").unwrap_or("0.01"))?,
            tick_refines: !words.flag("keeps-tick"),
            minimum_size: text::shares(words.option("min").unwrap_or("5"))?,
            fee: fee(words.option("fee").unwrap_or("0^0"))?,
            event: words.option("event").map(|event| self.names.event(event)),
            has_details,
        });
        Ok((command, tail))
    }
}

fn details(words: &mut Words<'_>, now: TimeNs) -> Result<MarketDetails, String> {
    let opening = match (words.flag("now"), words.flag("never")) {
        (true, _) => Opening::Now,
        (_, true) => Opening::Never,
        _ => Opening::Later,
    };
    let needed = words.option("slug");
    let slug = needed.or_else(|| words.option("slug-if-free"));
    let content = words.option("content");
    Ok(MarketDetails {
        terms: terms(words, now)?.applied_to(MarketTerms::default()),
        opening,
        slug: SlugDigest::of(slug.unwrap_or_default()),
        needs_slug: needed.is_some(),
        content: content.map_or(ContentDigest::ZERO, |text| {
            ContentDigest::of(text.as_bytes())
        }),
    })
}
