-- Gateways filter and sort lists in memory, so only the indices that find single records remain.
DROP INDEX markets_by_id;
DROP INDEX markets_by_slug;
DROP INDEX markets_by_title;
DROP INDEX markets_by_start;
DROP INDEX markets_by_end;
DROP INDEX markets_by_created;
DROP INDEX markets_by_updated;
DROP INDEX markets_by_volume;
DROP INDEX markets_by_liquidity;
DROP INDEX markets_by_event;
DROP INDEX markets_by_creator;
CREATE INDEX markets_by_slug  ON markets (slug);
CREATE INDEX markets_by_event ON markets (event_id);

DROP INDEX events_by_id;
DROP INDEX events_by_slug;
DROP INDEX events_by_title;
DROP INDEX events_by_start;
DROP INDEX events_by_end;
DROP INDEX events_by_creation;
DROP INDEX events_by_created;
DROP INDEX events_by_updated;
DROP INDEX events_by_volume;
DROP INDEX events_by_liquidity;
DROP INDEX events_by_creator;
CREATE INDEX events_by_slug ON events (slug);

DROP INDEX event_tags_by_event;
