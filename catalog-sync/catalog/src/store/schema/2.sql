-- Normalised search texts in a narrow table, for fast scans. The trigram index now has the events
-- only, without positions.
CREATE TABLE search_texts (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL
) STRICT;
INSERT INTO search_texts SELECT id, searched FROM event_texts WHERE searched <> '';
ALTER TABLE event_texts DROP COLUMN searched;

DROP TABLE search;
CREATE VIRTUAL TABLE search USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1'
);
-- Bytes buffered before FTS5 writes an index segment: few large segments are read faster.
INSERT INTO search (search, rank) VALUES ('hashsize', 16777216);
INSERT INTO search_prefixes (search_prefixes, rank) VALUES ('hashsize', 16777216);
INSERT INTO search (rowid, text) SELECT id, text FROM search_texts;
