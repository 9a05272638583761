//! What may be taken for a file of ours. What decides for people, holds secrets or says what is run is
//! read from nowhere that somebody else could have put there, and never waited for: one rule, here.
//!
//! A file is looked at once it is open, and not before by its name: between the two somebody could have
//! put another in its place.

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::{error, fmt};

/// Bits of a mode that let anybody but the owner do anything.
pub const OTHERS: u32 = 0o077;
/// Bits of a mode that let anybody but the owner write.
pub const OTHERS_WRITE: u32 = 0o022;
/// The bit of a mode that lets anybody at all write.
const EVERYBODY_WRITES: u32 = 0o002;
/// Bytes read of a file of one line, a token or the name of a store: more than any has.
pub const LINE_BYTES: u64 = 256;
/// Bytes read of a file of certificates or a key: a system's whole store of authorities fits.
pub const PEM_BYTES: u64 = 1 << 20;

/// What a file is to us, and so what is asked of it. All are regular files that nobody but their owner
/// may write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A token: the user's own, and nobody else may read it. No link.
    Secret,
    /// What the daemon keeps: the user's own. No link.
    Kept,
    /// Settings: the user's own or root's. No link.
    Settings,
    /// The key of a certificate: the user's own or root's, and nobody else may read it. What renews one
    /// often keeps a link to the newest, so links are followed.
    Key,
    /// Certificates: the user's own or root's; links as of a key.
    Certificates,
}

/// Why a file is not taken. Its sentence goes on from the file's name.
#[derive(Debug)]
pub enum Unfit {
    /// The system does not open or read it.
    Io(io::Error),
    /// It is a link, and may lead anywhere.
    Link,
    /// A folder, a pipe or a device.
    NoFile,
    /// It is this user's.
    Foreign(u32),
    /// Others may write to it.
    Writable(u32),
    /// Others may read it.
    Readable(u32),
    /// It has more bytes than this.
    TooLarge(u64),
}

/// Opens the file at `path` for reading, where it is fit.
///
/// # Errors
///
/// Why it is not.
pub fn open(path: &Path, kind: Kind) -> Result<File, Unfit> {
    open_as(path, kind, OpenOptions::new().read(true))
}

/// The same with `options` of the caller's; one that is made is for its owner alone.
///
/// # Errors
///
/// Why it is not fit.
pub fn open_as(path: &Path, kind: Kind, options: &mut OpenOptions) -> Result<File, Unfit> {
    let is_link_followed = matches!(kind, Kind::Key | Kind::Certificates);
    // A pipe at which nobody writes is not waited for.
    let flags = match is_link_followed {
        true => OFlags::NONBLOCK,
        false => OFlags::NONBLOCK.union(OFlags::NOFOLLOW),
    };
    let opened = options.mode(0o600).custom_flags(flags.bits().cast_signed()).open(path);
    let is_link = |error: &io::Error| error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
    let file = opened.map_err(|error| match is_link(&error) && !is_link_followed {
        true => Unfit::Link,
        false => Unfit::Io(error),
    })?;
    let found = file.metadata().map_err(Unfit::Io)?;
    if !found.is_file() {
        return Err(Unfit::NoFile);
    }
    let is_roots_allowed = !matches!(kind, Kind::Secret | Kind::Kept);
    let is_ours = found.uid() == geteuid().as_raw() || (is_roots_allowed && found.uid() == 0);
    let (mode, is_secret) = (found.mode() & 0o777, matches!(kind, Kind::Secret | Kind::Key));
    match mode {
        _ if !is_ours => Err(Unfit::Foreign(found.uid())),
        _ if is_secret && mode & OTHERS != 0 => Err(Unfit::Readable(mode)),
        _ if is_writable(mode, is_secret, found.gid()) => Err(Unfit::Writable(mode)),
        _ => Ok(file),
    }
}

/// Whether anybody but the user may write to a file of this mode and group. The user's own group may,
/// where it holds no secret: many systems give each user one, in which nobody else is, and make files for
/// both; what lies in the data folder no group gets at.
fn is_writable(mode: u32, is_secret: bool, group: u32) -> bool {
    let is_own_group = !is_secret && group == getegid().as_raw();
    mode & (if is_own_group { EVERYBODY_WRITES } else { OTHERS_WRITE }) != 0
}

