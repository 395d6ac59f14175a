//! Commands that the documents mention exist, with their options.

use std::path::{Path, PathBuf};

use clap::Command;

use crate::cli::Cli;

/// The text that checkpoints are signed with.
const NO_COMMAND: &str = "checkpoint 1";

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of documents") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|it| it == "md") {
            found.push(path);
        }
    }
}

/// What follows `foretell` in code: within a line, or on a line of a block.
fn mentioned(page: &str) -> Vec<String> {
    let mut in_block = false;
    let mut commands = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        let parts: Vec<&str> = match in_block {
            true => line.split(['|', ';', '&', '(', '#']).collect(),
            false => line.split('`').skip(1).step_by(2).collect(),
        };
        for part in parts {
            let mut words = part.split_whitespace();
            let program = words.next().unwrap_or_default();
            if program == "foretell" || program.ends_with("/foretell") {
                commands.push(words.collect::<Vec<_>>().join(" "));
            }
        }
    }
    commands
}

/// Whether an option takes a value; `None` when neither these commands nor all have it.
fn takes_value(chain: &[&Command], name: &str) -> Option<bool> {
    let mut options = chain.iter().flat_map(|command| command.get_arguments());
    let option = options.find(|it| it.get_long() == Some(name));
    match (option, name) {
        (Some(option), _) => Some(option.get_action().takes_values()),
        (None, "help" | "version") => Some(false),
        (None, _) => None,
    }
}

/// What is wrong with a mentioned command.
fn wrong(cli: &Command, mentioned: &str) -> Option<String> {
    let mut chain = vec![cli];
    let mut words = mentioned.split(' ');
    while let Some(word) = words.next() {
        let word = word.trim_matches(['[', ']', '.', ',', ':', '"', '\'']);
        if let Some(option) = word.strip_prefix("--") {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match takes_value(&chain, name) {
                Some(true) if value.is_empty() => drop(words.next()),
                Some(_) => {}
                None => return Some(word.to_owned()),
            }
        } else if let Some(last) = chain.last().filter(|it| it.has_subcommands()) {
            let is_name = |it: char| it.is_ascii_lowercase() || it == '-';
            match last.find_subcommand(word) {
                Some(command) => chain.push(command),
                None if word.chars().all(is_name) && !word.is_empty() => {
                    return Some(word.to_owned());
                }
                // A placeholder.
                None => {}
            }
        }
    }
    None
}

#[test]
fn commands_of_the_documents_exist() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut all = vec![root.join("README.md"), root.join("journal/FORMAT.md")];
    pages(&root.join("docs"), &mut all);
    let mut cli = Cli::definition();
    cli.build();
    let (mut count, mut problems) = (0, Vec::new());
    for path in all {
        let page = std::fs::read_to_string(&path).expect("a page");
        for command in mentioned(&page) {
            count += 1;
            let problem = wrong(&cli, &command).filter(|_| command != NO_COMMAND);
            problems.extend(problem.map(|what| format!("{}: {command}: {what}", path.display())));
        }
    }
    assert!(count > 100, "only {count} commands were found");
    assert!(problems.is_empty(), "{problems:#?}");
}
