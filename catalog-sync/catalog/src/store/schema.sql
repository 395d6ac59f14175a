-- Times are microseconds since 1970, UTC; flags are 0 or 1; wallets and conditions are bytes.
-- Rows that are filtered and sorted are narrow; separate tables have their texts. Gateways filter and
-- sort lists in memory, so the indices are those that find single records.

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
    change        INTEGER NOT NULL,
    featured      INTEGER NOT NULL,
    cyom          INTEGER NOT NULL,
    volume_24hr   REAL,
    competitive   REAL,
    game_id       TEXT    NOT NULL,
    -- The operator's own records, which no upstream replaces.
    own           INTEGER NOT NULL,
    -- Every market of the event is hidden: no answer shows it.
    hidden        INTEGER NOT NULL DEFAULT 0,
    -- The event came as a record of its own with all its markets; the record inside a market does not
    -- name the others.
    full_record   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX events_by_slug   ON events (slug);
CREATE INDEX events_by_game   ON events (game_id) WHERE game_id <> '';
CREATE INDEX events_by_change ON events (change);

CREATE TABLE event_texts (
    id       INTEGER PRIMARY KEY,
    -- JSON: the short summary, the full summary, the event without markets; none has trading fields.
    short    TEXT NOT NULL,
    base     TEXT NOT NULL,
    whole    TEXT NOT NULL,
    metadata TEXT NOT NULL,
    -- The original record.
    raw      TEXT NOT NULL,
    -- JSON of the trading fields at the source.
    trading  TEXT NOT NULL
) STRICT;

CREATE TABLE markets (
    id               INTEGER PRIMARY KEY,
    event_id         INTEGER,
    slug             TEXT    NOT NULL,
    question         TEXT    NOT NULL,
    condition        BLOB,
    start_date       INTEGER,
    end_date         INTEGER,
    created_at       INTEGER,
    updated_at       INTEGER,
    volume           REAL,
    liquidity        REAL,
    active           INTEGER NOT NULL,
    closed           INTEGER NOT NULL,
    archived         INTEGER NOT NULL,
    creator          BLOB,
    -- For markets without an event only; other markets use their event's.
    change           INTEGER NOT NULL,
    featured         INTEGER NOT NULL,
    cyom             INTEGER NOT NULL,
    volume_24hr      REAL,
    competitive      REAL,
    rewards_min_size REAL,
    question_id      TEXT    NOT NULL,
    market_maker     TEXT    NOT NULL,
    game_id          TEXT    NOT NULL,
    sports_type      TEXT    NOT NULL,
    uma_status       TEXT    NOT NULL,
    -- The operator's own records, which no upstream replaces.
    own              INTEGER NOT NULL,
    -- Another record has its condition: no answer shows it.
    hidden           INTEGER NOT NULL
) STRICT;
CREATE INDEX markets_by_slug  ON markets (slug);
CREATE INDEX markets_by_event ON markets (event_id);
CREATE UNIQUE INDEX markets_by_condition ON markets (condition) WHERE hidden = 0;
CREATE INDEX markets_hidden_by_condition ON markets (condition) WHERE hidden = 1;
CREATE INDEX markets_by_question ON markets (question_id)  WHERE question_id <> '';
CREATE INDEX markets_by_maker    ON markets (market_maker) WHERE market_maker <> '';
CREATE INDEX markets_by_game     ON markets (game_id)      WHERE game_id <> '';
CREATE INDEX markets_by_change   ON markets (change)       WHERE event_id IS NULL;

CREATE TABLE market_texts (
    id      INTEGER PRIMARY KEY,
    -- JSON without `events` and trading fields.
    json    TEXT NOT NULL,
    -- The original record.
    raw     TEXT NOT NULL,
    -- JSON of the trading fields at the source; of a registered market the exchange knows them.
    trading TEXT NOT NULL
) STRICT;

CREATE TABLE market_tokens (
    token     TEXT    NOT NULL,
    market_id INTEGER NOT NULL,
    PRIMARY KEY (token, market_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX market_tokens_by_market ON market_tokens (market_id);

-- Series and tags are few: what lists filter by is computed from the original record.
CREATE TABLE series (
    id         INTEGER PRIMARY KEY,
    slug       TEXT    NOT NULL,
    updated_at INTEGER,
    -- JSON without `events`.
    json       TEXT    NOT NULL,
    raw        TEXT    NOT NULL,
    recurrence TEXT    GENERATED ALWAYS AS (CAST(ifnull(raw ->> 'recurrence', '') AS TEXT)),
    closed     INTEGER GENERATED ALWAYS AS (lower(ifnull(raw ->> 'closed', '')) IN ('1', 'true'))
) STRICT;
CREATE INDEX series_by_slug       ON series (slug);
CREATE INDEX series_by_recurrence ON series (recurrence);

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

-- Creators of an event or of one of its markets.
CREATE TABLE event_creators (
    creator  BLOB    NOT NULL,
    event_id INTEGER NOT NULL,
    PRIMARY KEY (creator, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_creators_by_event ON event_creators (event_id);

-- Search by event id: the normalised texts in a narrow table for fast scans; `search` indexes the
-- trigrams of title, slug and questions, `search_prefixes` the first one and two characters of their
-- words, for shorter terms.
CREATE TABLE search_texts (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE search USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
);
CREATE VIRTUAL TABLE search_prefixes USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
-- Bytes buffered before FTS5 writes an index segment: few large segments are read faster.
INSERT INTO search (search, rank) VALUES ('hashsize', 16777216);
INSERT INTO search_prefixes (search_prefixes, rank) VALUES ('hashsize', 16777216);

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
