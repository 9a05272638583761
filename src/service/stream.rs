//! What every watch does, whatever it watches: mark the topic seen, look at the store, send what was
//! found, wait. That order is the whole proof that nothing is missed (rule 8).
//!
//! Each stream is a small state and no task: while it waits it holds a topic and what it looked for.

use super::{Caller, Service};
use crate::ask::Timestamp;
use crate::engine::hub::{Subscription, Topic};
use crate::error::{Error, Reason};
use crate::session::{Principal, SecretHash, Unfit};
use futures_util::stream;
use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::time::Duration;
use tokio::time::Sleep;
use tokio_stream::Stream;

/// How long a stream says nothing before it says that it is well: under the half minute in which an
/// idle proxy closes.
pub const IDLE: Duration = Duration::from_secs(25);

/// How long after the store was away a stream looks at it again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// After how many of these looks it says once more that it is away.
const STALE_AGAIN: u64 = IDLE.as_secs() / LOOK_AGAIN.as_secs();

/// The stream of a watch. An error is its last item.
pub type Watch<T> = Pin<Box<dyn Stream<Item = Result<T, Error>> + Send>>;

/// What a watch looks at.
pub(super) trait Look: Send + 'static {
    /// What it sends.
    type Message: Send + 'static;

    /// The least time from a look that found something to the next look.
    const BETWEEN: Duration = Duration::ZERO;

    /// Looks at the store for what there is to send. After an error, or given up in the middle, the next look
    /// finds what this one would have.
    fn look(
        &mut self,
        service: &Service,
    ) -> impl Future<Output = Result<Found<Self::Message>, Error>> + Send;

    /// What it sends when nothing has happened for [`IDLE`]; or, stale, when the store is away, and what
    /// was sent may not be how things are. `unsent` is the first of what was found and not sent.
    fn idle(&self, stale: bool, unsent: Option<&Self::Message>) -> Self::Message;
}

/// What a look found.
pub(super) struct Found<M> {
    /// To be sent, in order.
    pub messages: VecDeque<M>,
    /// Whether nothing can follow.
    pub is_last: bool,
}

impl<M> Found<M> {
    /// Messages that others may follow.
    pub fn more(messages: impl IntoIterator<Item = M>) -> Self {
        Self { messages: messages.into_iter().collect(), is_last: false }
    }
}

impl Service {
    /// The stream that `look` makes for `caller`, woken by `subscription`. That must have been made
    /// before whatever `look` has seen already. It is cut when the caller's token is good no more.
    pub(super) fn watch<L: Look>(
        &self,
        caller: &Caller,
        subscription: Subscription,
        look: L,
    ) -> Watch<L::Message> {
        let watching = Watching {
            service: self.clone(),
            access: Access::of(self, caller),
            subscription,
            look,
            pending: VecDeque::new(),
            pause: None,
            begun: false,
            stale: None,
            ended: false,
        };
        Box::pin(stream::unfold(watching, |mut watching| async move {
            let message = watching.next().await?;
            Some((message, watching))
        }))
    }

    pub(super) fn subscribe(&self, topic: Topic) -> Subscription {
        self.engine.hub().subscribe(topic)
    }
}

/// What a stream rests on: the caller's token.
pub(super) struct Access {
    secret: SecretHash,
    /// Woken when anything is written of the token.
    changed: Subscription,
    expire_time: Option<Timestamp>,
    /// Whether it has to be looked at again.
    stale: bool,
}

impl Access {
    /// None on the socket, where there is no token to be taken away.
    pub(super) fn of(service: &Service, caller: &Caller) -> Option<Self> {
        let bearer = caller.token.as_ref()?;
        let changed = service.subscribe(Topic::Credential(bearer.secret));
        // It may have been revoked after it was looked at and before it was waited on.
        let stale = true;
        Some(Self { secret: bearer.secret, changed, expire_time: bearer.expire_time, stale })
    }

    /// Looks at the token, whether it was written or not.
    pub(super) async fn check_now(&mut self, service: &Service) -> Result<(), Error> {
        self.stale = true;
        self.check(service).await
    }

    /// Looks at the token, where that is needed.
    async fn check(&mut self, service: &Service) -> Result<(), Error> {
        // Until it was looked at to the end: the store may be away.
        if self.stale {
            self.changed.mark_seen();
            let token = service.good_token(self.secret).await?;
            if let Principal::Session(session) = &token.principal {
                let session = service.session(session.session).await?;
                let session = session.ok_or(Unfit::Void)?;
                if session.is_ended() {
                    return Err(Error::session_ended());
                }
                if session.token != self.secret {
                    return Err(Unfit::Void.into());
                }
            }
            self.stale = false;
        }
        Ok(())
    }

