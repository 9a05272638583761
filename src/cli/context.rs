//! Who calls, and which daemon: found once, before a verb runs.

use super::{Exit, Failure, agents, place, shown};
use crate::ask::PersonName;
use crate::client::{Address, Client};
use crate::grpc::v1;
use crate::session::Kind;
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
    /// Whether the caller is a session (its token is in `ASKWAY_TOKEN`); else it is a person, or a
    /// host by a token of its own.
    pub is_session: bool,
    /// Whether the caller's token is its own, and not the folder's.
    has_own_token: bool,
    /// The person at the terminal.
    person: PersonName,
    /// Whether that person was named on the line.
    is_named: bool,
    /// Where a coding agent runs its commands: the variable that says so.
    marker: Option<&'static str>,
    /// Whether an agent may be who types: there is a marker, or a session's token.
    in_agent: bool,
    /// The data folder.
    pub data: PathBuf,
}

impl Context {
    /// As the environment says: whoever the token of `ASKWAY_TOKEN` or `ASKWAY_TOKEN_FILE` stands for
    /// where one is set, else the person whose token the data folder holds. Who is named as a person is
    /// one, whatever else is set.
    ///
    /// # Errors
    ///
    /// When the environment is not understood, or there is no credential to be found. A token that
    /// cannot be read is an error; nobody else speaks in its place.
    pub fn of_environment(as_person: Option<PersonName>) -> Result<Self, Failure> {
        let data = place::data()?;
        let address = place::address(&data)?;
        let (own, is_named) = (place::own_token(), as_person.is_some());
        let is_kind = |kind| matches!(&own, Ok(Some(token)) if token.kind() == kind);
        let marker = agents::marker();
        let in_agent = marker.is_some() || is_kind(Kind::Session);
        // Whose a person's token is, the daemon says: it may be that of the one who is named.
        let own = match is_named {
            true if is_kind(Kind::Person) => own?,
            true => None,
            false => own?,
        };
        let person = as_person.map_or_else(place::person, Ok)?;
        let has_own_token = own.is_some();
        let token = own.map_or_else(|| place::token_of_person(&data, &person), Ok)?;
        let is_session = token.kind() == Kind::Session;
        let client = Client::new(address, Some(token)).with_patience(PATIENCE);
        let client = client.typed_in_agent(in_agent);
        Ok(Self { client, is_session, has_own_token, person, is_named, marker, in_agent, data })
    }

    /// The same, where what is typed is a person's to do, and an agent may be who types it.
    ///
    /// # Errors
    ///
    /// Where an agent runs its commands, and no person is named.
    pub(super) fn for_a_person(self) -> Result<Self, Failure> {
        match self.marker {
            Some(marker) if !self.is_named && !self.is_session => Err(agents::refused(marker)),
            _ => Ok(self),
        }
    }

    /// The person who looks at what is shown; none where a session calls, or nobody does: an agent that
    /// looks is not a person who was shown it.
    pub(super) fn onlooker(&self) -> Option<&str> {
        self.person().filter(|_| self.marker.is_none() || self.is_named)
    }

    /// Whether a person looks who may say that they were shown something.
    ///
    /// # Errors
    ///
    /// Where a session calls, or an agent runs it and no person is named.
    pub(super) fn must_look(&self) -> Result<(), Failure> {
        match (self.onlooker(), self.marker) {
            (Some(_), _) => Ok(()),
            (None, Some(marker)) if !self.is_session => Err(agents::refused(marker)),
            (None, _) => {
                let message = "a session is no person who is shown something";
                Err(Failure::new(Exit::Refused, "WRONG_PRINCIPAL", message)
                    .then("the same without --seen"))
            }
        }
    }

    /// Whether the caller is a person by the token of the data folder alone.
    pub(super) fn is_by_the_folder(&self) -> bool {
        !self.is_session && !self.has_own_token
    }

    /// As it is, knowing the name of whoever's own token it is: what was shown to whom is noted by
    /// name.
    ///
    /// # Errors
    ///
    /// When the daemon cannot say.
    pub(super) async fn named(mut self) -> Result<Self, Failure> {
        if self.has_own_token && !self.is_session {
            let status = self.client.status().await?;
            let name = status.caller.strip_prefix("person ").and_then(|name| name.parse().ok());
            match name {
                Some(name) if self.is_named && name != self.person => {
                    let token = place::token_of_person(&self.data, &self.person)?;
                    self.client = self.client.with_token(token);
                    self.has_own_token = false;
                }
                Some(name) => self.person = name,
                None => {}
            }
        }
        Ok(self)
    }

    /// The person who calls; none where a session does.
    pub fn person(&self) -> Option<&str> {
        (!self.is_session).then_some(self.person.as_str())
    }

    /// The content an answer to `ask` is bound to: the one named, else what the person at this
    /// terminal was shown last, else what it is now. And whether it is known to be what was decided on.
    pub(super) fn bound_to(&self, named: Option<String>, ask: &v1::Ask) -> (String, bool) {
        let shown = || shown::digest(&self.data, &self.person, &ask.id);
        let shown = || (!self.is_session).then(shown).flatten();
        match named.or_else(shown) {
            Some(digest) => (digest, true),
            None => (ask.content_digest.clone(), false),
        }
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

    /// The client of whoever looks after sessions, people and tokens from here: whoever has a token of
    /// its own, or the host.
    pub(super) fn as_host(&self) -> Result<Client, Failure> {
        match self.has_own_token {
            true => Ok(self.client.clone()),
            false => {
                let host = host_client(self.client.address(), &self.data)?.with_patience(PATIENCE);
                // What is done beside a session's token, or where an agent types, is marked as that.
                Ok(host.typed_in_agent(self.in_agent))
            }
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

/// A client as the host: by a host's token of the caller's own, where there is one; else on the socket
/// the daemon's own user is one, elsewhere the token of its folder says so.
pub(super) fn host_client(address: &Address, data: &Path) -> Result<Client, Failure> {
    let own = place::own_token()?.filter(|token| token.kind() == Kind::Host);
    let token = match address {
        _ if own.is_some() => own,
        Address::Unix(_) => None,
        Address::Http(_) | Address::Https(_) => Some(place::token_in(data, place::HOST_TOKEN)?),
    };
    Ok(Client::new(address.clone(), token).typed_in_agent(agents::marker().is_some()))
}

/// The same as [`Context::read`], by any client.
pub(super) async fn read(client: &Client, id: &str) -> Result<v1::Ask, Failure> {
    let response = client.get_ask(id).await?;
    response.ask.ok_or_else(|| Failure::unexpected("the daemon sent no ask; see its log"))
}
