//! Where things are: the data folder, the daemon's address, the tokens in the folder.

use super::{Exit, Failure, shell};
use crate::ask::PersonName;
use crate::client::Address;
use crate::files;
use crate::session::{Kind, Secret};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The owner's token, in the data folder.
pub const OWNER_TOKEN: &str = "owner.token";
/// The folder of the other people's tokens, in the data folder.
pub const PEOPLE: &str = "people";
/// The host's token, in the data folder.
pub const HOST_TOKEN: &str = "host.token";
/// The socket, in the data folder where nothing else is said.
pub const SOCKET: &str = "askway.sock";

/// A token: a session's, for the command that runs as it, or a person's or a host's own.
pub const TOKEN_VAR: &str = "ASKWAY_TOKEN";
/// A file that holds one, where that is not set.
pub const TOKEN_FILE_VAR: &str = "ASKWAY_TOKEN_FILE";
/// Who is at the terminal, where it is not the owner.
pub const PERSON_VAR: &str = "ASKWAY_PERSON";
/// Where the daemon is, for clients.
pub const ADDRESS_VAR: &str = "ASKWAY_ADDR";
/// The authorities of the daemon's certificate, for clients; those of the system where it is not set.
pub const CA_VAR: &str = "ASKWAY_CA";
/// A client's certificate, where the daemon asks for one.
pub const CLIENT_CERT_VAR: &str = "ASKWAY_CLIENT_CERT";
/// The key of that.
pub const CLIENT_KEY_VAR: &str = "ASKWAY_CLIENT_KEY";
/// The data folder, for everybody.
pub const DATA_VAR: &str = "ASKWAY_DATA";

/// The data folder: `ASKWAY_DATA`, else `askway` in the user's folder for such data.
///
/// # Errors
///
/// When none of the variables that could name it is set.
pub fn data() -> Result<PathBuf, Failure> {
    data_of(|name| env::var_os(name))
}

pub(crate) fn data_of(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Failure> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // A relative XDG_DATA_HOME is to be ignored, as its specification says.
    let shared = || set("XDG_DATA_HOME").filter(|folder| folder.is_absolute());
    set(DATA_VAR)
        .or_else(|| shared().map(|folder| folder.join("askway")))
        .or_else(|| set("HOME").map(|home| home.join(".local/share/askway")))
        .ok_or_else(|| {
            Failure::usage("neither ASKWAY_DATA nor HOME says where the data folder is")
                .then("export ASKWAY_DATA=/path/to/a/folder")
        })
}

/// The daemon's address: `ASKWAY_ADDR`, else the socket in the data folder.
///
/// # Errors
///
/// When the variable is not an address.
pub fn address(data: &Path) -> Result<Address, Failure> {
    let wrong = |why: String| {
        Failure::usage(format!("ASKWAY_ADDR: {why}"))
            .then("export ASKWAY_ADDR=unix:PATH, http://127.0.0.1:PORT or https://HOST:PORT")
    };
    match env::var(ADDRESS_VAR) {
        Ok(text) if !text.is_empty() => {
            let address = Address::parse(&text).map_err(wrong)?;
            if !matches!(address, Address::Https(_)) {
                return Ok(address);
            }
            let identity = match (pem(CLIENT_CERT_VAR)?, pem(CLIENT_KEY_VAR)?) {
                (Some(cert), Some(key)) => Some((cert, key)),
                (None, None) => None,
                _ => {
                    return Err(Failure::usage("a certificate needs its key, and it that")
                        .then("export ASKWAY_CLIENT_CERT=FILE ASKWAY_CLIENT_KEY=FILE"));
                }
            };
            address.with_tls(pem(CA_VAR)?, identity).map_err(|why| {
                let (cert, key) = (CLIENT_CERT_VAR, CLIENT_KEY_VAR);
                Failure::usage(format!("{CA_VAR}, or {cert} and {key}: {why}"))
                    .then(format!("export {cert}=FILE {key}=FILE, a certificate and the key of it"))
            })
        }
        Ok(_) | Err(env::VarError::NotPresent) => Ok(Address::Unix(data.join(SOCKET))),
        Err(env::VarError::NotUnicode(_)) => Err(wrong("it is not text".into())),
    }
}

/// What a variable says; set to nothing, it says nothing.
pub(super) fn set(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}

/// Whether the daemon is called by TLS.
pub(super) fn is_with_tls() -> bool {
    env::var(ADDRESS_VAR).is_ok_and(|address| address.starts_with("https://"))
}