    /// Returns when the token has to be looked at again: it was written, or its time is over.
    async fn lapses(&mut self, service: &Service) {
        let expires = async {
            match self.expire_time {
                Some(time) => service.engine.wait_until(time).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.changed.woken() => {}
            () = expires => {}
        }
        self.stale = true;
    }
}

/// As [`Access::lapses`]; never, where there is no token.
async fn lapses(access: &mut Option<Access>, service: &Service) {
    match access {
        Some(access) => access.lapses(service).await,
        None => std::future::pending().await,
    }
}

/// What comes of a look; given up once the store is found to be away, which a look may wait for much longer.
async fn unless_away<T>(
    service: &Service,
    look: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let mut answers = service.store_answers();
    tokio::select! {
        biased;
        found = look => found,
        _ = answers.wait_for(|answers| !answers.reads) => Err(away()),
    }
}

fn away() -> Error {
    Error::store("the store does not answer")
}

struct Watching<L: Look> {
    service: Service,
    access: Option<Access>,
    subscription: Subscription,
    look: L,
    pending: VecDeque<L::Message>,
    /// Runs out when the next look is due; none where it is at once.
    pause: Option<Pin<Box<Sleep>>>,
    /// Whether it has looked.
    begun: bool,
    /// How often it was looked again since it was said that the store is away; none where it is not.
    stale: Option<u64>,
    ended: bool,
}

impl<L: Look> Watching<L> {
    async fn next(&mut self) -> Option<Result<L::Message, Error>> {
        let mut idle = false;
        // From the last message on, however often it is woken for nothing meanwhile.
        let mut rest = pin!(tokio::time::sleep(IDLE));
        loop {
            if !self.ended && !self.service.engine.reads() {
                // Known already: to look would be to wait for it.
                match self.after(away()).await {
                    None => continue,
                    told => return told,
                }
            }
            if let Some(access) = &mut self.access
                && !self.ended
                && let Err(error) = unless_away(&self.service, access.check(&self.service)).await
            {
                match self.after(error).await {
                    None => continue,
                    told => return told,
                }
            }
            if let Some(message) = self.pending.pop_front() {
                return Some(Ok(message));
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.look().await {
                match self.after(error).await {
                    None => continue,
                    told => return told,
                }
            }
            let is_back = self.stale.take().is_some();
            if !self.pending.is_empty() || self.ended {
                continue;
            }
            if std::mem::take(&mut idle) || is_back {
                return Some(Ok(self.look.idle(false, None)));
            }
            tokio::select! {
                biased;
                () = self.service.stopping() => {
                    self.ended = true;
                    return Some(Err(Error::stopping()));
                }
                () = lapses(&mut self.access, &self.service) => {}
                () = self.subscription.woken() => {}
                // Looks once more before it says so: a wake-up that was lost is healed here.
                () = &mut rest => idle = true,
            }
        }
    }

    /// What there is to say of `error`, which is the last unless the store is away: then that is said at
    /// once, and as often as an idle stream says that it is well; none when it is time to look again. A
    /// stream that has not looked yet ends, and its caller is told.
    async fn after(&mut self, error: Error) -> Option<Result<L::Message, Error>> {
        let is_away = matches!(error, Error::Unavailable(Reason::StoreUnavailable, ..));
        if !is_away || !self.begun {
            // What was found and not yet sent is not for whoever has the token now.
            (self.ended, self.pending) = (true, VecDeque::new());
            return Some(Err(error));
        }
        // It may have been taken away meanwhile, where nobody could look.
        if let Some(access) = &mut self.access {
            access.stale = true;
        }
        let tries = self.stale.map_or(0, |tries| tries + 1);
        self.stale = Some(tries % STALE_AGAIN);
        if self.stale == Some(0) {
            return Some(Ok(self.is_stale()));
        }
        let mut answers = self.service.store_answers();
        let back = async {
            tokio::time::sleep(LOOK_AGAIN).await;
            // It lives as long as the service does.
            let _ = answers.wait_for(|answers| answers.reads).await;
        };
        tokio::select! {
            biased;
            () = self.service.stopping() => {
                self.ended = true;
                Some(Err(Error::stopping()))
            }
            () = back => None,
            () = tokio::time::sleep(IDLE) => Some(Ok(self.is_stale())),
        }
    }

    fn is_stale(&self) -> L::Message {
        self.look.idle(true, self.pending.front())
    }

    /// Looks, when it is time to; what was found is pending then.
    async fn look(&mut self) -> Result<(), Error> {
        if let Some(pause) = self.pause.take() {
            tokio::select! {
                () = self.service.stopping() => {}
                () = pause => {}
            }
        }
        self.subscription.mark_seen();
        let found = unless_away(&self.service, self.look.look(&self.service)).await?;
        if !found.messages.is_empty() && !L::BETWEEN.is_zero() {
            self.pause = Some(Box::pin(tokio::time::sleep(L::BETWEEN)));
        }
        self.begun = true;
        self.pending = found.messages;
        self.ended = found.is_last;
        Ok(())
    }
}
