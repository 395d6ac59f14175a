//! A table as a CSV file.

use std::fmt::Display;
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::AuditError;
use tempfile::TempPath;

/// A CSV file, or nothing. No cell contains a comma, a quote or a line break: all are numbers, hex,
/// times and fixed words.
pub(crate) struct Table {
    file: Option<OutputFile>,
    rows: u64,
}

impl Table {
    /// Begins a table with this line; without a path it stays empty.
    ///
    /// # Errors
    /// The file cannot be made.
    pub(crate) fn create(path: Option<&Path>, head: &str) -> Result<Self, AuditError> {
        let create = |path| OutputFile::create(path).map_err(|error| cannot(path, &error));
        let file = path.map(create).transpose()?;
        let mut table = Self { file, rows: 0 };
        table.write(|file| writeln!(file, "{head}"))?;
        Ok(table)
    }

    pub(crate) fn row(&mut self, cells: &[&dyn Display]) -> Result<(), AuditError> {
        self.rows += u64::from(self.file.is_some());
        self.write(|file| {
            for (index, cell) in cells.iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                write!(file, "{comma}{cell}")?;
            }
            writeln!(file)
        })
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), AuditError> {
        match &mut self.file {
            Some(file) => write(&mut file.writer).map_err(|error| cannot(&file.path, &error)),
            None => Ok(()),
        }
    }

    /// Flushes and syncs the output.
    pub(crate) fn complete(&mut self) -> Result<(), AuditError> {
        let is_named_later = self
            .file
            .as_ref()
            .is_some_and(|file| file.temporary.is_some());
        self.write(|file| {
            file.flush()?;
            if is_named_later {
                file.get_ref().sync_all()?;
            }
            Ok(())
        })
    }

    /// Gives the temporary file its name; returns the number of rows.
    pub(crate) fn name(self) -> Result<u64, AuditError> {
        if let Some(OutputFile {
            path,
            temporary: Some(temporary),
            ..
        }) = self.file
        {
            let named = temporary.persist(&path);
            named.map_err(|error| cannot(&path, &error.error))?;
        }
        Ok(self.rows)
    }
}

/// Output of a table: a temporary file that gets its name when it is complete, so no reader sees
/// part of a table. A pipe or a terminal is written to directly.
struct OutputFile {
    path: PathBuf,
    writer: BufWriter<File>,
    temporary: Option<TempPath>,
}

impl OutputFile {
    fn create(path: &Path) -> io::Result<Self> {
        let there = path.symlink_metadata();
        let (file, temporary) = if there.as_ref().is_ok_and(|there| !there.is_file()) {
            (File::create(path)?, None)
        } else {
            let (file, temporary) = tempfile::Builder::new()
                .prefix(".export-")
                .permissions(Permissions::from_mode(0o666))
                .tempfile_in(folder(path))?
                .into_parts();
            if let Ok(there) = there {
                file.set_permissions(there.permissions())?;
            }
            (file, Some(temporary))
        };
        Ok(Self {
            path: path.to_owned(),
            writer: BufWriter::new(file),
            temporary,
        })
    }
}

/// The canonical path of a file, also of one that does not exist yet.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize()
        .unwrap_or_else(|_| match (folder(path).canonicalize(), path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        })
}

fn folder(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

fn cannot(path: &Path, error: &io::Error) -> AuditError {
    AuditError::new(format!("{}: {error}", path.display()))
}
