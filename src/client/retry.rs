//! Trying again, with jitter, so that a thousand clients of a restarted daemon do not come at once.

use super::{Client, ClientError};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;

/// For how long a call is tried again where nothing is said: a daemon's restart, and some.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// The first wait, at most; each further one may be twice as long.
const FIRST: Duration = Duration::from_millis(100);
/// No wait is longer: a daemon that is back should not be left alone.
const LONGEST: Duration = Duration::from_secs(2);

/// The waits between tries: any time up to a bound that doubles.
#[derive(Debug)]
pub(super) struct Backoff {
    bound: Duration,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self { bound: FIRST }
    }

    /// The next wait; at least what the server asked for.
    pub(super) fn next(&mut self, asked_for: Option<Duration>) -> Duration {
        let wait = self.bound.mul_f64(fraction());
        self.bound = (self.bound * 2).min(LONGEST);
        wait.max(asked_for.unwrap_or_default().min(LONGEST))
    }
}

impl Client {
    /// Sends until it is done, or fails for good, or patience is over.
    pub(super) async fn retry<T, F>(&self, mut send: impl FnMut() -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, Status>>,
    {
        let until = Instant::now() + self.patience;
        let mut backoff = Backoff::new();
        loop {
            let error = match send().await {
                Ok(reply) => return Ok(reply),
                Err(status) => ClientError::from(status),
            };
            let wait = backoff.next(error.retry_after);
            if !error.is_passing() || Instant::now() + wait > until {
                return Err(error);
            }
            tokio::time::sleep(wait).await;
        }
    }
}

/// A number from 0 to 1, by chance.
fn fraction() -> f64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_be_bytes(bytes)) / f64::from(u32::MAX),
        Err(_) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Address;
    use std::cell::Cell;

    fn client() -> Client {
        Client::new(Address::Http("http://127.0.0.1:1".into()), None)
    }

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_tried_again_and_what_does_not_is_not() {
        let tries = Cell::new(0);
        let flaky = || {
            tries.set(tries.get() + 1);
            let result = if tries.get() < 4 {
                Err(Status::unavailable("stopping"))
            } else {
                Ok(tries.get())
            };
            std::future::ready(result)
        };
        assert_eq!(client().retry(flaky).await.unwrap(), 4);
        tries.set(0);
        let wrong = || {
            tries.set(tries.get() + 1);
            std::future::ready(Err::<(), _>(Status::not_found("no ask")))
        };
        assert!(client().retry(wrong).await.is_err());
        assert_eq!(tries.get(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends() {
        let started = Instant::now();
        let gone = || std::future::ready(Err::<(), _>(Status::unavailable("gone")));
        assert!(client().retry(gone).await.is_err());
        assert!(started.elapsed() <= PATIENCE);
        let impatient = client().with_patience(Duration::ZERO);
        let started = Instant::now();
        assert!(impatient.retry(gone).await.is_err());
        assert!(started.elapsed() <= Duration::from_millis(1));
    }
}
