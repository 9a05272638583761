//! A service over a store in memory, with clocks that a test sets, and short ways to say what a test
//! is about.

use askway::ask::{
    Actor, Answer, Answers, Ask, AskId, Carried, Content, Draft, Ending, PersonName, Policy,
    Priority, Question, QuestionOption, RequestId, SessionId, SessionRef, Span, Timestamp, WorkId,
};
use askway::engine::clock::Manual;
use askway::error::{Error, Reason};
use askway::service::{
    ASKS_A_MINUTE_MAX, AskFilter, AskScope, Caller, Credential, Hold, Rates, Receipt, Service,
    Settings, Verdict, WatchMessage,
};
use askway::session::{Manner, Principal, Secret, WorkManner};
use askway::store::Store;
use askway::store::mem::Mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_stream::StreamExt;

/// Longer than anything here takes; only a lost wake-up is.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub struct Bench {
    pub service: Service,
    pub clock: Arc<Manual>,
    pub owner: Caller,
    pub host: Caller,
}

/// A session, with what it was given.
#[derive(Clone)]
pub struct Agent {
    pub caller: Caller,
    pub token: Secret,
    pub hold: Secret,
}

impl Agent {
    pub fn reference(&self) -> SessionRef {
        match &self.caller.principal {
            Principal::Session(session) => session.clone(),
            other => panic!("{other:?} is not a session"),
        }
    }

    pub fn id(&self) -> SessionId {
        self.reference().session
    }
}

impl Bench {
    pub async fn new() -> Self {
        Self::over(Arc::new(Mem::default())).await
    }

    pub async fn over(store: Arc<dyn Store>) -> Self {
        Self::on(store, Manual::at(Timestamp::from_millis(1_800_000_000_000))).await
    }

    /// Over a store and clocks that an earlier bench left.
    pub async fn on(store: Arc<dyn Store>, clock: Arc<Manual>) -> Self {
        Self::set(store, clock, Settings::default()).await
    }

    /// With a policy of its own.
    pub async fn with(policy: Policy) -> Self {
        let clock = Manual::at(Timestamp::from_millis(1_800_000_000_000));
        Self::set(Arc::new(Mem::default()), clock, Settings { policy, ..Settings::default() }).await
    }

    pub async fn set(store: Arc<dyn Store>, clock: Arc<Manual>, settings: Settings) -> Self {
        // The clock stands still, and with it how fast a tree may ask: a test of that sets it.
        let rates = match settings.rates == Rates::default() {
            true => Rates { asks_a_minute: ASKS_A_MINUTE_MAX, ..Rates::default() },
            false => settings.rates,
        };
        let settings = Settings { rates, ..settings };
        let service = Service::start_with(store, settings, clock.clone()).await.unwrap();
        let caller = |principal| Caller {
            principal,
            namespace: Default::default(),
            token: None,
            in_agent: false,
        };
        Self {
            service,
            clock,
            owner: caller(Principal::Person(PersonName::owner())),
            host: caller(Principal::Host("local".parse().unwrap())),
        }
    }

    /// A root session.
    pub async fn root(&self, agent: &str) -> Agent {
        self.enroll(agent, Some(&self.host), Manner::default(), None).await
    }

    /// Another piece of work that `sender` sends to `taker`.
    pub async fn send(&self, sender: &Agent, taker: &Agent) -> WorkId {
        let manner = WorkManner::default();
        let sent = self.service.send_work(&sender.caller, fresh(), None, manner).await.unwrap();
        let ticket = sent.ticket.unwrap();
        self.service.accept_work(&taker.caller, fresh(), ticket).await.unwrap().work
    }

    /// Keeps a session from being taken for gone, while what is returned lives.
    pub async fn hold(&self, agent: &Agent) -> Hold {
        self.service.hold(&agent.caller, agent.hold.clone()).await.unwrap().1
    }

    /// A session that `sender` sent work to.
    pub async fn child(&self, agent: &str, sender: &Agent, blocking: bool) -> Agent {
        let manner = WorkManner { blocking, ..WorkManner::default() };
        let sent = self.service.send_work(&sender.caller, fresh(), None, manner).await.unwrap();
        self.enroll(agent, None, Manner::default(), sent.ticket).await
    }

    pub async fn enroll(
        &self,
        agent: &str,
        caller: Option<&Caller>,
        manner: Manner,
        ticket: Option<Secret>,
    ) -> Agent {
        let agent = agent.parse().unwrap();
        let enrolled = self.service.enroll(caller, fresh(), agent, manner, ticket).await.unwrap();
        let (token, hold) = enrolled.secrets.expect("a new session has secrets");
        let caller = self.log_in(&token).await.unwrap();
        Agent { caller, token, hold }
    }

    /// The same session once its host has resumed it: with a new token, the one it had is void.
    pub async fn resumed(&self, agent: &Agent) -> Agent {
        let resumed = self.service.resume(&self.host, fresh(), agent.id()).await.unwrap();
        let (token, hold) = resumed.secrets.expect("a resumed session has secrets");
        let caller = self.log_in(&token).await.unwrap();
        Agent { caller, token, hold }
    }

    pub async fn log_in(&self, token: &Secret) -> Result<Caller, Error> {
        let token = Some(token.expose().to_owned());
        self.service.authenticate(&Credential { token, local_user: false, in_agent: false }).await
    }

    /// `lead` and a `worker` it sent work to, not blocked on it.
    pub async fn pair(&self) -> (Agent, Agent) {
        let lead = self.root("lead").await;
        let worker = self.child("worker", &lead, false).await;
        (lead, worker)
    }

    pub async fn ask(&self, asker: &Agent, question: &str) -> Arc<Ask> {
        accepted(self.service.ask(&asker.caller, fresh(), None, draft(question)).await)
    }

