//! Who calls, and which daemon: found once, before a verb runs.

use super::{Failure, place, shown};
use crate::ask::PersonName;
use crate::client::{Address, Client};
use crate::grpc::v1;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a verb goes on trying while the daemon is away: a restart takes a second or two, and
/// nobody should look at an empty line for longer.
const PATIENCE: Duration = Duration::from_secs(3);
/// The same for reads inside of a wait, which ends at its own time: a daemon away for a week is not
/// coming back.
const WAITING_PATIENCE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What every verb needs to know.
pub struct Context {
    /// The daemon, with the caller's credential.
    pub client: Client,
    /// Whether the caller is a session (its token is in `ASKWAY_TOKEN`); else it is a person.
    pub is_session: bool,
    /// The person at the terminal.
    person: PersonName,
    /// The data folder.
    pub data: PathBuf,
}

impl Context {
    /// As the environment says: the session of `ASKWAY_TOKEN` where that is set, else the person
    /// whose token the data folder holds.
    ///
    /// # Errors
    ///
    /// When the environment is not understood, or there is no credential to be found. A token that
    /// cannot be read is an error; nobody else speaks in its place.
    pub fn of_environment() -> Result<Self, Failure> {
        let data = place::data()?;
        let address = place::address(&data)?;
        let person = place::person()?;
        let (token, is_session) = match place::session_token()? {
            Some(token) => (token, true),
            None => (place::token_of_person(&data, &person)?, false),
        };
        let client = Client::new(address, Some(token)).with_patience(PATIENCE);
        Ok(Self { client, is_session, person, data })
    }

    /// The person who calls; none where a session does.
    pub fn person(&self) -> Option<&str> {
        (!self.is_session).then_some(self.person.as_str())
    }

    /// The content an answer to `ask` is bound to: the one named, else what the person at this
    /// terminal was shown last, else what it is now.
    pub(super) fn bound_to(&self, named: Option<String>, ask: &v1::Ask) -> String {
        let shown = || shown::digest(&self.data, &self.person, &ask.id);
        let shown = || (!self.is_session).then(shown).flatten();
        named.or_else(shown).unwrap_or_else(|| ask.content_digest.clone())
    }

    /// Notes that the person at this terminal was shown `ask`.
    pub(super) fn has_shown(&self, ask: &v1::Ask) {
        shown::note(&self.data, &self.person, ask);
    }

    /// The ask of this id, or of this prefix of one, as it is now.
    ///
    /// # Errors
    ///
    /// When there is none, there are several, or the daemon cannot say.
    pub async fn read(&self, id: &str) -> Result<v1::Ask, Failure> {
        read(&self.client, id).await
    }

    /// The client for reads inside of a wait: it outlasts a daemon that is away.
    pub(super) fn patient(&self) -> Client {
        self.client.clone().with_patience(WAITING_PATIENCE)
    }

    /// The client of whoever may end sessions from here: the session itself, or the host.
    pub(super) fn as_host(&self) -> Result<Client, Failure> {
        match self.is_session {
            true => Ok(self.client.clone()),
            false => Ok(host_client(self.client.address(), &self.data)?.with_patience(PATIENCE)),
        }
    }

    /// Whether the caller is the session that filed `ask`, by the daemon's own word.
    pub(super) async fn is_asker(&self, ask: &v1::Ask) -> Result<bool, Failure> {
        if !self.is_session {
            return Ok(false);
        }
        let caller = self.client.status().await?.session;
        Ok(caller.is_some() && caller == ask.asker)
    }
}

/// A client as the host: on the socket the daemon's own user is one, elsewhere its token says so.
pub(super) fn host_client(address: &Address, data: &Path) -> Result<Client, Failure> {
    let token = match address {
        Address::Unix(_) => None,
        Address::Http(_) | Address::Https(_) => Some(place::token_in(data, place::HOST_TOKEN)?),
    };
    Ok(Client::new(address.clone(), token))
}

/// The same as [`Context::read`], by any client.
pub(super) async fn read(client: &Client, id: &str) -> Result<v1::Ask, Failure> {
    let response = client.get_ask(id).await?;
    response.ask.ok_or_else(|| Failure::unexpected("the daemon sent no ask; see its log"))
}
