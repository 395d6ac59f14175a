//! A restore as root into a directory of another user, whose process puts other files in the place of what is
//! in it all the while: root changes nothing outside.

use std::fs;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, chown, symlink,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_tests::exchange::{Exchange, Options};
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use crate::backup::site::{answer, backup, deposit, on, refusal, small_segments, text};

/// Number of the user and the group `nobody`.
const NOBODY: u32 = 65_534;
const RESTORES: usize = 100;
/// Content of the file that nobody but root may read.
const CONTENT: &str = "root's";

/// A backup of a small journal.
fn copied(directory: &Path) -> PathBuf {
    let (data, copy) = (directory.join("data"), directory.join("copy"));
    let options = Options {
        demo: false,
        ..small_segments()
    };
    let exchange = Exchange::start_at(&options, &data);
    deposit(&exchange);
    assert!(exchange.stop().success());
    backup(&data, &copy, &["--with-secrets"]);
    copy
}

/// A directory that others may pass through.
fn passable() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(directory.path(), mode).expect("a mode");
    directory
}

fn restore(copy: &Path, to: &Path) -> Command {
    on(to, &["restore", text(copy)])
}

fn empty_of_nobody(path: &Path) {
    let made = fs::DirBuilder::new().mode(0o700).create(path);
    made.expect("a directory");
    chown(path, Some(NOBODY), Some(NOBODY)).expect("root gives it away");
}

/// Asserts that a directory and all in it are of `nobody`.
fn is_given(path: &Path) {
    let is = path.symlink_metadata().expect("an entry");
    assert_eq!((is.uid(), is.gid()), (NOBODY, NOBODY), "{}", path.display());
    if is.is_dir() {
        for entry in fs::read_dir(path).expect("a directory") {
            is_given(&entry.expect("an entry").path());
        }
    }
}

#[test]
fn root_changes_nothing_outside_a_directory_that_it_gives_away() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: it needs root");
        return;
    }
    let directory = passable();
    let copy = copied(directory.path());
    let [quiet, places, secret] =
        ["quiet", "places", "secret"].map(|name| directory.path().join(name));
    empty_of_nobody(&quiet);
    answer(restore(&copy, &quiet));
    is_given(&quiet);

    fs::write(&secret, CONTENT).expect("a file");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("a mode");
    fs::create_dir(&places).expect("a directory");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let hostile = || scope.spawn(|| replace_until(&is_over, &places, &secret));
        let hostile = [hostile(), hostile()];
        let _end = End(&is_over);
        for number in 0..RESTORES {
            let place = places.join(number.to_string());
            empty_of_nobody(&place);
            let output = restore(&copy, &place).output().expect("a process");
            let said = String::from_utf8_lossy(&output.stderr);
            let is = fs::metadata(&secret).expect("the file");
            let content = fs::read_to_string(&secret).expect("the file");
            assert_eq!(
                (is.uid(), is.mode() & 0o7777, content.as_str()),
                (0, 0o600, CONTENT),
                "restore {number}: {said}"
            );
            assert!(output.status.success(), "restore {number}: {said}");
            fs::rename(&place, directory.path().join(format!("old-{number}"))).expect("a name");
        }
        is_over.store(true, Ordering::Relaxed);
        let replaced = hostile.map(|hostile| hostile.join().expect("no panic"));
        assert!(replaced.iter().sum::<usize>() > 0, "they replaced nothing");
    });
}

/// Ends the hostile threads also when the test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Becomes `nobody`, and puts links to `outside` in the place of whatever it can reach below `places`. Returns
/// how many.
fn replace_until(is_over: &AtomicBool, places: &Path, outside: &Path) -> usize {
    // Of this thread alone: to the kernel it is a process of that user.
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    set_thread_groups(&[]).expect("root may");
    set_thread_res_gid(group, group, group).expect("root may");
    set_thread_res_uid(user, user, user).expect("root may");
    assert!(fs::read(outside).is_err(), "it is root's alone");
    let mut replaced = 0;
    while !is_over.load(Ordering::Relaxed) {
        for place in fs::read_dir(places).into_iter().flatten().flatten() {
            replaced += replace_in(&place.path(), outside);
        }
    }
    replaced
}

fn replace_in(directory: &Path, outside: &Path) -> usize {
    let mut replaced = 0;
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let Some(name) = name.to_str().filter(|name| !name.starts_with("away-")) else {
            continue;
        };
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => continue,
            Ok(kind) if kind.is_dir() => replaced += replace_in(&path, outside),
            _ => {}
        }
        let is_gone = fs::rename(&path, directory.join(format!("away-{name}"))).is_ok();
        // A hard link where the system lets a user make one to what is not its own.
        let is_linked =
            is_gone && (fs::hard_link(outside, &path).is_ok() || symlink(outside, &path).is_ok());
        replaced += usize::from(is_linked);
    }
    replaced
}

#[test]
fn a_place_that_others_can_replace_is_refused_also_when_it_is_there() {
    let directory = tempfile::tempdir().expect("a directory");
    let copy = copied(directory.path());
    let middle = directory.path().join("middle");
    let (place, unfinished) = (middle.join("place"), middle.join("place.restoring"));
    fs::create_dir(&middle).expect("a directory");
    fs::create_dir(&place).expect("a directory");
    let set_mode = |mode| fs::set_permissions(&middle, fs::Permissions::from_mode(mode));
    set_mode(0o777).expect("a mode");
    let (code, said) = refusal(restore(&copy, &place));
    assert_eq!((code, said.contains("has mode 777")), (78, true), "{said}");
    set_mode(0o755).expect("a mode");

    // Nothing is done where a link leads.
    let elsewhere = directory.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a directory");
    fs::write(elsewhere.join("photos"), "mine").expect("a file");
    symlink(&elsewhere, &unfinished).expect("a link");
    let (code, said) = refusal(restore(&copy, &place));
    let is_named = said.contains("place.restoring: no restore created this directory");
    assert_eq!((code, is_named), (78, true), "{said}");
    fs::remove_file(&unfinished).expect("removed");
    symlink(&elsewhere, middle.join("linked")).expect("a link");
    let (code, said) = refusal(restore(&copy, &middle.join("linked")));
    assert_eq!(
        (code, said.contains("not a directory")),
        (78, true),
        "{said}"
    );
    assert_eq!(
        fs::read_to_string(elsewhere.join("photos")).expect("a file"),
        "mine"
    );

    // What a killed restore left is removed.
    fs::create_dir(&unfinished).expect("a directory");
    fs::write(unfinished.join("half"), "a file").expect("a file");
    answer(restore(&copy, &place));
    assert!(!unfinished.exists() && !place.join("half").exists());
}
