-- Whether the event came as a record of its own with its markets; the record inside a market does not
-- name the others.
ALTER TABLE events ADD COLUMN full_record INTEGER NOT NULL DEFAULT 0;
