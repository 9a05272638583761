//! Lists of asks: whose, which of those, page by page.

use super::asks::session_of;
use super::authorize::{Call, authorize, sees};
use super::reads::{PAGE_MAX, fitting};
use super::{Caller, Service};
use crate::ask::{Ask, AskId, Ending, PersonName, SessionId, Target, Timestamp, WorkId};
use crate::error::Error;
use crate::session::Principal;
use crate::store::Scope;
use std::sync::Arc;

/// Asks of the caller's namespace looked at for one page: beyond that it is short, and says where to
/// go on.
const LOOKED_AT: usize = 1_000;
/// Asks of others passed over for one page. How many there are must not be told by a short page, and
/// one page must not read the whole of a large store: by then it is told to nobody who can count.
const PASSED_OVER: usize = 100_000;
/// Asks looked at together.
const AT_ONCE: usize = 100;

/// Which asks a caller wants listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskScope {
    /// Open, waiting on the caller.
    WaitingOnMe,
    /// Filed by the calling session, or by those of the calling host.
    Mine,
    /// Visible to the caller.
    Visible,
}

/// Which of those: all that is set must hold.
#[derive(Clone, Debug, Default)]
pub struct AskFilter {
    /// Also the settled ones that are still kept.
    pub settled: bool,
    /// Only settled in this way.
    pub outcome: Option<Way>,
    /// Only filed by this session.
    pub asker: Option<SessionId>,
    /// Only waiting on this session.
    pub waiting_on_session: Option<SessionId>,
    /// Only waiting on this person.
    pub waiting_on_person: Option<PersonName>,
    /// Only of works under this root.
    pub tree: Option<WorkId>,
    /// Only filed at or after this time.
    pub from: Option<Timestamp>,
    /// Only filed before this time.
    pub until: Option<Timestamp>,
    /// Only with this in a header, or in a question without one; whatever the case.
    pub text: Option<String>,
}

/// The ways an ask ends, without what was decided.
#[expect(missing_docs, reason = "as `Ending`")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Answered,
    Declined,
    Expired,
    Withdrawn,
    Abandoned,
}

impl From<&Ending> for Way {
    fn from(ending: &Ending) -> Self {
        match ending {
            Ending::Answered(_) => Way::Answered,
            Ending::Declined => Way::Declined,
            Ending::Expired(_) => Way::Expired,
            Ending::Withdrawn => Way::Withdrawn,
            Ending::Abandoned => Way::Abandoned,
        }
    }
}

/// A page of asks.
#[derive(Clone, Debug)]
pub struct AskPage {
    /// Oldest first.
    pub asks: Vec<Arc<Ask>>,
    /// Where the next page begins.
    pub next: Option<AskId>,
}

impl Service {
    /// Lists asks, oldest first, at most `page` of them, 1 to [`PAGE_MAX`]; a page may be shorter,
    /// and still have a next one.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn list(
        &self,
        caller: &Caller,
        scope: AskScope,
        filter: &AskFilter,
        after: Option<AskId>,
        page: usize,
    ) -> Result<AskPage, Error> {
        authorize(caller, Call::ListAsks, None)?;
        let of_store = store_scope(caller, scope)?;
        let of_store = narrowed(of_store, filter);
        let page = page.clamp(1, PAGE_MAX);
        let (mut found, mut at, mut looked_at, mut passed_over) = (Vec::new(), after, 0, 0);
        // Ids are in the order of filing, so what was filed earlier need not be looked at.
        if let Some(before) = filter.from.and_then(|from| from.as_millis().checked_sub(1)) {
            at = at.max(Some(AskId::new(Timestamp::from_millis(before), [255; 6])));
        }
        let mut own = at;
        while looked_at < LOOKED_AT && passed_over < PASSED_OVER {
            let stretch = self.after(&of_store, filter, at).await?;
            for ask in stretch.asks {
                if filter.until.is_some_and(|until| ask.create_time >= until) {
                    return Ok(whole(found, None));
                }
                if ask.namespace != caller.namespace {
                    passed_over += 1;
                    continue;
                }
                (own, looked_at) = (Some(ask.id), looked_at + 1);
                if sees(caller, &ask) && is_of(caller, scope, &ask) && filter.has(scope, &ask) {
                    found.push(ask);
                }
                if found.len() == page {
                    return Ok(whole(found, own));
                }
            }
            if stretch.last.is_none() {
                return Ok(whole(found, None));
            }
            at = stretch.last;
        }
        let next = if passed_over < PASSED_OVER { own } else { at };
        let last = found.last().map(|ask| ask.id);
        Ok(whole(found, next.map(|next| unnamed(next, after, last))))
    }

    /// The next asks that may be of a list.
    async fn after(
        &self,
        scope: &Scope,
        filter: &AskFilter,
        after: Option<AskId>,
    ) -> Result<Stretch, Error> {
        let store = self.engine.store();
        if filter.with_settled() {
            let asks = store.asks(after, AT_ONCE).await?;
            let last = asks.last().map(|ask| ask.id);
            return Ok(Stretch { asks, last });
        }
        let listing = store.list(scope, after, AT_ONCE).await?;
        let ids: Vec<AskId> = listing.asks.iter().map(|(id, _)| *id).collect();
        // One that was removed meanwhile is not loaded, but is not the end.
        Ok(Stretch { asks: self.load_asks(&ids).await?, last: ids.last().copied() })
    }
}

