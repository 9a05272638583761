//! Who takes part: sessions with tokens of their own, the person who answers, and what is asked.

use super::daemon::Daemon;
use askway::client::{Client, Watch, Watched};
use askway::grpc::v1;
use askway::session::Secret;
use futures_util::future::join_all;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_stream::StreamExt;

/// How many call at once in a burst.
pub const CALLERS: usize = 256;
/// Connections they share.
pub const CHANNELS: usize = 8;
/// Open asks of one session, which no setting raises.
pub const ASKS_A_SESSION: usize = 4;
/// Bytes of what is asked and of what is answered.
pub const SIZES: (usize, usize) = (1_500, 700);

/// No two asks of a run are the same question.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Words of `bytes` letters in all, other ones each time: what is kept of them cannot be packed.
fn words(bytes: usize) -> String {
    let mut state = NEXT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let letter = |at| match at % 8 {
        7 => ' ',
        _ => {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from(b'a' + ((state >> 33) % 26) as u8)
        }
    };
    (0..bytes).map(letter).collect()
}

/// Runs `work` for each of `callers` at once; gives the seconds all of it took.
pub async fn burst<F: Future<Output = ()> + Send + 'static>(
    callers: usize,
    mut work: impl FnMut(usize) -> F,
) -> f64 {
    let began = Instant::now();
    let all: Vec<_> = (0..callers).map(|caller| tokio::spawn(work(caller))).collect();
    for one in join_all(all).await {
        one.expect("no caller panics");
    }
    began.elapsed().as_secs_f64()
}

/// `amount` connections as the host, to speak over as anybody.
pub fn channels(daemon: &Daemon, amount: usize) -> Vec<Client> {
    (0..amount).map(|_| daemon.host()).collect()
}

/// `amount` root sessions, whose tokens have been used before: a first use is a write of its own.
pub async fn sessions(channels: &[Client], amount: usize) -> Vec<Client> {
    let made = Arc::new(Mutex::new(Vec::with_capacity(amount)));
    let callers = CALLERS.min(amount);
    burst(callers, |caller| {
        let host = channels[caller % channels.len()].clone();
        let made = made.clone();
        let mine = amount / callers + usize::from(caller < amount % callers);
        async move {
            for _ in 0..mine {
                let session = session(&host, String::new()).await;
                made.lock().expect("no caller panics").push(session);
            }
        }
    })
    .await;
    all_of(made)
}

/// A session: a root one, or that of a ticket.
async fn session(by: &Client, ticket: String) -> Client {
    let session = by.clone().with_token(enrolled(by, ticket).await);
    session.status().await.expect("its token is good");
    session
}

/// The token of a root session.
pub async fn token(host: &Client) -> Secret {
    enrolled(host, String::new()).await
}

async fn enrolled(by: &Client, ticket: String) -> Secret {
    let request = v1::EnrollRequest { agent: "agent".into(), ticket, ..Default::default() };
    let enrolled = by.enroll(request).await.expect("it is enrolled");
    Secret::read(&enrolled.token).expect("a token")
}

/// `amount` sessions that were sent work, by as few leads as may be.
pub async fn workers(channels: &[Client], amount: usize) -> Vec<Client> {
    // Each lead is a tree of its own, which has fewer open asks than there are timers.
    const A_LEAD: usize = 1_000;
    let mut leads = Vec::new();
    for _ in 0..amount.div_ceil(A_LEAD) {
        leads.push(session(&channels[leads.len() % channels.len()], String::new()).await);
    }
    let made = Arc::new(Mutex::new(Vec::with_capacity(amount)));
    let callers = CALLERS.min(amount);
    burst(callers, |caller| {
        let (made, leads) = (made.clone(), leads.clone());
        let mine = amount / callers + usize::from(caller < amount % callers);
        async move {
            for number in 0..mine {
                let lead = &leads[(caller + number * callers) / A_LEAD % leads.len()];
                let work = lead.send_work(v1::SendWorkRequest::default()).await.expect("sent");
                let worker = session(lead, work.ticket).await;
                made.lock().expect("no caller panics").push(worker);
            }
        }
    })
    .await;
    all_of(made)
}

/// Files an ask of 1.5 KB that nobody filed before.
pub async fn ask(session: &Client) -> v1::Ask {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let option = |label: &str, description: &str| v1::Option {
        label: label.into(),
        description: description.into(),
        recommended: false,
    };
    let question = v1::Question {
        id: "q1".into(),
        header: "Store".into(),
        question: format!("Which store shall number {number} have?"),
        options: vec![option("SQLite", "one file"), option("Postgres", "a service")],
        ..Default::default()
    };
    let context = words(SIZES.0 - 100);
    let request = v1::AskRequest { questions: vec![question], context, ..Default::default() };
    let receipt = session.ask(request).await.expect("it is filed");
    assert_eq!(receipt.result(), v1::Result::Accepted, "{}", receipt.message);
    receipt.ask.expect("a receipt has its ask")
}

/// As many asks of each of `sessions` as it may have open, by so many callers at once.
pub async fn file(sessions: &[Client], callers: usize) -> Vec<v1::Ask> {
    let filed = Arc::new(Mutex::new(Vec::with_capacity(sessions.len() * ASKS_A_SESSION)));
    burst(callers.min(sessions.len()), |caller| {
        let mine: Vec<_> = sessions.iter().skip(caller).step_by(callers).cloned().collect();
        let filed = filed.clone();
        async move {
            for session in mine {
                for _ in 0..ASKS_A_SESSION {
                    let ask = ask(&session).await;
                    filed.lock().expect("no caller panics").push(ask);
                }
            }
        }
    })
    .await;
    all_of(filed)
}

/// What many callers put together, once all are done.
pub fn all_of<T>(shared: Arc<Mutex<Vec<T>>>) -> Vec<T> {
    Arc::into_inner(shared).expect("all are done").into_inner().expect("no caller panics")
}

/// Answers it with 0.7 KB.
pub async fn answer(person: &Client, ask: &v1::Ask) {
    let text = Some(words(SIZES.1));
    let chosen = v1::Answer { selected: vec!["SQLite".into()], text, ..Default::default() };
    let request = v1::AnswerRequest {
        ask_id: ask.id.clone(),
        content_digest: ask.content_digest.clone(),
        answers: [("q1".to_owned(), chosen)].into(),
        ..Default::default()
    };
    let receipt = person.answer(request).await.expect("it is answered");
    assert_eq!(receipt.result(), v1::Result::Accepted, "{}", receipt.message);
}

/// A watch that has had its first message: it waits.
pub async fn watch(client: &Client, ask: &v1::Ask) -> Watch<Watched> {
    let mut watch = client.watch_ask(&ask.id, None);
    match watch.next().await {
        Some(Ok(Watched::Ask(_))) => watch,
        other => panic!("not an ask first, but {other:?}"),
    }
}

/// Waits for the event that settles it.
pub async fn woken(watch: &mut Watch<Watched>) {
    loop {
        match watch.next().await {
            Some(Ok(Watched::Event(event))) => {
                if event.ask.is_some_and(|ask| ask.outcome.is_some()) {
                    return;
                }
            }
            Some(Ok(_)) => {}
            other => panic!("cut: {other:?}"),
        }
    }
}

/// Polls until `is_so`; a bench may look often, and what it looks for has no event of its own.
pub async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    while !is_so().await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
