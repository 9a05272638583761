//! What every watch does, whatever it watches: mark the topic seen, look at the store, send what was
//! found, wait. That order is the whole proof that nothing is missed (rule 8).
//!
//! Each stream is a small state and no task: while it waits it holds a topic and what it looked for.

use super::{Caller, Service};
use crate::ask::Timestamp;
use crate::engine::hub::{Subscription, Topic};
use crate::error::Error;
use crate::session::{Principal, SecretHash, Unfit};
use futures_util::stream;
use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::Sleep;
use tokio_stream::Stream;

/// How long a stream says nothing before it says that it is well: under the half minute in which an
/// idle proxy closes.
pub const IDLE: Duration = Duration::from_secs(25);

/// The stream of a watch. An error is its last item.
pub type Watch<T> = Pin<Box<dyn Stream<Item = Result<T, Error>> + Send>>;

/// What a watch looks at.
pub(super) trait Look: Send + 'static {
    /// What it sends.
    type Message: Send + 'static;

    /// The least time from a look that found something to the next look.
    const BETWEEN: Duration = Duration::ZERO;

    /// Looks at the store for what there is to send.
    fn look(
        &mut self,
        service: &Service,
    ) -> impl Future<Output = Result<Found<Self::Message>, Error>> + Send;

    /// What it sends when nothing has happened for [`IDLE`].
    fn idle(&self) -> Self::Message;
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
        if std::mem::take(&mut self.stale) {
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

struct Watching<L: Look> {
    service: Service,
    access: Option<Access>,
    subscription: Subscription,
    look: L,
    pending: VecDeque<L::Message>,
    /// Runs out when the next look is due; none where it is at once.
    pause: Option<Pin<Box<Sleep>>>,
    ended: bool,
}

impl<L: Look> Watching<L> {
    async fn next(&mut self) -> Option<Result<L::Message, Error>> {
        let mut idle = false;
        loop {
            if let Some(access) = &mut self.access
                && !self.ended
                && let Err(error) = access.check(&self.service).await
            {
                // What was found for it and not yet sent is not for whoever has it now.
                (self.ended, self.pending) = (true, VecDeque::new());
                return Some(Err(error));
            }
            if let Some(message) = self.pending.pop_front() {
                return Some(Ok(message));
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.look().await {
                self.ended = true;
                return Some(Err(error));
            }
            if !self.pending.is_empty() || self.ended {
                continue;
            }
            if std::mem::take(&mut idle) {
                return Some(Ok(self.look.idle()));
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
                () = tokio::time::sleep(IDLE) => idle = true,
            }
        }
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
        let found = self.look.look(&self.service).await?;
        if !found.messages.is_empty() && !L::BETWEEN.is_zero() {
            self.pause = Some(Box::pin(tokio::time::sleep(L::BETWEEN)));
        }
        self.pending = found.messages;
        self.ended = found.is_last;
        Ok(())
    }
}
