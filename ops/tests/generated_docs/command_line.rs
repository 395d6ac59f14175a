//! The reference of the command line, from its definition.

use clap::{Arg, Command};
use foretell_wire::operator::OperatorCommand;

use super::{check_region, code_list, table};
use crate::cli::Cli;

/// Longest help text of a command or an argument, without `[default: …]`.
const MAX_HELP_CHARACTERS: usize = 60;

/// The visible arguments of a command, without those it inherits.
fn arguments<'a>(command: &'a Command, inherited: &[&str]) -> Vec<&'a Arg> {
    let is_own = |argument: &&Arg| {
        let id = argument.get_id().as_str();
        !argument.is_hide_set() && !["help", "version"].contains(&id) && !inherited.contains(&id)
    };
    command.get_arguments().filter(is_own).collect()
}

fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    let is_shown = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    command.get_subcommands().filter(is_shown)
}

/// A help text and the default that its end names.
fn split_default(help: &str) -> (&str, &str) {
    match help.split_once(" [default: ") {
        Some((meaning, default)) => (meaning, default.trim_end_matches(']')),
        None => (help, ""),
    }
}

fn row(argument: &Arg) -> [String; 3] {
    let help = argument.get_help().map(ToString::to_string);
    let help = help.expect("a help text");
    let (meaning, default) = split_default(&help);
    let (mut meaning, mut default) = (meaning.to_owned(), default.to_owned());
    if argument.get_action().takes_values() {
        let values = argument.get_possible_values();
        if !values.is_empty() {
            let names = values.iter().map(clap::builder::PossibleValue::get_name);
            meaning += &format!(": {}", code_list(names));
        }
        let defaults = argument.get_default_values();
        default += &code_list(defaults.iter().filter_map(|text| text.to_str()));
    }
    [format!("`{argument}`"), default, meaning]
}

fn section(command: &Command, path: &str, inherited: &[&str], text: &mut String) {
    let about = command.get_about().map(ToString::to_string);
    let usage = command.clone().render_usage().to_string();
    *text += &format!(
        "### {path}\n{}.\n```\n{}\n```\n",
        about.expect("a description").trim_end_matches('.'),
        usage.trim_start_matches("Usage: "),
    );
    let own = arguments(command, inherited);
    if !own.is_empty() {
        let rows = own.iter().map(|argument| row(argument));
        *text += &table(["argument", "default", "meaning"], rows);
    }
    *text += "\n";
    let global = own.iter().filter(|argument| argument.is_global_set());
    let inherited: Vec<&str> = inherited
        .iter()
        .copied()
        .chain(global.map(|argument| argument.get_id().as_str()))
        .collect();
    for subcommand in subcommands(command) {
        let path = format!("{path} {}", subcommand.get_name());
        section(subcommand, &path, &inherited, text);
    }
}

#[test]
fn command_line_is_current() {
    let mut command = Cli::definition();
    command.build();
    let mut text = String::new();
    section(&command, "foretell", &[], &mut text);
    check_region("cli.md", "command line", &text);
}

#[test]
fn every_place_of_an_act_is_a_command() {
    let cli = Cli::definition();
    for (kind, place) in OperatorCommand::PLACES {
        let found =
            (place.split(' ')).try_fold(&cli, |command, name| command.find_subcommand(name));
        assert!(found.is_some(), "{kind:?} at {place}");
    }
}

#[test]
fn help_texts_are_short() {
    fn collect(command: &Command, long: &mut Vec<String>) {
        let helps = arguments(command, &[]).into_iter().map(Arg::get_help);
        for help in helps.chain([command.get_about()]) {
            let help = help.map(ToString::to_string).unwrap_or_default();
            let (meaning, _) = split_default(&help);
            if !(1..=MAX_HELP_CHARACTERS).contains(&meaning.chars().count()) {
                long.push(format!("{}: {meaning:?}", command.get_name()));
            }
        }
        subcommands(command).for_each(|command| collect(command, long));
    }
    let mut long = Vec::new();
    subcommands(&Cli::definition()).for_each(|command| collect(command, &mut long));
    assert!(long.is_empty(), "not 1 to 60 characters: {long:#?}");
}
