-- Columns of further filters and sort orders of lists, from the original records.
ALTER TABLE markets ADD COLUMN featured         INTEGER NOT NULL DEFAULT 0;
ALTER TABLE markets ADD COLUMN cyom             INTEGER NOT NULL DEFAULT 0;
ALTER TABLE markets ADD COLUMN volume_24hr      REAL;
ALTER TABLE markets ADD COLUMN competitive      REAL;
ALTER TABLE markets ADD COLUMN rewards_min_size REAL;
ALTER TABLE markets ADD COLUMN question_id      TEXT NOT NULL DEFAULT '';
ALTER TABLE markets ADD COLUMN market_maker     TEXT NOT NULL DEFAULT '';
ALTER TABLE markets ADD COLUMN game_id          TEXT NOT NULL DEFAULT '';
ALTER TABLE markets ADD COLUMN sports_type      TEXT NOT NULL DEFAULT '';
ALTER TABLE markets ADD COLUMN uma_status       TEXT NOT NULL DEFAULT '';
UPDATE markets SET
    featured         = lower(ifnull(raw ->> 'featured', '')) IN ('1', 'true'),
    cyom             = lower(ifnull(raw ->> 'cyom', '')) IN ('1', 'true'),
    volume_24hr      = CAST(raw ->> 'volume24hr' AS REAL),
    competitive      = CAST(raw ->> 'competitive' AS REAL),
    rewards_min_size = CAST(raw ->> 'rewardsMinSize' AS REAL),
    question_id      = lower(CAST(ifnull(raw ->> 'questionID', '') AS TEXT)),
    market_maker     = lower(CAST(ifnull(raw ->> 'marketMakerAddress', '') AS TEXT)),
    game_id          = CAST(ifnull(raw ->> 'gameId', '') AS TEXT),
    sports_type      = CAST(ifnull(raw ->> 'sportsMarketType', '') AS TEXT),
    uma_status       = CAST(ifnull(raw ->> 'umaResolutionStatus', '') AS TEXT)
FROM market_texts WHERE market_texts.id = markets.id;
CREATE INDEX markets_by_question ON markets (question_id)  WHERE question_id <> '';
CREATE INDEX markets_by_maker    ON markets (market_maker) WHERE market_maker <> '';
CREATE INDEX markets_by_game     ON markets (game_id)      WHERE game_id <> '';

ALTER TABLE events ADD COLUMN featured    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN cyom        INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN volume_24hr REAL;
ALTER TABLE events ADD COLUMN competitive REAL;
ALTER TABLE events ADD COLUMN game_id     TEXT NOT NULL DEFAULT '';
UPDATE events SET
    featured    = lower(ifnull(raw ->> 'featured', '')) IN ('1', 'true'),
    cyom        = lower(ifnull(raw ->> 'cyom', '')) IN ('1', 'true'),
    volume_24hr = CAST(raw ->> 'volume24hr' AS REAL),
    competitive = CAST(raw ->> 'competitive' AS REAL),
    game_id     = CAST(ifnull(raw ->> 'gameId', '') AS TEXT)
FROM event_texts WHERE event_texts.id = events.id;
CREATE INDEX events_by_game ON events (game_id) WHERE game_id <> '';

-- Series and tags are few: their columns are computed from the original record.
ALTER TABLE series ADD COLUMN recurrence TEXT GENERATED ALWAYS AS (CAST(ifnull(raw ->> 'recurrence', '') AS TEXT));
ALTER TABLE series ADD COLUMN closed INTEGER GENERATED ALWAYS AS (lower(ifnull(raw ->> 'closed', '')) IN ('1', 'true'));
CREATE INDEX series_by_recurrence ON series (recurrence);

-- Operators' own records, which no upstream replaces; markets whose condition another record has, and
-- events with such markets alone, which no answer shows.
ALTER TABLE markets ADD COLUMN own    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE markets ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events  ADD COLUMN own    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events  ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
DROP INDEX markets_by_condition;
CREATE UNIQUE INDEX markets_by_condition ON markets (condition) WHERE hidden = 0;
CREATE INDEX markets_hidden_by_condition ON markets (condition) WHERE hidden = 1;
-- JSON of the trading fields at the source: those that the exchange knows of a registered market.
ALTER TABLE market_texts ADD COLUMN trading TEXT NOT NULL DEFAULT '{}';
ALTER TABLE event_texts  ADD COLUMN trading TEXT NOT NULL DEFAULT '{}';
