//! Asks.
use super::*;
use crate::ask::*;
use crate::error::Error;
use std::collections::BTreeMap;

impl Service {
    /// Establishes who calls.
    pub async fn authenticate(&self, _credential: &Credential) -> Result<Caller, Error> {
        todo!()
    }
    /// Files an ask.
    pub async fn ask(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _work: Option<WorkId>,
        _draft: Draft,
    ) -> Result<Receipt, Error> {
        todo!()
    }
    /// Answer.
    pub async fn answer(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _ask: AskId,
        _digest: ContentDigest,
        _answers: Answers,
    ) -> Result<Receipt, Error> {
        todo!()
    }
    /// AnswerAgent.
    pub async fn answer_agent(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _ask: AskId,
        _digest: ContentDigest,
        _answers: Answers,
    ) -> Result<Receipt, Error> {
        todo!()
    }
    /// Decline.
    pub async fn decline(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _ask: AskId,
        _digest: ContentDigest,
        _note: Option<String>,
    ) -> Result<Receipt, Error> {
        todo!()
    }
    /// Escalate.
    pub async fn escalate(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _ask: AskId,
        _hop: usize,
        _reason: Option<String>,
    ) -> Result<Receipt, Error> {
        todo!()
    }
    /// Withdraw.
    pub async fn withdraw(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _ask: AskId,
        _note: Option<String>,
    ) -> Result<Receipt, Error> {
        todo!()
    }
    /// Say.
    pub async fn say(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _ask: AskId,
        _text: String,
    ) -> Result<Receipt, Error> {
        todo!()
    }
    /// Reply.
    pub async fn reply(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _ask: AskId,
        _text: String,
        _options: BTreeMap<String, Vec<QuestionOption>>,
    ) -> Result<Receipt, Error> {
        todo!()
    }
    /// MarkSeen.
    pub async fn mark_seen(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _ask: AskId,
        _digest: ContentDigest,
    ) -> Result<Receipt, Error> {
        todo!()
    }
    /// Claim.
    pub async fn claim(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _ask: AskId,
        _length: Span,
        _take_over: bool,
    ) -> Result<Receipt, Error> {
        todo!()
    }
    /// Release.
    pub async fn release(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _ask: AskId,
    ) -> Result<Receipt, Error> {
        todo!()
    }
    /// AcknowledgeDelivery: the ask and the revision a delivery id names.
    pub async fn acknowledge(
        &self,
        _caller: &Caller,
        _request: RequestId,
        _ask: AskId,
        _revision: u64,
    ) -> Result<Receipt, Error> {
        todo!()
    }

    /// Reads an ask by its id or a prefix of it, as typed.
    pub async fn get(
        &self,
        _caller: &Caller,
        _id_or_prefix: &str,
    ) -> Result<(Arc<Ask>, Presence), Error> {
        todo!()
    }
    /// Lists asks. `page` 1 to PAGE_MAX.
    pub async fn list(
        &self,
        _caller: &Caller,
        _scope: AskScope,
        _after: Option<AskId>,
        _page: usize,
    ) -> Result<AskPage, Error> {
        todo!()
    }
    /// Events after a revision, each with the ask as after it.
    pub async fn events(
        &self,
        _caller: &Caller,
        _ask: AskId,
        _after: u64,
        _page: usize,
    ) -> Result<Vec<(Event, Arc<Ask>)>, Error> {
        todo!()
    }
    /// Status.
    pub async fn status(&self, _caller: &Caller) -> Result<Status, Error> {
        todo!()
    }
}
