//! Streams that take themselves up again: a lost connection is never an end.

use super::retry::Backoff;
use super::{Client, ClientError, MESSAGE_BYTES};
use crate::error::Reason;
use crate::grpc::v1::{
    self, ask_service_client::AskServiceClient, session_service_client::SessionServiceClient,
};
use crate::session::Secret;
use futures_util::stream;
use std::pin::Pin;
use std::time::Duration;
use tokio_stream::{Stream, StreamExt};
use tonic::{Status, Streaming};

/// A hold is tried again at least this often: its session is paused after thirty seconds without.
const HOLD_AGAIN: Duration = Duration::from_secs(5);

/// A stream that ends by itself, or with an error that no retry mends.
pub type Watch<T> = Pin<Box<dyn Stream<Item = Result<T, ClientError>> + Send>>;

/// An item of a watch of an ask.
#[derive(Clone, Debug)]
pub enum Watched {
    /// The whole ask: on attaching, and again when the daemon's history is not the one seen before.
    Ask(Box<v1::Ask>),
    /// One event; each once and in order, over lost connections too.
    Event(Box<v1::Event>),
    /// The connection was lost; it is being made again.
    Reconnecting,
    /// The daemon's store is away: what was given may not be how things are. The watch goes on by itself,
    /// and whatever comes next says that it is back.
    Stale,
    /// The store is back, and nothing has happened meanwhile.
    Current,
    /// Settled, and everything was delivered: the last item.
    End,
}

/// A stream that is open, or has to be opened after a wait.
struct Link<M> {
    client: Client,
    open: Option<Streaming<M>>,
    backoff: Backoff,
    wait: Option<Duration>,
    ended: bool,
}

/// What a link says.
enum Said<M> {
    Message(M),
    /// The connection is lost.
    Lost,
    /// No retry mends it.
    Failed(ClientError),
}

impl<M> Link<M> {
    fn new(client: &Client) -> Self {
        let (client, backoff) = (client.clone(), Backoff::new());
        Self { client, open: None, backoff, wait: None, ended: false }
    }

    /// The next message, opening the stream by `open` where it is not.
    async fn next<F>(&mut self, open: impl FnOnce(Client) -> F) -> Said<M>
    where
        F: Future<Output = Result<Streaming<M>, Status>>,
    {
        if let Some(wait) = self.wait.take() {
            tokio::time::sleep(wait).await;
        }
        let stream = match &mut self.open {
            Some(stream) => stream,
            closed => match open(self.client.clone()).await {
                Ok(stream) => closed.insert(stream),
                Err(status) => return self.lost(status),
            },
        };
        match stream.message().await {
            Ok(Some(message)) => {
                self.backoff = Backoff::new();
                Said::Message(message)
            }
            // A stream that is closed politely without its end was cut by something in between.
            Ok(None) => self.lost(Status::unavailable("the stream was cut")),
            Err(status) => self.lost(status),
        }
    }

    fn lost(&mut self, status: Status) -> Said<M> {
        self.open = None;
        let error = ClientError::from(status);
        if !error.is_passing() {
            return Said::Failed(error);
        }
        self.wait = Some(self.backoff.next(error.retry_after));
        Said::Lost
    }
}

impl Client {
    /// Watches an ask until it is settled: from now on, beginning with the whole of it; or, with
    /// `after`, the events after that revision, which the caller has seen.
    pub fn watch_ask(&self, ask_id: &str, after: Option<u64>) -> Watch<Watched> {
        let start =
            (Link::new(self), ask_id.to_owned(), Seen { revision: after, ..Seen::default() });
        Box::pin(stream::unfold(start, |(mut link, ask_id, mut seen)| async move {
            if link.ended {
                return None;
            }
            let item = loop {
                let request = v1::WatchAskRequest {
                    ask_id: ask_id.clone(),
                    after_revision: seen.revision,
                    incarnation: seen.of.clone(),
                };
                let said = link.next(|client| async move {
                    let mut stub = AskServiceClient::new(client.channel.clone())
                        .max_decoding_message_size(MESSAGE_BYTES);
                    let opened = stub.watch_ask(client.signed(request)?).await?;
                    Ok(opened.into_inner())
                });
                if let Some(item) = of_ask(said.await, &mut seen) {
                    break item;
                }
            };
            link.ended = matches!(item, Ok(Watched::End) | Err(_));
            Some((item, (link, ask_id, seen)))
        }))
    }

    /// Watches an inbox. After each lost connection it begins with a snapshot again.
    pub fn watch_inbox(&self, scope: v1::AskScope) -> Watch<v1::watch_inbox_response::Message> {
        Box::pin(self.follow_inbox(scope).filter_map(Result::transpose))
    }

