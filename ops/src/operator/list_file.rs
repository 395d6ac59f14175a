//! Files of a command as people and other programs write them: CSV with a header, and JSON objects. Each is read
//! completely before anything changes.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

use csv::StringRecord;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};

/// The text of a file; `-` is the standard input.
pub(super) fn text(file: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text)?;
    } else {
        text = std::fs::read_to_string(file)?;
    }
    // Some editors begin a file with this mark.
    if let Some(marked) = text.strip_prefix('\u{feff}') {
        text = marked.to_owned();
    }
    Ok(text)
}

/// Whether a line is no content: empty, or a comment.
pub(super) fn is_blank(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with(COMMENT)
}

const COMMENT: char = '#';

/// A column of a CSV file that a command reads.
#[derive(Clone, Copy)]
pub(super) struct Column {
    /// Names that the header may give it.
    pub(super) names: &'static [&'static str],
    pub(super) is_required: bool,
}

/// A row of a CSV file.
pub(super) struct Row<const N: usize> {
    /// Where it begins, from 1.
    pub(super) line: usize,
    /// The cells of the columns that were asked for; empty where the file has no such column.
    pub(super) cells: [String; N],
}

/// The rows of a CSV text, whose header names the columns. Cells with commas, quotes or line breaks stand in
/// double quotes; lines that are blank do not count.
///
/// # Errors
/// The header lacks a column or names it twice, or a row has not one cell for each column; the line is named.
pub(super) fn rows<const N: usize>(
    text: &str,
    columns: [Column; N],
) -> Result<Vec<Row<N>>, String> {
    let mut records = Records::of(text);
    let (line, head) = records
        .next()
        .ok_or("it is empty, allowed: a header and rows")??;
    let mut places = [None; N];
    for (place, column) in places.iter_mut().zip(columns) {
        *place = column
            .find(&head)
            .map_err(|problem| format!("line {line}: {problem}"))?;
    }
    let row = |record: Result<(usize, StringRecord), String>| {
        let (line, record) = record?;
        if record.len() != head.len() {
            return Err(format!(
                "line {line}: {} cells, allowed: {}, one for each column of the header; a cell with a comma stands \
                 in double quotes",
                record.len(),
                head.len()
            ));
        }
        let cell = |place: Option<usize>| place.and_then(|place| record.get(place));
        let cells = places.map(|place| cell(place).unwrap_or_default().to_owned());
        Ok(Row { line, cells })
    };
    records.map(row).collect()
}

impl Column {
    /// The only column of the header with one of the names; `None`: there is none, and none is needed.
    fn find(&self, head: &StringRecord) -> Result<Option<usize>, String> {
        let allowed = self.names.join(", ");
        let mut named = (0..)
            .zip(head)
            .filter(|(_, name)| self.names.contains(name));
        match (named.next(), named.next()) {
            (Some((place, _)), None) => Ok(Some(place)),
            (None, _) if !self.is_required => Ok(None),
            (None, _) => {
                let columns: Vec<&str> = head.iter().collect();
                Err(format!(
                    "the columns are {:?}, allowed: with one of {allowed}",
                    columns.join(", ")
                ))
            }
            (Some((_, one)), Some((_, other))) => Err(format!(
                "the columns {one} and {other} say the same, allowed: one of {allowed}"
            )),
        }
    }
}

/// The records of a text with their lines.
struct Records<'t> {
    text: &'t str,
    reader: csv::Reader<&'t [u8]>,
    /// Bytes of `text` whose line breaks are counted, and how many there are.
    counted: usize,
    breaks: usize,
}

impl<'t> Records<'t> {
    fn of(text: &'t str) -> Self {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .comment(Some(COMMENT as u8))
            .from_reader(text.as_bytes());
        Self {
            text,
            reader,
            counted: 0,
            breaks: 0,
        }
    }

    /// The line of the record after these bytes: breaks, blank lines and comments may come before it.
    fn line_after(&mut self, bytes: usize) -> usize {
        let mut rest = &self.text[bytes..];
        loop {
            rest = rest.trim_start_matches(['\r', '\n']);
            match rest.starts_with(COMMENT) {
                true => rest = rest.find('\n').map_or("", |end| &rest[end..]),
                false => break,
            }
        }
        let begins = self.text.len() - rest.len();
        let passed = self.text[self.counted..begins].bytes();
        self.breaks += passed.filter(|byte| *byte == b'\n').count();
        self.counted = begins;
        1 + self.breaks
    }
}

