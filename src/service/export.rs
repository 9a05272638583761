//! All that is kept, as lines, for whoever runs the daemon.

use super::authorize::{Call, authorize};
use super::rates::RETRY;
use super::stream::{Access, Watch};
use super::{Caller, Service};
use crate::error::Error;
use crate::store::export::Export;
use futures_util::stream;
use tokio::sync::OwnedSemaphorePermit;

/// Bytes of one message: a reader holds no more of it than of any other stream.
const PIECE: usize = 64 * 1024;

/// An export under way.
struct Exporting {
    service: Service,
    access: Option<Access>,
    export: Export,
    lines: Vec<u8>,
    sent: usize,
    failed: bool,
    _one: OwnedSemaphorePermit,
}

impl Service {
    /// Gives all that is kept, as of now, in pieces of lines: see [`Export`]. It ends when the caller's
    /// token is good no more, or the daemon stops.
    ///
    /// # Errors
    ///
    /// Denied, for all but the daemon's own user; busy, where another is under way; unavailable.
    pub async fn export(&self, caller: &Caller) -> Result<Watch<Vec<u8>>, Error> {
        authorize(caller, Call::Export, None)?;
        let one = self.exporting.clone().try_acquire_owned().map_err(|_| Error::Busy(RETRY))?;
        let (by, in_agent) = (caller.spelled(), caller.in_agent);
        tracing::info!(by, in_agent, "all that is kept is being exported");
        let exporting = Exporting {
            service: self.clone(),
            access: Access::of(self, caller),
            export: Export::of(self.engine.store()).await?,
            lines: Vec::new(),
            sent: 0,
            failed: false,
            _one: one,
        };
        Ok(Box::pin(stream::unfold(exporting, |mut exporting| async move {
            if exporting.failed {
                return None;
            }
            let piece = exporting.next().await.transpose()?;
            exporting.failed = piece.is_err();
            Some((piece, exporting))
        })))
    }
}

impl Exporting {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if self.service.engine.stopping().is_cancelled() {
            return Err(Error::stopping());
        }
        if let Some(access) = &mut self.access {
            access.check_now(&self.service).await?;
        }
        if self.sent == self.lines.len() {
            let Some(lines) = self.export.next().await? else { return Ok(None) };
            (self.lines, self.sent) = (lines, 0);
        }
        let piece = &self.lines[self.sent..];
        let piece = piece[..piece.len().min(PIECE)].to_vec();
        self.sent += piece.len();
        Ok(Some(piece))
    }
}