    /// The same for whoever is told of it: none for each time that the connection is lost, or cannot be
    /// made again.
    pub fn follow_inbox(
        &self,
        scope: v1::AskScope,
    ) -> Watch<Option<v1::watch_inbox_response::Message>> {
        Box::pin(stream::unfold(Link::new(self), move |mut link| async move {
            while !link.ended {
                let said = link.next(|client| async move {
                    let mut stub = AskServiceClient::new(client.channel.clone())
                        .max_decoding_message_size(MESSAGE_BYTES);
                    let request =
                        v1::WatchInboxRequest { scope: scope.into(), tree_work_id: String::new() };
                    let opened = stub.watch_inbox(client.signed(request)?).await?;
                    Ok(opened.into_inner())
                });
                match said.await {
                    Said::Message(v1::WatchInboxResponse { message: Some(message) }) => {
                        return Some((Ok(Some(message)), link));
                    }
                    Said::Lost => return Some((Ok(None), link)),
                    Said::Message(_) => {}
                    Said::Failed(error) => {
                        link.ended = true;
                        return Some((Err(error), link));
                    }
                }
            }
            None
        }))
    }

    /// Watches what the calling session has not acknowledged: at least once each, the same id each
    /// time.
    pub fn watch_deliveries(&self) -> Watch<v1::Delivery> {
        use v1::watch_deliveries_response::Message;
        Box::pin(stream::unfold(Link::new(self), move |mut link| async move {
            while !link.ended {
                let said = link.next(|client| async move {
                    let mut stub = AskServiceClient::new(client.channel.clone())
                        .max_decoding_message_size(MESSAGE_BYTES);
                    let request = client.signed(v1::WatchDeliveriesRequest {})?;
                    Ok(stub.watch_deliveries(request).await?.into_inner())
                });
                match said.await {
                    Said::Message(v1::WatchDeliveriesResponse {
                        message: Some(Message::Delivery(delivery)),
                    }) => return Some((Ok(delivery), link)),
                    Said::Message(_) | Said::Lost => {}
                    Said::Failed(error) => {
                        link.ended = true;
                        return Some((Err(error), link));
                    }
                }
            }
            None
        }))
    }

    /// Holds the calling session while it is read: gives the session each time the hold is taken,
    /// and takes it again, at least every five seconds, whenever it is lost.
    pub fn hold(&self, secret: Secret) -> Watch<v1::Session> {
        use v1::hold_session_response::Message;
        let start = (Link::new(self), secret);
        Box::pin(stream::unfold(start, move |(mut link, secret)| async move {
            while !link.ended {
                let hold_secret = secret.expose().to_owned();
                let said = link.next(|client| async move {
                    let mut stub = SessionServiceClient::new(client.channel.clone());
                    let request = client.signed(v1::HoldSessionRequest { hold_secret })?;
                    Ok(stub.hold_session(request).await?.into_inner())
                });
                match said.await {
                    Said::Message(v1::HoldSessionResponse {
                        message: Some(Message::Held(v1::Held { session: Some(session) })),
                    }) => return Some((Ok(session), (link, secret))),
                    Said::Message(_) => {}
                    Said::Lost => link.wait = link.wait.map(|wait| wait.min(HOLD_AGAIN)),
                    Said::Failed(error) => {
                        link.ended = true;
                        return Some((Err(error), (link, secret)));
                    }
                }
            }
            None
        }))
    }
}

/// What was seen of an ask.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    /// The last revision.
    revision: Option<u64>,
    /// Which store that is of; empty until it said so.
    of: String,
    /// Whether the store was said to be away.
    is_stale: bool,
}

impl Seen {
    /// Whether it is news that the store is away, or back.
    fn is_turned(&mut self, is_stale: bool) -> bool {
        std::mem::replace(&mut self.is_stale, is_stale) != is_stale
    }
}

