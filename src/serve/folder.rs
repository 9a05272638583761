//! The data folder and what lies in it beside the store: it is private, one daemon at a time has it,
//! and the tokens of the person `owner` and of the host `local` are made in it. What is served from
//! it: [`serve`](super).

use super::CannotServe;
use crate::cli::shell;
use crate::files::{self, LINE_BYTES, OTHERS, OTHERS_WRITE, Unfit};
use crate::session::{Kind, Secret};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Makes sure of a folder that is the daemon's own: makes it, or closes it to others' eyes.
///
/// # Errors
///
/// When it is not a folder, is another user's, or others may write to it: then what lies in it may
/// be theirs, and nothing here can mend that.
pub fn private(path: &Path) -> Result<(), CannotServe> {
    make(path)?;
    let mode = check(path)?;
    if mode & OTHERS_WRITE != 0 {
        let message = format!("others may write to {}", path.display());
        return Err(CannotServe::new(message).next(format!(
            "look at what lies in it, then chmod 700 {}; or name another with ASKWAY_DATA",
            shell::path_or(path, "FOLDER")
        )));
    }
    if mode & OTHERS != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))
            .map_err(|error| fault(path, "cannot be closed to others", &error))?;
    }
    Ok(())
}

/// Makes sure of the folder of a socket that lies elsewhere: makes it, but never changes one.
///
/// # Errors
///
/// When it is not a folder, is another user's, or is open to others.
pub fn private_of_socket(path: &Path) -> Result<(), CannotServe> {
    make(path)?;
    if check(path)? & OTHERS != 0 {
        let message = format!("the socket's folder {} is open to others", path.display());
        return Err(CannotServe::new(message)
            .next("name a socket in a folder of mode 0700 with --socket, or none at all"));
    }
    Ok(())
}

fn make(path: &Path) -> Result<(), CannotServe> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| fault(parent, "cannot be made", &error))?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(fault(path, "cannot be made", &error))
        }
        _ => Ok(()),
    }
}

/// The folder's mode, where it is a folder and the daemon's user's.
fn check(path: &Path) -> Result<u32, CannotServe> {
    let found =
        fs::symlink_metadata(path).map_err(|error| fault(path, "cannot be read", &error))?;
    let elsewhere = "name the folder itself, or another, with ASKWAY_DATA";
    if found.is_symlink() {
        let message = format!("{} is a symbolic link", path.display());
        return Err(CannotServe::new(message).next(elsewhere));
    }
    if !found.is_dir() {
        return Err(CannotServe::new(format!("{} is not a folder", path.display())).next(elsewhere));
    }
    if found.uid() != geteuid().as_raw() {
        let message = format!("{} belongs to another user ({})", path.display(), found.uid());
        return Err(CannotServe::new(message).next("name a folder of your own with ASKWAY_DATA"));
    }
    Ok(found.mode())
}

/// The right to serve a data folder. Dropping it lets the next daemon have it.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

/// Who has a data folder: stands in its lock file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// Since when, as the wall clock had it.
    pub start_time: String,
    /// Where it listens; none while it starts.
    pub addresses: Vec<String>,
}

impl Lock {
    /// Takes the lock; writes nothing before it is had.
    ///
    /// # Errors
    ///
    /// When another daemon has it: which, and since when.
    pub fn take(path: PathBuf) -> Result<Self, CannotServe> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let opened = files::open_as(&path, files::Kind::Kept, options);
        let mut file = opened.map_err(|unfit| of_unfit(&path, &unfit))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file, path }),
            Err(TryLockError::WouldBlock) => Err(held(&mut file, &path)),
            Err(TryLockError::Error(error)) => Err(fault(&path, "cannot be locked", &error)),
        }
    }

    /// Says who has it, for whoever comes next.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn say(&mut self, holder: &Holder) -> Result<(), CannotServe> {
        let text = serde_json::to_string(holder).expect("a holder has a JSON form");
        let written = self.file.set_len(0).and_then(|()| {
            self.file.rewind()?;
            self.file.write_all(format!("{text}\n").as_bytes())
        });
        written.map_err(|error| fault(&self.path, "cannot be written", &error))
    }
}

