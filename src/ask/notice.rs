//! What people are still to be told of an ask: that it came to them, that its asker replied, that
//! nobody is on it any more. Derived from the events alone, so a notice is there in the same commit
//! as its cause, and gone in the same commit as what made it needless.
//!
//! | what happens                            | the notice                                            |
//! |-----------------------------------------|-------------------------------------------------------|
//! | it comes to people                      | due at once                                           |
//! | the asker replies while it is theirs    | due once the last one is a quiet window old           |
//! | a claim lapses, or is given up          | the same: whoever else is asked is asked again        |
//! | a person claims it, it moves, it ends   | dropped                                               |
//! | people were told                        | done; what happened meanwhile waits a quiet window    |
//! | telling them failed                     | due again later, a few times; then given up           |
//!
//! Whether anybody is there to carry a notice is not known here: where nobody is, it stays due and
//! costs nothing. Who carries them: [`engine`](crate::engine).

use super::event::{Event, EventKind};
use super::names::PersonName;
use super::time::Timestamp;
use super::{Ask, Target, limits};
use serde::{Deserialize, Serialize};

/// Why people are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeWhy {
    /// The ask came to them.
    Came,
    /// Its asker replied while it waits on them.
    Replied,
    /// Whoever was on it is not any more.
    Unclaimed,
    /// It was settled while they were being told of it.
    Settled,
}

/// What people are still to be told of an ask. There is one at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Why.
    pub why: NoticeWhy,
    /// The revision that made it due: whoever was shown the ask as of then has been told.
    pub since: u64,
    /// The revision of the last thing it tells, which may have come later.
    pub latest: u64,
    /// When to tell them, and no earlier.
    pub due: Timestamp,
    /// How often it was tried and failed.
    pub failures: u32,
}

/// Why people could not be told, the last time it was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeFailure {
    /// Why, in words.
    pub why: String,
    /// When.
    pub time: Timestamp,
}

impl NoticeWhy {
    /// One word for programs.
    pub fn word(self) -> &'static str {
        match self {
            NoticeWhy::Came => "came",
            NoticeWhy::Replied => "replied",
            NoticeWhy::Unclaimed => "unclaimed",
            NoticeWhy::Settled => "settled",
        }
    }

    /// The same as a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            NoticeWhy::Came => "it came to people",
            NoticeWhy::Replied => "the asker replied",
            NoticeWhy::Unclaimed => "nobody is on it any more",
            NoticeWhy::Settled => "it was settled meanwhile",
        }
    }
}

impl Notice {
    fn new(why: NoticeWhy, since: u64, due: Timestamp) -> Self {
        Self { why, since, latest: since, due, failures: 0 }
    }

    /// The same after it failed once more at `time`; none where that was once too often.
    fn failed(mut self, time: Timestamp) -> Option<Self> {
        let wait = limits::NOTICE_RETRIES.get(self.failures as usize)?;
        (self.failures, self.due) = (self.failures + 1, time + *wait);
        Some(self)
    }
}

impl Ask {
    /// When people are next to be told something of it; the store indexes it in the commit that
    /// sets it. It is no deadline: time changes nothing of the ask by itself.
    pub fn notice_due(&self) -> Option<Timestamp> {
        self.notice.map(|notice| notice.due)
    }

    /// When nobody who should know was told last, and why, where nobody has been told since.
    pub fn notice_failure(&self) -> Option<&NoticeFailure> {
        self.notice_failure.as_ref().filter(|_| self.is_open())
    }

    fn is_on_people(&self) -> bool {
        self.is_open() && self.route.hops[self.hop.index].to.session().is_none()
    }

    /// Whether anybody but `person` is asked now.
    fn asks_others(&self, person: &PersonName) -> bool {
        match self.waiting_on() {
            Some(Target::People { people, .. }) => people.iter().any(|other| other != person),
            Some(Target::Session(_)) | None => false,
        }
    }

    /// What there is to tell after `event`, which has been applied.
    pub(super) fn follow_notice(&mut self, event: &Event) {
        let (revision, time) = (event.revision, event.time);
        let quiet = self.noticed.map_or(time, |last| time.max(last + limits::NOTICE_QUIET));
        match &event.kind {
            EventKind::Filed(_) | EventKind::Escalated(_) => {
                self.notice = Some(Notice::new(NoticeWhy::Came, revision, time));
            }
            EventKind::Replied { .. } => match &mut self.notice {
                Some(notice) => notice.latest = revision,
                None => self.notice = Some(Notice::new(NoticeWhy::Replied, revision, quiet)),
            },
            EventKind::ClaimLapsed { .. } => {
                self.notice = Some(Notice::new(NoticeWhy::Unclaimed, revision, quiet));
            }
            EventKind::Released { by } if self.asks_others(by) => {
                self.notice = Some(Notice::new(NoticeWhy::Unclaimed, revision, quiet));
            }
            EventKind::Noticed { of, failure: None, .. } => self.told(*of, event),
            EventKind::Noticed { of, failure: Some(why), .. } => {
                self.notice_failure = Some(NoticeFailure { why: why.clone(), time });
                if let Some(notice) = self.notice.filter(|notice| notice.since <= *of) {
                    self.notice = notice.failed(time);
                }
            }
            _ => {}
        }
        if !self.is_on_people() || self.claim.is_some() {
            self.notice = None;
        }
    }

    /// People were told, and shown the ask as it was at revision `of`.
    fn told(&mut self, of: u64, event: &Event) {
        self.noticed = Some(event.time);
        self.notice_failure = None;
        let quiet = event.time + limits::NOTICE_QUIET;
        self.notice = match self.notice {
            // It came to others meanwhile: they do not wait.
            Some(notice) if notice.since > of && notice.why == NoticeWhy::Came => Some(notice),
            Some(notice) if notice.since > of => {
                Some(Notice { due: notice.due.max(quiet), ..notice })
            }
            Some(Notice { latest, .. }) if latest > of => {
                Some(Notice::new(NoticeWhy::Replied, latest, quiet))
            }
            Some(_) | None => None,
        };
    }
}
