//! Streams whose reader has stopped reading. A connection that takes nothing is seen where it is
//! written to (`connections`); but a peer may go on reading and open no window for one stream. hyper
//! does not ask a body for more while what it gave has not gone: so a body says when it gave
//! something, and the task that sends it gives up when nothing more was asked for in time.

use hyper::rt::Executor;
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::time::Sleep;

tokio::task_local! {
    /// What the body sent by this task has said.
    static GIVEN: Cell<Given>;
}

/// What a body has given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Given {
    /// How often.
    times: u64,
    /// Whether it has not been asked since.
    is_owed: bool,
}

/// Says that the body sent by this task gave something, or that it had nothing to give.
pub(super) fn note(gave: bool) {
    // A body that nobody sends, as in a test, has nobody to tell.
    let _ = GIVEN.try_with(|given| {
        given.set(Given { times: given.get().times + u64::from(gave), is_owed: gave });
    });
}

/// Starts the task of each stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streams {
    /// How long what was given may be owed.
    pub patience: Duration,
}

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        tokio::spawn(until_stalled(stream, self.patience));
    }
}

/// Runs `stream` to its end, or until what its body gave was owed for `patience`: dropped, it resets
/// the stream, and what waited in it is freed.
async fn until_stalled(stream: impl Future<Output = ()>, patience: Duration) {
    let mut stream = pin!(stream);
    let mut given = Given::default();
    let mut waiting: Option<Pin<Box<Sleep>>> = None;
    poll_fn(|context| {
        let before = given.times;
        let done = GIVEN.sync_scope(Cell::new(given), || {
            let done = stream.as_mut().poll(context);
            given = GIVEN.with(Cell::get);
            done
        });
        if done.is_ready() {
            return Poll::Ready(());
        }
        if !given.is_owed || given.times != before {
            waiting = None;
        }
        if !given.is_owed {
            return Poll::Pending;
        }
        let waiting = waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        let over = waiting.as_mut().poll(context);
        if over.is_ready() {
            tracing::debug!("a stream is not read, and is cut");
        }
        over
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;
    use tokio::time::{Instant, timeout};

    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn what_is_owed_too_long_ends_the_stream_and_what_is_idle_does_not() {
        let (ended, mut ends) = mpsc::unbounded_channel();
        let started = Instant::now();
        let streams = Streams { patience: PATIENCE };
        let send = |name: &'static str, stream: Pin<Box<dyn Future<Output = ()> + Send>>| {
            let ended = ended.clone();
            let told = Told(name, ended);
            streams.execute(async move {
                let _told = told;
                stream.await;
            });
        };
        send(
            "idle",
            Box::pin(async {
                note(true);
                note(false);
                passes(PATIENCE * 10).await;
            }),
        );
        send(
            "slow",
            Box::pin(async {
                for _ in 0..3 {
                    note(true);
                    passes(PATIENCE - Duration::from_secs(1)).await;
                }
            }),
        );
        send(
            "stalled",
            Box::pin(async {
                note(true);
                std::future::pending().await
            }),
        );
        drop(ended);
        let mut told = Vec::new();
        while let Some((name, at)) = ends.recv().await {
            told.push((name, at - started));
        }
        let slow = (PATIENCE - Duration::from_secs(1)) * 3;
        assert_eq!(told, [("stalled", PATIENCE), ("slow", slow), ("idle", PATIENCE * 10)]);
    }

    /// Returns when so much time has passed, which is at once where nothing else happens.
    async fn passes(time: Duration) {
        let _ = timeout(time, std::future::pending::<()>()).await;
    }

    struct Told(&'static str, mpsc::UnboundedSender<(&'static str, Instant)>);

    impl Drop for Told {
        fn drop(&mut self) {
            self.1.send((self.0, Instant::now())).expect("somebody listens");
        }
    }
}
