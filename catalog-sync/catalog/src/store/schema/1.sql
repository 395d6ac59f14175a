-- Times are microseconds since 1970, UTC; flags are 0 or 1; wallets and conditions are bytes.
-- Rows that are filtered and sorted are narrow; separate tables have their texts.

CREATE TABLE events (
    id            INTEGER PRIMARY KEY,
    slug          TEXT    NOT NULL,
    title         TEXT    NOT NULL,
    start_date    INTEGER,
    end_date      INTEGER,
    creation_date INTEGER,
    created_at    INTEGER,
    updated_at    INTEGER,
    volume        REAL,
    liquidity     REAL,
    active        INTEGER NOT NULL,
    closed        INTEGER NOT NULL,
    archived      INTEGER NOT NULL,
    creator       BLOB,
    -- Number of the last change of the event, its markets, tags or series.
    change        INTEGER NOT NULL
) STRICT;

CREATE TABLE event_texts (
    id       INTEGER PRIMARY KEY,
    -- JSON: the short summary, the full summary, the event without markets; none has trading fields.
    short    TEXT NOT NULL,
    base     TEXT NOT NULL,
    whole    TEXT NOT NULL,
    metadata TEXT NOT NULL,
    -- The original record.
    raw      TEXT NOT NULL,
    -- The indexed search text; the index is updated only when it differs.
    searched TEXT NOT NULL
) STRICT;

CREATE TABLE markets (
    id         INTEGER PRIMARY KEY,
    event_id   INTEGER,
    slug       TEXT    NOT NULL,
    question   TEXT    NOT NULL,
    condition  BLOB,
    start_date INTEGER,
    end_date   INTEGER,
    created_at INTEGER,
    updated_at INTEGER,
    volume     REAL,
    liquidity  REAL,
    active     INTEGER NOT NULL,
    closed     INTEGER NOT NULL,
    archived   INTEGER NOT NULL,
    creator    BLOB,
    -- For markets without an event only; other markets use their event's.
    change     INTEGER NOT NULL
) STRICT;

CREATE TABLE market_texts (
    id   INTEGER PRIMARY KEY,
    -- JSON without `events` and trading fields.
    json TEXT NOT NULL,
    -- The original record.
    raw  TEXT NOT NULL
) STRICT;

CREATE TABLE market_tokens (
    token     TEXT    NOT NULL,
    market_id INTEGER NOT NULL,
    PRIMARY KEY (token, market_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX market_tokens_by_market ON market_tokens (market_id);

CREATE TABLE series (
    id         INTEGER PRIMARY KEY,
    slug       TEXT    NOT NULL,
    updated_at INTEGER,
    -- JSON without `events`.
    json       TEXT    NOT NULL,
    raw        TEXT    NOT NULL
) STRICT;
CREATE INDEX series_by_slug ON series (slug);

CREATE TABLE event_series (
    event_id  INTEGER NOT NULL,
    place     INTEGER NOT NULL,
    series_id INTEGER NOT NULL,
    PRIMARY KEY (event_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_series_by_series ON event_series (series_id, event_id);

CREATE TABLE tags (
    id          INTEGER PRIMARY KEY,
    slug        TEXT    NOT NULL,
    label       TEXT    NOT NULL,
    -- The normalised label for search.
    searched    TEXT    NOT NULL,
    updated_at  INTEGER,
    event_count INTEGER NOT NULL,
    json        TEXT    NOT NULL,
    raw         TEXT    NOT NULL
) STRICT;
CREATE INDEX tags_by_slug ON tags (slug);

CREATE TABLE event_tags (
    event_id INTEGER NOT NULL,
    place    INTEGER NOT NULL,
    tag_id   INTEGER NOT NULL,
    PRIMARY KEY (event_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_tags_by_tag ON event_tags (tag_id, event_id);
CREATE INDEX event_tags_by_event ON event_tags (event_id, tag_id);

-- Creators of an event or of one of its markets.
CREATE TABLE event_creators (
    creator  BLOB    NOT NULL,
    event_id INTEGER NOT NULL,
    PRIMARY KEY (creator, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_creators_by_event ON event_creators (event_id);

-- Each order of a list has an index that includes the filter columns, so that a page does not read
-- the rows that it skips.
CREATE INDEX markets_by_id        ON markets (id,         active, closed, archived, event_id);
CREATE INDEX markets_by_slug      ON markets (slug,       id, active, closed, archived, event_id);
CREATE INDEX markets_by_title     ON markets (question,   id, active, closed, archived, event_id);
CREATE INDEX markets_by_start     ON markets (start_date, id, active, closed, archived, event_id);
CREATE INDEX markets_by_end       ON markets (end_date,   id, active, closed, archived, event_id);
CREATE INDEX markets_by_created   ON markets (created_at, id, active, closed, archived, event_id);
CREATE INDEX markets_by_updated   ON markets (updated_at, id, active, closed, archived, event_id);
CREATE INDEX markets_by_volume    ON markets (volume,     id, active, closed, archived, event_id);
CREATE INDEX markets_by_liquidity ON markets (liquidity,  id, active, closed, archived, event_id);
CREATE INDEX markets_by_event     ON markets (event_id,   id, active, closed, archived);
CREATE INDEX markets_by_condition ON markets (condition);
CREATE INDEX markets_by_creator   ON markets (creator, id);
CREATE INDEX markets_by_change    ON markets (change) WHERE event_id IS NULL;

CREATE INDEX events_by_id        ON events (id,            active, closed, archived);
CREATE INDEX events_by_slug      ON events (slug,          id, active, closed, archived);
CREATE INDEX events_by_title     ON events (title,         id, active, closed, archived);
CREATE INDEX events_by_start     ON events (start_date,    id, active, closed, archived);
CREATE INDEX events_by_end       ON events (end_date,      id, active, closed, archived);
CREATE INDEX events_by_creation  ON events (creation_date, id, active, closed, archived);
CREATE INDEX events_by_created   ON events (created_at,    id, active, closed, archived);
CREATE INDEX events_by_updated   ON events (updated_at,    id, active, closed, archived);
CREATE INDEX events_by_volume    ON events (volume,        id, active, closed, archived);
CREATE INDEX events_by_liquidity ON events (liquidity,     id, active, closed, archived);
CREATE INDEX events_by_change    ON events (change);
CREATE INDEX events_by_creator   ON events (creator) WHERE creator IS NOT NULL;

-- Search by event id. `search` indexes the trigrams of title, slug and questions;
-- `search_prefixes` the first one and two characters of their words, for shorter terms.
CREATE VIRTUAL TABLE search USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);
CREATE VIRTUAL TABLE search_prefixes USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

-- Operators' profiles of wallets (protocol 12).
CREATE TABLE profiles (
    wallet                  BLOB PRIMARY KEY,
    name                    TEXT    NOT NULL,
    pseudonym               TEXT    NOT NULL,
    bio                     TEXT    NOT NULL,
    image                   TEXT    NOT NULL,
    image_optimized         TEXT    NOT NULL,
    display_username_public INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Resume points of syncs, by keys of catalog-sync.
CREATE TABLE sync_state (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Reports of imports and syncs, newest last.
CREATE TABLE reports (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    at     INTEGER NOT NULL,
    source TEXT    NOT NULL,
    json   TEXT    NOT NULL
) STRICT;

-- The last assigned change number.
CREATE TABLE changes (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    last INTEGER NOT NULL
) STRICT;
INSERT INTO changes VALUES (1, 0);