/// What is in the file that a variable names; none where it is not set.
fn pem(variable: &str) -> Result<Option<Vec<u8>>, Failure> {
    let Some(path) = set(variable) else {
        return Ok(None);
    };
    let (path, kind) = match variable {
        CLIENT_KEY_VAR => (Path::new(&path), files::Kind::Key),
        _ => (Path::new(&path), files::Kind::Certificates),
    };
    let failed = |why: String, next: Option<String>| {
        let next = next.unwrap_or_else(|| format!("export {variable}=FILE, in PEM"));
        Failure::usage(format!("{variable}: {} {why}", path.display())).then(next)
    };
    let text = files::read(path, kind, files::PEM_BYTES);
    let text = text
        .map_err(|unfit| failed(unfit.to_string(), unfit.remedy(&shell::path_or(path, "FILE"))))?;
    let (what, sign): (_, &[u8]) = match variable {
        CLIENT_KEY_VAR => ("key", b"PRIVATE KEY-----"),
        _ => ("certificate", b"-----BEGIN CERTIFICATE-----"),
    };
    match text.windows(sign.len()).any(|part| part == sign) {
        true => Ok(Some(text)),
        false => Err(failed(format!("holds no {what}"), None)),
    }
}

/// Where in the data folder a person's token lies. A name may hold what a file's may not.
pub fn person_token(person: &PersonName) -> PathBuf {
    if *person == PersonName::owner() {
        return OWNER_TOKEN.into();
    }
    Path::new(PEOPLE).join(format!("{}.token", file_name(person.as_str())))
}

/// A name of ours as one of a file, which it stays whatever it holds.
pub(super) fn file_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_@".contains(c);
    let spelled = |c: char| if plain(c) { c.to_string() } else { format!("%{:02x}", u32::from(c)) };
    name.chars().map(spelled).collect()
}

/// The token of a person of this daemon's.
///
/// # Errors
///
/// When there is none, or it cannot be read.
pub fn token_of_person(data: &Path, person: &PersonName) -> Result<Secret, Failure> {
    let (place, typed_person) = (person_token(person), shell::word_or(person.as_str(), "NAME"));
    if data.join(OWNER_TOKEN).exists() && !data.join(&place).exists() {
        let message = format!("no route of this daemon's asks a person {person}");
        let next =
            format!("name person:{typed_person} in a route of askway.toml, and askway serve again");
        return Err(Failure::new(Exit::Refused, "BAD_CREDENTIAL", message).then(next));
    }
    token_in(data, place)
}

/// The person at the terminal: `ASKWAY_PERSON`, else the owner.
///
/// # Errors
///
/// When the variable is no person's name.
pub fn person() -> Result<PersonName, Failure> {
    match env::var(PERSON_VAR) {
        Ok(text) if !text.is_empty() => text.parse().map_err(|why| {
            Failure::usage(format!("ASKWAY_PERSON: {why}")).then("unset ASKWAY_PERSON")
        }),
        Ok(_) | Err(env::VarError::NotPresent) => Ok(PersonName::owner()),
        Err(env::VarError::NotUnicode(_)) => Err(Failure::usage("ASKWAY_PERSON: it is not text")),
    }
}

/// The session's token of the environment; none where it is not set, or a host's is. An unreadable one
/// is an error, never none, and so is a person's.
///
/// # Errors
///
/// When it is set and is not a session's token.
pub fn session_token() -> Result<Option<Secret>, Failure> {
    match own_token()? {
        Some(secret) if secret.kind() == Kind::Person => {
            Err(bad_token("ASKWAY_TOKEN is not a session's token"))
        }
        token => Ok(token.filter(|secret| secret.kind() == Kind::Session)),
    }
}

/// The caller's own token, as `ASKWAY_TOKEN` or the file `ASKWAY_TOKEN_FILE` has it: a session's, a
/// person's or a host's; none where neither is set. An unreadable one is an error, never none.
///
/// # Errors
///
/// When it is set and is not a token, or the file is open to others.
pub fn own_token() -> Result<Option<Secret>, Failure> {
    let read = |text: &str, from: &str| match Secret::read(text) {
        Some(secret) if !matches!(secret.kind(), Kind::Ticket | Kind::Hold) => Ok(Some(secret)),
        _ => Err(bad_token(format!("{from} is not a token, or not a whole one"))),
    };
    // What is set to nothing is not set, as everywhere.
    let token = env::var(TOKEN_VAR);
    let token = if token.as_deref() == Ok("") { Err(env::VarError::NotPresent) } else { token };
    match (token, set(TOKEN_FILE_VAR)) {
        (Ok(text), _) => read(&text, TOKEN_VAR),
        (Err(env::VarError::NotUnicode(_)), _) => Err(bad_token("ASKWAY_TOKEN is not text")),
        (Err(env::VarError::NotPresent), None) => Ok(None),
        (Err(env::VarError::NotPresent), Some(path)) => {
            let path = PathBuf::from(path);
            let text = private_text(&path)?;
            read(text.trim_end(), &format!("what {} holds", path.display()))
        }
    }
}

/// What a file holds that its owner alone may read: a token that others can read is theirs too.
fn private_text(path: &Path) -> Result<String, Failure> {
    files::read_text(path, files::Kind::Secret, files::LINE_BYTES).map_err(|unfit| {
        let failure = bad_token(format!("{} {unfit}", path.display()));
        unfit
            .remedy(&shell::path_or(path, "FILE"))
            .into_iter()
            .fold(failure, |failure, next| failure.then(next))
    })
}

