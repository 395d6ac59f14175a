//! Writes the seeds of all targets: `seeds DIRECTORY` creates `DIRECTORY/TARGET/NAME`.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let Some(directory) = env::args_os().nth(1).map(PathBuf::from) else {
        return Err(io::Error::other("usage: seeds DIRECTORY"));
    };
    for target in foretell_fuzzing::TARGETS {
        let folder = directory.join(target.name);
        fs::create_dir_all(&folder)?;
        for (name, bytes) in (target.seeds)() {
            fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}