fn held(file: &mut File, path: &Path) -> CannotServe {
    let mut text = String::new();
    let read = file.read_to_string(&mut text).ok();
    let holder: Option<Holder> = read.and_then(|_| serde_json::from_str(&text).ok());
    let folder = path.parent().unwrap_or(path).display();
    let (who, stop) = match holder {
        Some(Holder { pid, start_time, addresses }) => {
            let places = match addresses.is_empty() {
                true => "is starting".to_owned(),
                false => format!("serves it on {}", addresses.join(" and ")),
            };
            (format!("process {pid}, since {start_time}, {places}"), format!("kill {pid}"))
        }
        None => ("it has just begun to start".to_owned(), "wait for it".to_owned()),
    };
    CannotServe::new(format!("another askway has {folder}: {who}"))
        .because("HELD")
        .next(format!("use that one; or {stop}; or name another folder with ASKWAY_DATA"))
}

/// The secret of `kind` in the file at `path`, made at the first start. Needs the lock: two daemons
/// would make two.
///
/// # Errors
///
/// When the file is open to others, or holds something else.
pub fn token(path: &Path, kind: Kind) -> Result<Secret, CannotServe> {
    let Some(line) = read_line(path)? else { return new_token(path, kind) };
    let secret = Secret::read(&line).filter(|secret| secret.kind() == kind);
    secret.ok_or_else(|| {
        let message = format!("{} does not hold the token that belongs there", path.display());
        CannotServe::new(message).next(format!(
            "put it back, or rm {}: the next start makes another",
            shell::path_or(path, "FILE")
        ))
    })
}

/// Whole or not at all: beside its place first, so that a crash leaves no empty one.
fn write_new(path: &Path, line: &str) -> io::Result<()> {
    let beside = path.with_extension("new");
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true);
    let made = files::open_as(&beside, files::Kind::Secret, options);
    let mut file = made.map_err(io::Error::other)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    files::sync_name(path)
}

/// A new secret of `kind` in the file at `path`, whatever was there. Needs the lock.
///
/// # Errors
///
/// When it cannot be written.
pub fn new_token(path: &Path, kind: Kind) -> Result<Secret, CannotServe> {
    let secret = new_secret(kind);
    write_line(path, secret.expose())?;
    Ok(secret)
}

/// One line in the file at `path`, whatever was there. Needs the lock.
///
/// # Errors
///
/// When it cannot be written.
pub fn write_line(path: &Path, line: &str) -> Result<(), CannotServe> {
    write_new(path, line).map_err(|error| fault(path, "cannot be made", &error))
}

/// The line in the file at `path`, which the daemon made; none where there is no such file.
///
/// # Errors
///
/// When it is no file, another user's or open to others, or cannot be read.
pub fn read_line(path: &Path) -> Result<Option<String>, CannotServe> {
    match files::read_text(path, files::Kind::Secret, LINE_BYTES) {
        Ok(text) => Ok(Some(text.trim_end().to_owned())),
        Err(unfit) if unfit.is_missing() => Ok(None),
        Err(unfit) => Err(of_unfit(path, &unfit)),
    }
}

/// Says of a file that the daemon made why it is not taken, and what to do.
pub(super) fn of_unfit(path: &Path, unfit: &Unfit) -> CannotServe {
    let typed = shell::path_or(path, "FILE");
    let away = || format!("mv {typed} away: the next start makes another");
    let next = match unfit {
        Unfit::Readable(_) | Unfit::Writable(_) => unfit.remedy(&typed).unwrap_or_else(away),
        Unfit::Io(_) => "mend that, or name another folder with ASKWAY_DATA".to_owned(),
        _ => away(),
    };
    CannotServe::new(format!("{} {unfit}", path.display())).next(next)
}

fn new_secret(kind: Kind) -> Secret {
    let mut random = [0; 32];
    getrandom::fill(&mut random).expect("the system gives random bytes");
    Secret::new(kind, random)
}