/// The item of what a link said of an ask; none for what is not one. Keeps what was seen.
fn of_ask(
    said: Said<v1::WatchAskResponse>,
    seen: &mut Seen,
) -> Option<Result<Watched, ClientError>> {
    use v1::watch_ask_response::Message;
    match said {
        Said::Message(v1::WatchAskResponse { message, incarnation }) => match message? {
            Message::Ask(ask) => {
                // On re-attaching it is the ask as it was last seen: nothing new.
                let is_new = seen.revision != Some(ask.revision);
                *seen = Seen { revision: Some(ask.revision), of: incarnation, is_stale: false };
                is_new.then(|| Ok(Watched::Ask(Box::new(ask))))
            }
            Message::Event(event) => {
                let is_new = seen.revision.is_none_or(|last| event.revision > last);
                seen.revision = seen.revision.max(Some(event.revision));
                seen.is_stale = false;
                is_new.then(|| Ok(Watched::Event(Box::new(event))))
            }
            Message::Idle(idle) => {
                let is = if idle.stale { Watched::Stale } else { Watched::Current };
                seen.is_turned(idle.stale).then_some(Ok(is))
            }
            Message::End(_) => Some(Ok(Watched::End)),
        },
        Said::Lost => {
            // A watch begins only where the store is there.
            seen.is_stale = false;
            Some(Ok(Watched::Reconnecting))
        }
        // What was seen is ahead of what is there: another history. Begin with what there is.
        Said::Failed(error) if seen.revision.is_some() && error.is(Reason::RevisionAhead) => {
            *seen = Seen::default();
            None
        }
        Said::Failed(error) => Some(Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Address;
    use std::future::ready;
    use tokio::time::Instant;
    use tonic::body::Body;
    use tonic::codec::Codec;
    use tonic_prost::ProstCodec;

    fn link() -> Link<v1::WatchAskResponse> {
        Link::new(&Client::new(Address::Http("http://127.0.0.1:1".into()), None))
    }

    fn closed_politely() -> Streaming<v1::WatchAskResponse> {
        let mut codec = ProstCodec::<(), v1::WatchAskResponse>::default();
        Streaming::new_empty(codec.decoder(), Body::empty())
    }

    #[tokio::test(start_paused = true)]
    async fn c69_a_polite_close_is_not_the_end() {
        let mut link = link();
        let mut seen = Seen { revision: Some(3), of: "one".into(), is_stale: true };
        for _ in 0..5 {
            let said = link.next(|_| ready(Ok(closed_politely()))).await;
            let item = of_ask(said, &mut seen);
            assert!(matches!(item, Some(Ok(Watched::Reconnecting))), "{item:?}");
        }
        let said = link.next(|_| ready(Err(Status::not_found("no ask")))).await;
        assert!(matches!(of_ask(said, &mut seen), Some(Err(_))));
        assert_eq!(seen, Seen { revision: Some(3), of: "one".into(), is_stale: false });
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_waits_longer_each_time_and_never_long() {
        let mut link = link();
        let started = Instant::now();
        for _ in 0..20 {
            let said = link.next(|_| ready(Err(Status::unavailable("away")))).await;
            assert!(matches!(said, Said::Lost));
            assert!(link.wait.unwrap() <= HOLD_AGAIN);
        }
        assert!(started.elapsed() < 20 * HOLD_AGAIN);
    }

    #[test]
    fn each_event_is_given_once_whatever_a_server_sends_again() {
        use v1::watch_ask_response::Message;
        let mut seen = Seen::default();
        let mut give = |message| {
            let message = Some(message);
            let incarnation = String::new();
            of_ask(Said::Message(v1::WatchAskResponse { message, incarnation }), &mut seen)
                .is_some()
        };
        let ask = |revision| Message::Ask(v1::Ask { revision, ..Default::default() });
        let event = |revision| Message::Event(v1::Event { revision, ..Default::default() });
        assert!(give(ask(1)) && give(event(2)) && give(event(3)));
        // Attached again at 3: the ask as it was then, and an event that was on its way twice.
        assert!(
            !give(ask(3))
                && !give(event(3))
                && !give(Message::Idle(v1::Idle { revision: 3, stale: false }))
        );
        assert!(give(event(4)) && give(Message::End(v1::End { revision: 4 })));
    }

    #[test]
    fn that_the_store_is_away_is_given_once_and_that_it_is_back_by_what_comes_next() {
        use v1::watch_ask_response::Message;
        let mut seen = Seen { revision: Some(3), ..Seen::default() };
        let mut give = |message| {
            let (message, incarnation) = (Some(message), String::new());
            of_ask(Said::Message(v1::WatchAskResponse { message, incarnation }), &mut seen)
                .transpose()
                .unwrap()
        };
        let idle = |stale| Message::Idle(v1::Idle { revision: 3, stale });
        let event = |revision| Message::Event(v1::Event { revision, ..Default::default() });
        assert!(give(idle(false)).is_none());
        assert!(matches!(give(idle(true)), Some(Watched::Stale)) && give(idle(true)).is_none());
        assert!(matches!(give(idle(false)), Some(Watched::Current)) && give(idle(false)).is_none());
        assert!(matches!(give(idle(true)), Some(Watched::Stale)));
        assert!(matches!(give(event(4)), Some(Watched::Event(_))) && give(idle(false)).is_none());
    }
}
