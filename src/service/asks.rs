//! What changes an ask: each call becomes one command of the domain, by whoever the caller is.

use super::authorize::{Call, authorize};
use super::{Caller, Receipt, Service, Verdict};
use crate::ask::{
    Actor, Answers, Ask, AskId, Carried, Command, ContentDigest, Draft, Ending, LeaseId,
    PersonName, Plan, QuestionOption, RequestId, RouteName, SessionRef, Span, WorkId,
};
use crate::engine::request::{Deed, File, Reply, Request};
use crate::error::{Error, Refusal};
use crate::session::Principal;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Service {
    /// Files an ask of the calling session's, for `work` or its latest.
    ///
    /// # Errors
    ///
    /// Invalid, with every wrong field; otherwise as every call.
    pub async fn ask(
        &self,
        caller: &Caller,
        request: RequestId,
        work: Option<WorkId>,
        mut draft: Draft,
    ) -> Result<Receipt, Error> {
        authorize(caller, Call::Ask, None)?;
        let asker = session_of(caller);
        self.count_ask(&asker, work).await?;
        // The trace is the call's and not the question's: a retry may come under another.
        let state = draft.carried.state.clone();
        let sent = Carried { state, ..Carried::default() };
        let carried = std::mem::replace(&mut draft.carried, sent);
        let intent = caller.intent(request, Call::Ask, &(work, &draft));
        draft.carried = carried;
        let id = self.fresh(AskId::new);
        let plan = self.plan(draft.route.as_ref())?;
        let file = File::new(id, asker, work, draft, plan);
        let deed = Deed::File(Box::new(file));
        let reply = self.engine.submit(Request::of(intent, deed)).await;
        self.receipt(reply, None, false).await
    }

    fn plan(&self, name: Option<&RouteName>) -> Result<Plan, Error> {
        let routes = &self.settings.routes;
        let plan = name.map_or_else(|| Some(routes.default_plan()), |name| routes.get(name));
        plan.cloned().ok_or_else(|| {
            let names: Vec<_> = routes.names().map(RouteName::as_str).collect();
            Error::invalid("route", format!("is none of the routes here: {}", names.join(", ")))
        })
    }

    /// A person answers.
    ///
    /// # Errors
    ///
    /// Invalid, with each question that is not answered whole; otherwise as every call.
    pub async fn answer(
        &self,
        caller: &Caller,
        request: RequestId,
        ask: AskId,
        digest: ContentDigest,
        answers: Answers,
    ) -> Result<Receipt, Error> {
        self.act(caller, Call::Answer, request, ask, &(digest, &answers), |caller| {
            let (by, assurance) = (person_of(caller), caller.assurance());
            Command::Answer { by, digest, answers: answers.clone(), assurance }
        })
        .await
    }

    /// The session waited on answers.
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer).
    pub async fn answer_agent(
        &self,
        caller: &Caller,
        request: RequestId,
        ask: AskId,
        digest: ContentDigest,
        answers: Answers,
    ) -> Result<Receipt, Error> {
        self.act(caller, Call::AnswerAgent, request, ask, &(digest, &answers), |caller| {
            let (by, answers) = (session_of(caller), answers.clone());
            Command::AnswerAgent { by, digest, answers, standing: None }
        })
        .await
    }

    /// A person says no.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn decline(
        &self,
        caller: &Caller,
        request: RequestId,
        ask: AskId,
        digest: ContentDigest,
        note: Option<String>,
    ) -> Result<Receipt, Error> {
        self.act(caller, Call::Decline, request, ask, &(digest, &note), |caller| Command::Decline {
            by: person_of(caller),
            digest,
            note: note.clone(),
            assurance: caller.assurance(),
        })
        .await
    }

    /// Whoever is asked, or a person, moves it on from the hop they saw.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn escalate(
        &self,
        caller: &Caller,
        request: RequestId,
        ask: AskId,
        hop: usize,
        reason: Option<String>,
    ) -> Result<Receipt, Error> {
        self.act(caller, Call::Escalate, request, ask, &(hop, &reason), |caller| {
            let by = Actor::from(caller.principal.clone());
            let assurance = caller.assurance_of_person();
            Command::Escalate { by, hop, reason: reason.clone(), idle: Vec::new(), assurance }
        })
        .await
    }

    /// The asker takes it back.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn withdraw(
        &self,
        caller: &Caller,
        request: RequestId,
        ask: AskId,
        note: Option<String>,
    ) -> Result<Receipt, Error> {
        self.act(caller, Call::Withdraw, request, ask, &note, |caller| Command::Withdraw {
            by: session_of(caller),
            note: note.clone(),
        })
        .await
    }

    /// Whoever is asked, or a person, speaks to the asker.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn say(
        &self,
        caller: &Caller,
        request: RequestId,
        ask: AskId,
        text: String,
    ) -> Result<Receipt, Error> {
        self.act(caller, Call::Say, request, ask, &text, |caller| Command::Say {
            by: Actor::from(caller.principal.clone()),
            text: text.clone(),
            assurance: caller.assurance_of_person(),
        })
        .await
    }

    /// The asker speaks back, and may replace the options of some of its questions, by their ids.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn reply(
        &self,
        caller: &Caller,
        request: RequestId,
        ask: AskId,
        text: String,
        options: BTreeMap<String, Vec<QuestionOption>>,
    ) -> Result<Receipt, Error> {
        self.act(caller, Call::Reply, request, ask, &(&text, &options), |caller| Command::Reply {
            by: session_of(caller),
            text: text.clone(),
            options: options.clone(),
            standing: None,
        })
        .await
    }

    /// A person was shown this content.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn mark_seen(
        &self,
        caller: &Caller,
        request: RequestId,
        ask: AskId,
        digest: ContentDigest,
    ) -> Result<Receipt, Error> {
        self.act(caller, Call::MarkSeen, request, ask, &digest, |caller| Command::MarkSeen {
            by: person_of(caller),
            digest,
        })
        .await
    }

    /// A person is on it, for `length`.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn claim(
        &self,
        caller: &Caller,
        request: RequestId,
        ask: AskId,
        length: Span,
        take_over: bool,
    ) -> Result<Receipt, Error> {
        self.act(caller, Call::Claim, request, ask, &(length, take_over), |caller| Command::Claim {
            by: person_of(caller),
            length,
            take_over,
            assurance: caller.assurance(),
        })
        .await
    }

    /// A person is not on it any more.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn release(
        &self,
        caller: &Caller,
        request: RequestId,
        ask: AskId,
    ) -> Result<Receipt, Error> {
        self.act(caller, Call::Release, request, ask, &(), |caller| Command::Release {
            by: person_of(caller),
        })
        .await
    }

    /// The asker's side has the turn or the outcome of `revision`, and every turn before it; by
    /// `lease`, where a worker took it.
    ///
    /// # Errors
    ///
    /// Not found, where that revision is neither; otherwise as every call.
    pub async fn acknowledge(
        &self,
        caller: &Caller,
        request: RequestId,
        ask: AskId,
        revision: u64,
        lease: Option<LeaseId>,
    ) -> Result<Receipt, Error> {
        let call = Call::AcknowledgeDelivery;
        let payload = (revision, lease);
        let done = self.act(caller, call, request, ask, &payload, |caller| {
            let by = caller.principal.clone().into();
            Command::Acknowledge { by, delivery: revision, lease }
        });
        match done.await {
            Err(Error::NotFound(_)) if self.visible(caller, call, ask).await.is_ok() => Err(
                Error::NotFound(format!("nothing of {ask} is delivered by revision {revision}")),
            ),
            done => done,
        }
    }

    /// Any call on an ask that exists: may the caller, then the command, then its receipt.
    async fn act(
        &self,
        caller: &Caller,
        call: Call,
        request: RequestId,
        id: AskId,
        payload: &impl Serialize,
        command: impl FnOnce(&Caller) -> Command,
    ) -> Result<Receipt, Error> {
        authorize(caller, call, None)?;
        let ask = self.ask_record(id).await?.ok_or_else(|| Error::no_such_ask(id))?;
        authorize(caller, call, Some(&ask))?;
        let intent = caller.intent(request, call, &(id, payload));
        let mut command = Box::new(command(caller));
        // A session is an agent wherever it is.
        if caller.in_agent && matches!(caller.principal, Principal::Person(_)) {
            command = Box::new(Command::InAgent(command));
        }
        let deed = Deed::OnAsk(id, command);
        // Looked up first, or the watch that an answer ends would not be found; and at once, since what
        // another daemon said stays so for a moment.
        let attached = self.attached.has(ask.asker.session);
        let mut request = Request::of(intent, deed);
        if matches!(call, Call::Answer | Call::AnswerAgent | Call::Decline) {
            request = request.about(ask.what_is_asked());
        }
        let reply = self.engine.submit(request);
        let (attached, reply) = tokio::join!(biased; attached, reply);
        self.receipt(reply, Some(ask), attached?).await
    }

    /// The typed reply: a refusal is one too; only faults are errors.
    pub(super) async fn receipt(
        &self,
        reply: Reply,
        ask: Option<Arc<Ask>>,
        was_attached: bool,
    ) -> Result<Receipt, Error> {
        let mut receipt = match reply {
            Ok(done) => Receipt {
                verdict: if done.closed { Verdict::Closed } else { Verdict::Accepted },
                replayed: done.replayed,
                message: String::new(),
                asker: None,
                ask: done.ask,
                open: Vec::new(),
                differs: done.differs,
            },
            Err(Error::Refused(Refusal { reason, message, ask: refused, open })) => Receipt {
                verdict: Verdict::Refused(reason),
                replayed: false,
                message,
                asker: None,
                ask: refused.or(ask),
                open,
                differs: Vec::new(),
            },
            Err(fault) => return Err(fault),
        };
        if let Some(ask) = &receipt.ask {
            receipt.asker = Some(self.presence(ask, was_attached).await?);
            if receipt.verdict == Verdict::Closed {
                receipt.message = closed_by(ask);
            }
        }
        Ok(receipt)
    }
}

/// What won, and by whom, for whoever came too late.
fn closed_by(ask: &Ask) -> String {
    let Some(outcome) = ask.outcome() else { return String::new() };
    let how = match outcome.ending {
        Ending::Answered(_) => "answered",
        Ending::Declined => "declined",
        Ending::Expired(_) => return "it has expired; nothing changed".to_owned(),
        Ending::Withdrawn => "withdrawn",
        Ending::Abandoned => return "the asker's session has ended; nothing changed".to_owned(),
    };
    format!("{} had {how} it already; nothing changed", outcome.by)
}

/// The session that calls; `authorize` has seen that it is one.
pub(super) fn session_of(caller: &Caller) -> SessionRef {
    match &caller.principal {
        Principal::Session(session) => session.clone(),
        other => unreachable!("only a session is authorized here, not {other:?}"),
    }
}

/// The person who calls; `authorize` has seen that it is one.
fn person_of(caller: &Caller) -> PersonName {
    match &caller.principal {
        Principal::Person(_) if planted!("everybody_is_owner") => PersonName::owner(),
        Principal::Person(person) => person.clone(),
        other => unreachable!("only a person is authorized here, not {other:?}"),
    }
}