    pub async fn file(&self, asker: &Agent, draft: Draft) -> Result<Receipt, Error> {
        self.service.ask(&asker.caller, fresh(), None, draft).await
    }

    pub async fn answer_agent(&self, by: &Agent, ask: &Ask) -> Result<Receipt, Error> {
        self.service.answer_agent(&by.caller, fresh(), ask.id, ask.digest, yes()).await
    }

    pub async fn answer(&self, ask: &Ask) -> Result<Receipt, Error> {
        self.service.answer(&self.owner, fresh(), ask.id, ask.digest, yes()).await
    }

    pub async fn decline(&self, ask: &Ask, note: &str) -> Result<Receipt, Error> {
        let note = Some(note.to_owned());
        self.service.decline(&self.owner, fresh(), ask.id, ask.digest, note).await
    }

    pub async fn show(&self, ask: &Ask) -> Arc<Ask> {
        accepted(self.service.mark_seen(&self.owner, fresh(), ask.id, ask.digest).await)
    }

    /// The asker's side has the outcome, and every turn before it.
    pub async fn acknowledge(&self, asker: &Agent, id: AskId) -> Arc<Ask> {
        let outcome = self.get(id).await.outcome().expect("it is settled").revision;
        let caller = &asker.caller;
        accepted(self.service.acknowledge(caller, fresh(), id, outcome, None).await)
    }

    pub async fn escalate(&self, by: &Agent, ask: &Ask) -> Result<Receipt, Error> {
        let reason = Some("not mine to say".to_owned());
        self.service.escalate(&by.caller, fresh(), ask.id, ask.hop.index, reason).await
    }

    pub async fn get(&self, id: AskId) -> Arc<Ask> {
        self.service.get(&self.owner, &id.to_string()).await.unwrap().0
    }

    /// The ask, once `wanted` is true of it: watched, so nothing is polled.
    pub async fn until(&self, id: AskId, wanted: impl Fn(&Ask) -> bool) -> Arc<Ask> {
        let look = async {
            let mut watch = self.service.watch_ask(&self.owner, id, None).await.unwrap();
            while let Some(message) = watch.next().await {
                match message.unwrap() {
                    WatchMessage::Ask(ask) | WatchMessage::Event(_, ask) if wanted(&ask) => {
                        return ask;
                    }
                    _ => {}
                }
            }
            panic!("{id} settled without it")
        };
        tokio::time::timeout(PATIENCE, look).await.expect("it comes")
    }

    pub async fn inbox(&self, caller: &Caller) -> Vec<AskId> {
        let page = self
            .service
            .list(caller, AskScope::WaitingOnMe, &AskFilter::default(), None, 500)
            .await
            .unwrap();
        page.asks.iter().map(|ask| ask.id).collect()
    }

    pub fn advance(&self, span: Span) {
        self.clock.advance(span);
    }

    /// Lets time pass while somebody looks at the clock: no gap.
    pub async fn pass(&self, span: Span) {
        let mut left = span.as_millis();
        while left > 0 {
            let step = left.min(30_000);
            self.advance(Span::from_millis(step));
            self.service.status(&self.owner).await.unwrap();
            left -= step;
        }
    }

    /// Stops as a daemon does.
    pub async fn stop(self) {
        self.service.shutdown();
        self.service.stopped().await;
    }
}

/// Returns once `look` finds what it looks for.
pub async fn eventually<F: Future<Output = bool>>(mut look: impl FnMut() -> F) {
    let looks = async {
        while !look().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, looks).await.expect("it comes");
}

/// A request id nobody has used.
pub fn fresh() -> RequestId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("request {}", NEXT.fetch_add(1, Ordering::Relaxed)).parse().unwrap()
}

pub fn draft(question: &str) -> Draft {
    let option = |label: &str| QuestionOption {
        label: label.to_owned(),
        description: String::new(),
        recommended: false,
    };
    let question = Question {
        id: "q1".to_owned(),
        header: String::new(),
        question: question.to_owned(),
        options: vec![option("yes"), option("no")],
        multiple: false,
    };
    let content = Content { questions: vec![question], context: String::new() };
    Draft {
        content: content.into(),
        priority: Priority::Normal,
        expire: None,
        defaults: Answers::new(),
        carried: Carried::default(),
        route: None,
        again: false,
        assurance: None,
    }
}

/// What is asked by a draft, to be changed.
pub fn what(draft: &mut Draft) -> &mut Content {
    Arc::make_mut(&mut draft.content)
}

pub fn yes() -> Answers {
    let answer = Answer { selected: vec!["yes".to_owned()], text: None, default: false };
    [("q1".to_owned(), answer)].into()
}

/// The seed of what a test leaves to chance, said so that it can be set again.
pub fn seed() -> u64 {
    let set = std::env::var("ASKWAY_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = set.unwrap_or_else(|| {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).expect("random bytes");
        u64::from_le_bytes(bytes)
    });
    eprintln!("ASKWAY_SEED={seed}");
    seed
}

/// The ask of an accepted receipt.
pub fn accepted(receipt: Result<Receipt, Error>) -> Arc<Ask> {
    let receipt = receipt.expect("no fault");
    assert_eq!(receipt.verdict, Verdict::Accepted, "{}", receipt.message);
    receipt.ask.expect("an accepted receipt shows the ask")
}

/// Why it was refused.
pub fn refused(receipt: Result<Receipt, Error>) -> Reason {
    match receipt.expect("no fault").verdict {
        Verdict::Refused(reason) => reason,
        other => panic!("{other:?}, not refused"),
    }
}

pub fn answered_by(ask: &Ask) -> Option<&Actor> {
    let outcome = ask.outcome()?;
    matches!(outcome.ending, Ending::Answered(_)).then_some(&outcome.by)
}