/// A token that the daemon keeps in the data folder.
///
/// # Errors
///
/// When there is none, or it cannot be read.
pub fn token_in(data: &Path, name: impl AsRef<Path>) -> Result<Secret, Failure> {
    let path = data.join(name);
    if let Err(error) = fs::symlink_metadata(&path)
        && error.kind() == io::ErrorKind::NotFound
    {
        if set(ADDRESS_VAR).is_some() {
            let message =
                "ASKWAY_ADDR says where the daemon is, and there is no token to call it with";
            return Err(Failure::new(Exit::Refused, "NO_CREDENTIAL", message)
                .then("export ASKWAY_TOKEN_FILE=FILE, with a token that was made for you"));
        }
        let message = format!("no daemon has been started on {}", data.display());
        return Err(Failure::new(Exit::Unavailable, "NO_DAEMON", message).then("askway serve"));
    }
    let text = private_text(&path)?;
    Secret::read(text.trim_end())
        .ok_or_else(|| bad_token(format!("{} does not hold a token", path.display())))
}

fn bad_token(message: impl Into<String>) -> Failure {
    Failure::new(Exit::Refused, "BAD_CREDENTIAL", message).then(against_a_bad_token())
}

/// What helps where a token is none, or not good: about the variable that it comes from.
pub(super) fn against_a_bad_token() -> &'static str {
    against(|name| set(name).is_some())
}

fn against(is_set: impl Fn(&str) -> bool) -> &'static str {
    if is_set(TOKEN_VAR) {
        "unset ASKWAY_TOKEN, or askway run --as NAME -- COMMAND"
    } else if is_set(TOKEN_FILE_VAR) {
        "export ASKWAY_TOKEN_FILE=FILE, with a token that was made for you; or unset ASKWAY_TOKEN_FILE"
    } else if is_set(ADDRESS_VAR) {
        "export ASKWAY_TOKEN_FILE=FILE, with a token that was made for you"
    } else {
        "export ASKWAY_DATA=FOLDER, the one that the daemon is started on"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(set: &[(&str, &str)]) -> Option<PathBuf> {
        let value = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        data_of(value).ok()
    }

    #[test]
    fn the_data_folder_is_the_first_that_is_set() {
        let all = [("ASKWAY_DATA", "/a"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(found(&all), Some("/a".into()));
        assert_eq!(found(&all[1..]), Some("/x/askway".into()));
        assert_eq!(found(&all[2..]), Some("/h/.local/share/askway".into()));
        assert_eq!(found(&[("ASKWAY_DATA", ""), ("HOME", "/h")]), found(&all[2..]));
        assert_eq!(found(&[("XDG_DATA_HOME", "x"), ("HOME", "/h")]), found(&all[2..]));
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn a_bad_token_is_said_to_come_from_the_variable_that_is_set() {
        let of = |set: &[&str]| against(|name| set.contains(&name));
        assert!(of(&["ASKWAY_TOKEN", "ASKWAY_TOKEN_FILE"]).starts_with("unset ASKWAY_TOKEN,"));
        assert!(of(&["ASKWAY_TOKEN_FILE"]).ends_with("unset ASKWAY_TOKEN_FILE"));
        assert!(of(&["ASKWAY_ADDR"]).starts_with("export ASKWAY_TOKEN_FILE="));
        assert!(of(&[]).starts_with("export ASKWAY_DATA="));
    }

    #[test]
    fn a_persons_name_leads_to_no_other_place() {
        let place = |name: &str| person_token(&name.parse().expect("a name"));
        assert_eq!(place("owner"), Path::new("owner.token"));
        assert_eq!(place("ann"), Path::new("people/ann.token"));
        assert_eq!(place("../../etc/x"), Path::new("people/%2e%2e%2f%2e%2e%2fetc%2fx.token"));
        assert_eq!(place("."), Path::new("people/%2e.token"));
    }

    #[test]
    fn a_token_file_is_a_token_and_a_line_feed_or_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        use std::os::unix::fs::PermissionsExt;
        let exit = || token_in(folder.path(), OWNER_TOKEN).map_err(|failure| failure.exit);
        assert_eq!(exit().err(), Some(Exit::Unavailable), "no daemon was started here");
        let path = folder.path().join(OWNER_TOKEN);
        let token = Secret::new(Kind::Person, [7; 32]);
        fs::write(&path, format!("{}\n", token.expose())).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
        assert_eq!(exit().err(), Some(Exit::Refused), "others may have read it");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        assert_eq!(exit().expect("a token").expose(), token.expose());
        for bad in ["", "askp_7", "something else\n"] {
            fs::write(&path, bad).expect("written");
            assert_eq!(exit().err(), Some(Exit::Refused), "{bad:?}");
        }
    }
}