impl Iterator for Records<'_> {
    type Item = Result<(usize, StringRecord), String>;

    fn next(&mut self) -> Option<Self::Item> {
        let after = usize::try_from(self.reader.position().byte()).ok()?;
        let mut record = StringRecord::new();
        match self.reader.read_record(&mut record) {
            Ok(false) => None,
            Ok(true) => Some(Ok((self.line_after(after), record))),
            Err(error) => Some(Err(error.to_string())),
        }
    }
}

/// A JSON object in which no key is repeated: the last value would count in silence.
#[derive(Debug)]
pub(super) struct JsonObject(pub(super) Map<String, Value>);

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = JsonObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<JsonObject, A::Error> {
                let mut fields = Map::new();
                while let Some((key, value)) = entries.next_entry::<String, Value>()? {
                    if fields.contains_key(&key) {
                        let problem = format!("the key {key:?} is repeated, allowed: once");
                        return Err(A::Error::custom(problem));
                    }
                    fields.insert(key, value);
                }
                Ok(JsonObject(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: Column = Column {
        names: &["name", "title"],
        is_required: true,
    };
    const NOTE: Column = Column {
        names: &["note"],
        is_required: false,
    };

    fn read(text: &str) -> Result<Vec<(usize, String, String)>, String> {
        let rows = rows(text, [NAME, NOTE])?;
        let row = |Row { line, cells }: Row<2>| {
            let [name, note] = cells;
            (line, name, note)
        };
        Ok(rows.into_iter().map(row).collect())
    }

    #[test]
    fn the_named_column_decides_whatever_stands_in_the_others() {
        let row = |line, name: &str, note: &str| (line, name.to_owned(), note.to_owned());
        for (text, expected) in [
            ("name\na\nb", vec![row(2, "a", ""), row(3, "b", "")]),
            (
                "note,title\r\n\"x, y, z\",a\r\n\r\n# b\r\n \"\"\"q\"\"\" , b \r\n",
                vec![row(2, "a", "x, y, z"), row(5, "b", "\"\"\"q\"\"\"")],
            ),
            (
                "# of today\n\nname,note\n\"a\",\"two\nlines\"\n\n#\nb,\n",
                vec![row(4, "a", "two\nlines"), row(8, "b", "")],
            ),
            ("name,note\n", vec![]),
        ] {
            assert_eq!(read(text), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn a_file_that_can_be_read_in_two_ways_is_refused() {
        for (text, problem) in [
            ("", "it is empty"),
            ("\n# nothing\n", "it is empty"),
            (
                "id,note\na,b",
                "line 1: the columns are \"id, note\", allowed: with one of name, title",
            ),
            ("name;note\na;b", "line 1: the columns are \"name;note\""),
            (
                "name,note,name\na,b,c",
                "line 1: the columns name and name say the same, allowed: one of name, title",
            ),
            ("\ntitle,name\na,b", "line 2: the columns title and name"),
            ("name,note,note\na,b,c", "line 1: the columns note and note"),
            ("name,note\na,x\n\nb,x, y\n", "line 4: 3 cells, allowed: 2"),
            ("name,note\na\n", "line 2: 1 cells, allowed: 2"),
            // A quote that is not closed takes all lines after it.
            ("name,note\n\"a,x\nb,y\n", "line 2: 1 cells, allowed: 2"),
        ] {
            let refused = read(text).expect_err(text);
            assert!(refused.starts_with(problem), "{text:?}: {refused}");
        }
    }

    #[test]
    fn a_repeated_key_is_refused() {
        let read = |text: &str| serde_json::from_str::<JsonObject>(text);
        let JsonObject(fields) = read(r#"{"a":1,"b":{"c":2.50}}"#).unwrap();
        assert_eq!(
            Value::Object(fields).to_string(),
            r#"{"a":1,"b":{"c":2.50}}"#
        );
        let refused = read(r#"{"a":1,"b":2,"a":3}"#).unwrap_err().to_string();
        assert!(refused.contains("the key \"a\" is repeated"), "{refused}");
        assert!(read("[]").is_err());
    }
}