fn fault(path: &Path, what: &str, error: &io::Error) -> CannotServe {
    CannotServe::new(format!("{} {what}: {error}", path.display()))
        .next("mend that, or name another folder with ASKWAY_DATA")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).expect("it is there").mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    #[test]
    fn a_folder_is_made_for_its_owner_alone_and_closed_where_others_could_read_it() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("a/b");
        private(&folder).expect("it is made");
        assert_eq!(mode(&folder), 0o700);
        set_mode(&folder, 0o755);
        private(&folder).expect("it is closed");
        assert_eq!(mode(&folder), 0o700);
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_refused_with_how_to_mend_it() {
        let root = tempfile::tempdir().expect("a folder");
        for open in [0o770, 0o702, 0o777] {
            set_mode(root.path(), open);
            let refused = private(root.path()).expect_err("it is open");
            assert!(refused.next.contains("chmod 700"), "{refused:?}");
            assert_eq!(mode(root.path()), open, "nothing was changed");
        }
        set_mode(root.path(), 0o755);
        private_of_socket(root.path()).expect_err("a socket's folder is never changed");
        assert_eq!(mode(root.path()), 0o755);
    }

    /// Root's where the test is not root's, else one that is given to somebody.
    #[test]
    fn a_folder_of_another_user_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let theirs = match geteuid().is_root() {
            true => {
                std::os::unix::fs::chown(root.path(), Some(65_534), None).expect("root may");
                root.path()
            }
            false => Path::new("/etc"),
        };
        for refused in [private(theirs), private_of_socket(theirs)] {
            let refused = refused.expect_err("it is another user's");
            assert!(refused.message.contains("belongs to another user"), "{refused:?}");
        }
    }

    #[test]
    fn a_link_or_a_file_is_no_folder() {
        let root = tempfile::tempdir().expect("a folder");
        let (link, file) = (root.path().join("link"), root.path().join("file"));
        symlink(root.path(), &link).expect("made");
        fs::write(&file, "").expect("made");
        assert!(private(&link).unwrap_err().message.contains("symbolic link"));
        assert!(private(&file).unwrap_err().message.contains("not a folder"));
    }

    #[test]
    fn c172_a_second_daemon_learns_who_has_the_folder_and_changes_nothing() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("askway.lock");
        let mut lock = Lock::take(path.clone()).expect("it is free");
        let refused = Lock::take(path.clone()).expect_err("it is taken");
        assert!(refused.message.contains("begun to start"), "{refused:?}");

        let addresses = vec!["unix:/a".to_owned()];
        let start_time = "2026-01-02T03:04:05Z".to_owned();
        lock.say(&Holder { pid: 4711, start_time, addresses }).expect("written");
        let before = fs::read(&path).expect("it is there");
        let refused = Lock::take(path.clone()).expect_err("it is taken");
        for said in ["4711", "2026-01-02T03:04:05Z", "unix:/a"] {
            assert!(refused.message.contains(said), "{refused:?}");
        }
        assert_eq!(fs::read(&path).expect("it is there"), before);
        drop(lock);
        Lock::take(path).expect("it is free again");
    }

    #[test]
    fn a_token_is_made_once_for_its_owner_alone() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("owner.token");
        let made = token(&path, Kind::Person).expect("made");
        assert_eq!(mode(&path), 0o600);
        let read = token(&path, Kind::Person).expect("read");
        assert_eq!(made.expose(), read.expose());
        assert!(token(&path, Kind::Host).is_err(), "another kind");
        set_mode(&path, 0o644);
        assert!(token(&path, Kind::Person).unwrap_err().next.contains("chmod 600"));
        set_mode(&path, 0o600);
        fs::write(&path, "").expect("written");
        assert!(token(&path, Kind::Person).unwrap_err().next.contains("rm "));
        for make in ["mkfifo", "mkdir"] {
            let odd = root.path().join(make);
            let made = std::process::Command::new(make).arg(&odd).status().expect("it runs");
            assert!(made.success());
            let refused = token(&odd, Kind::Person).unwrap_err();
            assert!(refused.message.contains("is no file"), "{refused:?}");
        }
        let link = root.path().join("link");
        symlink(&path, &link).expect("made");
        assert!(token(&link, Kind::Person).is_err(), "a link is not followed");
    }
}