/// Where a page goes on that ends with an ask its reader may not know of: by the time, and not by that
/// ask's id. What was filed in that instant is looked at again, but for what the page has, up to `last`.
fn unnamed(next: AskId, after: Option<AskId>, last: Option<AskId>) -> AskId {
    let before = next.time().as_millis().saturating_sub(1);
    let moment = AskId::new(Timestamp::from_millis(before), [255; 6]);
    let on = last.map_or(moment, |last| moment.max(last));
    // A thousand in one instant: then there is no other way on.
    if Some(on) > after { on } else { next }
}

/// Asks looked at together, and the id after which to go on; none at the end.
struct Stretch {
    asks: Vec<Arc<Ask>>,
    last: Option<AskId>,
}

/// The narrowest scope of the store's that has all of a list. The lists of an asker's own asks have
/// unread ones, which stand in no other.
fn narrowed(scope: Scope, filter: &AskFilter) -> Scope {
    match (&scope, filter) {
        (Scope::AskedBy(_) | Scope::OfHost(..), _) => scope,
        (_, AskFilter { waiting_on_session: Some(session), .. }) => {
            Scope::WaitingOnSession(*session)
        }
        (_, AskFilter { tree: Some(tree), .. }) => Scope::Tree(*tree),
        (_, AskFilter { asker: Some(session), .. }) => Scope::AskedBy(*session),
        _ => scope,
    }
}

/// A page no larger than a message may be.
fn whole(mut asks: Vec<Arc<Ask>>, next: Option<AskId>) -> AskPage {
    let kept = fitting(&asks);
    if kept < asks.len() {
        asks.truncate(kept);
        let next = asks.last().map(|ask| ask.id);
        return AskPage { asks, next };
    }
    AskPage { asks, next }
}

pub(super) fn is_of(caller: &Caller, scope: AskScope, ask: &Ask) -> bool {
    match (scope, &caller.principal) {
        (AskScope::Visible, _) => true,
        (AskScope::WaitingOnMe, Principal::Person(person)) => ask.waits_on_person(person),
        (AskScope::WaitingOnMe, Principal::Session(session)) => {
            ask.waits_on_session(session) || ask.orphan_of() == Some(session)
        }
        (AskScope::Mine, Principal::Session(session)) => ask.asker == *session,
        (AskScope::Mine, Principal::Host(host)) => ask.host == *host,
        (AskScope::WaitingOnMe, Principal::Host(_)) | (AskScope::Mine, Principal::Person(_)) => {
            false
        }
    }
}

impl AskFilter {
    fn with_settled(&self) -> bool {
        self.settled || self.outcome.is_some()
    }

    fn has(&self, scope: AskScope, ask: &Ask) -> bool {
        let waits_on = |session: &SessionId| match ask.waiting_on() {
            Some(Target::Session(waiting)) => waiting.session == *session,
            Some(Target::People { .. }) | None => false,
        };
        let unread = scope == AskScope::Mine && ask.is_unread();
        let orphan = scope == AskScope::WaitingOnMe && ask.orphan_of().is_some();
        let listed = ask.is_open() || unread || orphan || self.with_settled();
        let ended = ask.outcome().map(|outcome| Way::from(&outcome.ending));
        listed
            && (self.outcome.is_none() || self.outcome == ended)
            && self.asker.is_none_or(|asker| ask.asker.session == asker)
            && self.waiting_on_session.as_ref().is_none_or(waits_on)
            && self.waiting_on_person.as_ref().is_none_or(|person| ask.waits_on_person(person))
            && self.tree.is_none_or(|tree| ask.tree == tree)
            && self.from.is_none_or(|from| ask.create_time >= from)
            && self.until.is_none_or(|until| ask.create_time < until)
            && self.text.as_ref().is_none_or(|text| mentions(ask, text))
    }
}

/// Whether a reader who looks for `text` in a list finds it there.
fn mentions(ask: &Ask, text: &str) -> bool {
    let wanted = text.to_lowercase();
    ask.content.questions.iter().any(|question| {
        let shown = if question.header.is_empty() { &question.question } else { &question.header };
        shown.to_lowercase().contains(&wanted)
    })
}

/// The store's scope for what a caller wants listed of the open and unread.
pub(super) fn store_scope(caller: &Caller, scope: AskScope) -> Result<Scope, Error> {
    let namespace = || caller.namespace.clone();
    Ok(match (scope, &caller.principal) {
        (AskScope::WaitingOnMe, Principal::Person(person)) => {
            Scope::WaitingOnPerson(namespace(), person.clone())
        }
        (AskScope::WaitingOnMe, Principal::Session(session)) => Scope::InboxOf(session.session),
        (AskScope::WaitingOnMe, Principal::Host(_)) => {
            let must = "what waits on a host's paused sessions is watched; list mine";
            return Err(Error::invalid("scope", must));
        }
        (AskScope::Visible, Principal::Person(_)) => Scope::Open(namespace()),
        (AskScope::Visible, Principal::Session(_)) => Scope::VisibleTo(session_of(caller)),
        (AskScope::Mine | AskScope::Visible, Principal::Host(host)) => {
            Scope::OfHost(namespace(), host.clone())
        }
        (AskScope::Mine, Principal::Person(_)) => {
            return Err(Error::invalid("scope", "a person files no asks; list what is visible"));
        }
        (AskScope::Mine, Principal::Session(session)) => Scope::AskedBy(session.session),
    })
}
