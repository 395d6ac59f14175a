//! Restores groups of quotes.

use foretell_model::AccountNumber;
use foretell_model::state;

use crate::quotes::QuoteGroup;
use crate::restore::{Put, Restorer, check};

impl Restorer {
    pub(super) fn put_quote_group(&mut self, record: &state::QuoteGroup) -> Put {
        self.check_account(record.account)?;
        let known = self.exchange.quotes.find(record.account, record.group);
        check(known.is_none(), "a group of quotes stands twice")?;
        self.exchange.quotes.add(QuoteGroup {
            record: *record,
            ..QuoteGroup::new(record.account, record.group)
        });
        Ok(())
    }

    pub(super) fn put_quote_fill(&mut self, fill: &state::QuoteFill) -> Put {
        let slot = self.quote_group(fill.account, fill.group)?;
        self.exchange.quotes[slot].fills.push(*fill);
        Ok(())
    }

    pub(super) fn put_quote_net(&mut self, net: &state::QuoteNet) -> Put {
        let slot = self.quote_group(net.account, net.group)?;
        self.exchange.quotes[slot].nets.push(*net);
        Ok(())
    }

    /// Adds live quotes to their groups, by number, and schedules the groups.
    pub(super) fn link_quotes(&mut self) -> Put {
        self.quotes.sort_unstable();
        for (_, slot, group) in std::mem::take(&mut self.quotes) {
            let account = self.exchange.orders[slot].account;
            let group = self.quote_group(account, group)?;
            let exchange = &mut self.exchange;
            exchange.orders[slot].group = group;
            exchange.quotes[group].quotes.push(slot);
            let added = &exchange.quotes[group];
            if added.quotes.len() == 1 && added.record.frozen {
                exchange.quotes.freeze(group);
            }
        }
        let groups = self.exchange.quotes.sorted();
        let slots: Vec<u32> = groups.iter().map(|(slot, _)| *slot).collect();
        for slot in slots {
            self.exchange.schedule(slot);
        }
        Ok(())
    }

    fn quote_group(&self, account: AccountNumber, group: u8) -> Put<u32> {
        let known = self.exchange.quotes.find(account, group);
        known.ok_or("unknown group of quotes")
    }
}