/// The folder that the file at `path` lies in.
pub fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Has the disk keep the name of the file at `path`: a new one is there for good only once its folder is.
///
/// # Errors
///
/// When the folder cannot be synced.
pub fn sync_name(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

/// All of the file at `path`, at most `most` bytes.
///
/// # Errors
///
/// Why it is not fit.
pub fn read(path: &Path, kind: Kind, most: u64) -> Result<Vec<u8>, Unfit> {
    let (file, mut bytes) = (open(path, kind)?, Vec::new());
    file.take(most + 1).read_to_end(&mut bytes).map_err(Unfit::Io)?;
    if bytes.len() as u64 > most { Err(Unfit::TooLarge(most)) } else { Ok(bytes) }
}

/// The text of the file at `path`, at most `most` bytes.
///
/// # Errors
///
/// Why it is not fit.
pub fn read_text(path: &Path, kind: Kind, most: u64) -> Result<String, Unfit> {
    let text = String::from_utf8(read(path, kind, most)?);
    text.map_err(|_| Unfit::Io(io::Error::other("it is not text in UTF-8")))
}

impl Unfit {
    /// Whether there is no such file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Unfit::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// What to type so that a file is fit whose place is `typed` so in a shell; none where that depends on
    /// whose it is.
    pub fn remedy(&self, typed: &str) -> Option<String> {
        match self {
            Unfit::Readable(_) => Some(format!("chmod 600 {typed}")),
            Unfit::Writable(_) => Some(format!("look at what it holds, then chmod go-w {typed}")),
            Unfit::Link => Some(format!("name the file itself: readlink {typed}")),
            _ => None,
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Io(error) => write!(f, "cannot be read: {error}"),
            Unfit::Link => f.write_str("is a symbolic link"),
            Unfit::NoFile => f.write_str("is no file"),
            Unfit::Foreign(user) => write!(f, "belongs to another user ({user})"),
            Unfit::Writable(mode) => write!(f, "may be written to by others (mode {mode:o})"),
            Unfit::Readable(mode) => {
                write!(f, "is open to others (mode {mode:o}), who may have read it")
            }
            Unfit::TooLarge(most) if *most < 1024 => write!(f, "is larger than {most} bytes"),
            Unfit::TooLarge(most) => write!(f, "is larger than {} KiB", most >> 10),
        }
    }
}

impl error::Error for Unfit {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const KINDS: [Kind; 5] =
        [Kind::Secret, Kind::Kept, Kind::Settings, Kind::Key, Kind::Certificates];

    fn fit(path: &Path) -> [bool; 5] {
        KINDS.map(|kind| read(path, kind, 9).is_ok())
    }

    #[test]
    fn a_file_is_taken_by_its_owner_and_mode_as_it_is_open() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "words").expect("written");
        for (mode, expected) in [
            (0o600, [true; 5]),
            (0o400, [true; 5]),
            (0o644, [false, true, true, false, true]),
            (0o640, [false, true, true, false, true]),
            (0o620, [false, true, true, false, true]),
            (0o602, [false; 5]),
            (0o666, [false; 5]),
        ] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
            assert_eq!(fit(&path), expected, "{mode:o}");
        }
        assert!(!is_writable(0o660, false, getegid().as_raw()), "the user's own group");
        assert!(is_writable(0o660, false, getegid().as_raw() + 1), "another one");
        assert!(is_writable(0o660, true, getegid().as_raw()), "a secret");
    }

    /// Root's where the test is not root's, else one that is given to somebody.
    #[test]
    fn a_file_of_another_user_is_taken_for_nothing_but_root_for_settings_and_certificates() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "words").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        if geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(65_534), None).expect("root may");
            assert_eq!(fit(&path), [false; 5], "nobody's");
        } else {
            let passwd = KINDS.map(|kind| open(Path::new("/etc/passwd"), kind).is_ok());
            assert_eq!(passwd, [false, false, true, false, true], "root's");
        }
    }

    #[test]
    fn a_link_a_pipe_a_folder_and_a_device_are_no_file_and_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&path, "words").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        symlink(&path, &link).expect("made");
        assert_eq!(fit(&link), [false, false, false, true, true], "certificates are renewed by it");
        for make in ["mkfifo", "mkdir"] {
            let odd = folder.path().join(make);
            assert!(
                std::process::Command::new(make).arg(&odd).status().expect("it runs").success()
            );
            assert_eq!(fit(&odd), [false; 5], "{make}");
        }
        assert_eq!(fit(Path::new("/dev/zero")), [false; 5]);
        assert!(open(Path::new("/dev/null"), Kind::Certificates).is_err(), "it is no file");
    }

    #[test]
    fn a_file_has_an_end_that_is_known_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "1234567890").expect("written");
        assert!(matches!(read(&path, Kind::Kept, 9), Err(Unfit::TooLarge(9))));
        assert_eq!(read(&path, Kind::Kept, 10).expect("it just fits").len(), 10);
    }
}
