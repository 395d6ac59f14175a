-- What search compares stands in a narrow table of its own, to be read through in one go. The index
-- of three characters in a row says only which events hold them, and no longer where.
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
-- Bytes that are gathered before a part of the index is written: few large parts are read faster.
INSERT INTO search (search, rank) VALUES ('hashsize', 16777216);
INSERT INTO search_prefixes (search_prefixes, rank) VALUES ('hashsize', 16777216);
INSERT INTO search (rowid, text) SELECT id, text FROM search_texts;
