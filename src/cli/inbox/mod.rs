//! `askway inbox`: the open asks that wait on the caller; with `--wait`, blocks until there is one; with
//! `--watch`, goes on telling ([`follow`]).

mod follow;

use super::render::{human, json};
use super::{Context, Exit, Failure, Out, session, typed};
use crate::ask::{SessionId, WorkId};
use crate::client::Client;
use crate::grpc::convert::delivery_id;
use crate::grpc::v1;
use std::cmp::Reverse;
use std::time::{Duration, SystemTime};
use tokio::time::timeout;
use tokio_stream::StreamExt;

const HELP: &str = "\
Examples:
  askway inbox --all
  askway inbox --wait 10m --json
  askway inbox --watch --text cache
  askway inbox --outcome declined --since 2h
  askway inbox --all --text cache

With --wait it ends with 0 when something waits on you, with 5 when the time is up. An ask that awaits
its asker's reply is listed and does not count. --watch takes --asker, --tree, --text, --waiting-on and
--since, and none of the others: it tells of what is open. It says when the daemon is away, and when it
is back; and so of its store.";

/// Which asks, and whether to wait for one.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// List also what waits on others: on whom, at which hop, and when it comes to people
    #[arg(long)]
    all: bool,
    /// Block so long until something waits on you
    #[arg(long, value_name = "TIME", value_parser = typed::duration, conflicts_with_all = ["all", "Which"])]
    wait: Option<Duration>,
    /// Go on telling what comes, changes and leaves, a line each
    #[arg(long, conflicts_with_all = ["wait", "older", "settled", "outcome"])]
    watch: bool,
    /// Ring the terminal's bell when something comes
    #[arg(long, requires = "watch")]
    bell: bool,
    #[command(flatten)]
    which: Which,
}

/// Which of those.
#[derive(Debug, Default, clap::Args)]
#[group(multiple = true)]
struct Which {
    /// Only what this session asks: its id, or its first characters
    #[arg(long, value_name = "SESSION")]
    asker: Option<String>,
    /// Only what belongs to works under this root
    #[arg(long, value_name = "WORK")]
    tree: Option<WorkId>,
    /// Only what has this in its header, or in a question without one
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,
    /// Only what waits on this session (its id, or its first characters), or on this person
    #[arg(long, value_name = "WHO")]
    waiting_on: Option<String>,
    /// Only what was filed within this time
    #[arg(long, value_name = "TIME", value_parser = typed::duration)]
    since: Option<Duration>,
    /// Only what was filed before that: so long ago, or longer
    #[arg(long, value_name = "TIME", value_parser = typed::duration)]
    older: Option<Duration>,
    /// List all that is kept, also what is settled, whoever it waits on
    #[arg(long)]
    settled: bool,
    /// List what was settled in this way
    #[arg(long, value_enum, value_name = "KIND")]
    outcome: Option<Outcome>,
}

/// The ways an ask ends.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Outcome {
    Answered,
    Declined,
    Expired,
    Withdrawn,
    Abandoned,
}

impl From<Outcome> for v1::OutcomeKind {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Answered => v1::OutcomeKind::Answered,
            Outcome::Declined => v1::OutcomeKind::Declined,
            Outcome::Expired => v1::OutcomeKind::Expired,
            Outcome::Withdrawn => v1::OutcomeKind::Withdrawn,
            Outcome::Abandoned => v1::OutcomeKind::Abandoned,
        }
    }
}

/// Lists what waits, the most pressing first.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let past = args.which.settled || args.which.outcome.is_some();
    let scope = match args.all || past {
        true => v1::AskScope::Visible,
        false => v1::AskScope::WaitingOnMe,
    };
    let filter = filter(args.which, context).await?;
    if args.watch {
        // The first look is not patient: what cannot be read is no silence.
        context.client.find_asks(scope, filter.clone()).await?;
        return follow::follow(context, scope, filter, args.bell, out).await;
    }
    let narrowed = filter != v1::AskFilter::default();
    // The first look is not patient: a daemon that is away is never an empty inbox.
    let mut asks = context.client.find_asks(scope, filter).await?;
    if let (false, Some(limit)) = (asks.iter().any(counts), args.wait) {
        asks = match timeout(limit, first(&context.patient(), scope, out)).await {
            Ok(asks) => asks?,
            Err(_) => context.client.list_asks(scope).await?,
        };
    }
    let all = scope == v1::AskScope::Visible;
    list(&mut asks, all, narrowed, context.person(), out)?;
    // Of what was left out by a filter nothing is said.
    if out.look.terminal && !out.json && !all && !narrowed && !context.is_session {
        elsewhere(context, &asks, out).await?;
    }
    let arrived = out.flush()?;
    if arrived && !past && context.is_session {
        know(&context.client, &asks).await?;
    }
    Ok(match args.wait {
        Some(_) if !asks.iter().any(counts) => Exit::Open,
        Some(_) | None => Exit::Done,
    })
}

async fn filter(which: Which, context: &Context) -> Result<v1::AskFilter, Failure> {
    let asker_session_id = match which.asker {
        Some(id) => session::whole_id(&context.client, &id).await?,
        None => String::new(),
    };
    let (on_session, on_person) = match which.waiting_on {
        Some(who) if who.starts_with(SessionId::PREFIX) => {
            (session::whole_id(&context.client, &who).await?, String::new())
        }
        Some(who) => {
            is_known(&who, context).await?;
            (String::new(), who)
        }
        None => (String::new(), String::new()),
    };
    let ago = |length: Duration| SystemTime::now().checked_sub(length).map(Into::into);
    Ok(v1::AskFilter {
        settled: which.settled,
        outcome: which.outcome.map(v1::OutcomeKind::from).unwrap_or_default().into(),
        asker_session_id,
        tree_work_id: which.tree.map(|work| work.to_string()).unwrap_or_default(),
        waiting_on_session_id: on_session,
        waiting_on_person: on_person,
        create_time_from: which.since.and_then(ago),
        create_time_until: which.older.and_then(ago),
        text: which.text.unwrap_or_default(),
    })
}

/// Whether there is such a person: an empty list of whoever is nobody would look like one of somebody
/// who has nothing to do.
///
/// # Errors
///
/// When there is none. Where the caller may not ask who there is, nothing is said.
async fn is_known(who: &str, context: &Context) -> Result<(), Failure> {
    if context.person() == Some(who) {
        return Ok(());
    }
    let people = match context.as_host() {
        Ok(client) => client.list_people("").await.map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    match people {
        Ok(people) if people.iter().any(|person| person.name == who) => Ok(()),
        Ok(_) => {
            let message = format!(
                "nobody is called {}; a session is named by its id",
                crate::ask::text::brief(who)
            );
            Err(Failure::new(Exit::NotFound, "NOT_FOUND", message)
                .then("askway person ls, askway session ls"))
        }
        Err(failure) if failure.exit == Exit::Unavailable => Err(failure),
        Err(_) => Ok(()),
    }
}

/// Tells the daemon that the sender knows what was decided and found nobody: it has just been
/// printed.
async fn know(client: &Client, asks: &[v1::Ask]) -> Result<(), Failure> {
    for ask in asks {
        let Some(outcome) = &ask.outcome else { continue };
        let delivery_id = delivery_id(&ask.id, outcome.revision);
        let request = v1::AcknowledgeDeliveryRequest { delivery_id, ..Default::default() };
        client.acknowledge_delivery(request).await?;
    }
    Ok(())
}

/// Whether somebody asked has something to do: where the asker's word is next, it waits on nobody
/// else.
fn counts(ask: &v1::Ask) -> bool {
    !ask.awaiting_reply
}

/// Whether the daemon's store is away by this message, where that is news.
fn turned(is_stale: &mut bool, message: &v1::watch_inbox_response::Message) -> Option<bool> {
    use v1::watch_inbox_response::Message;
    let stale = matches!(message, Message::Idle(idle) if idle.stale);
    (std::mem::replace(is_stale, stale) != stale).then_some(stale)
}

/// The asks as soon as one counts. The watch only says when to look.
async fn first(client: &Client, scope: v1::AskScope, out: &Out) -> Result<Vec<v1::Ask>, Failure> {
    use v1::watch_inbox_response::Message;
    let mut watch = client.watch_inbox(scope);
    let mut is_stale = false;
    while let Some(message) = watch.next().await.transpose()? {
        if let Some(stale) = turned(&mut is_stale, &message) {
            out.note(match stale {
                true => "the daemon's store is away; still waiting",
                false => "the daemon's store is back",
            });
        }
        let total = match message {
            Message::Snapshot(snapshot) => snapshot.total,
            Message::Change(change) => change.total,
            Message::Idle(_) => 0,
        };
        if total > 0 {
            let asks = client.list_asks(scope).await?;
            if asks.iter().any(counts) {
                return Ok(asks);
            }
        }
    }
    Err(Failure::unexpected("the watch ended by itself; wait again").then("askway inbox"))
}

fn list(
    asks: &mut [v1::Ask],
    all: bool,
    narrowed: bool,
    you: Option<&str>,
    out: &mut Out,
) -> Result<(), Failure> {
    // They come oldest first, and stay so among their equals.
    asks.sort_by_key(|ask| Reverse(rank(ask.priority())));
    if out.json {
        asks.iter().try_for_each(|ask| out.line(&json::ask(ask)))?;
    } else {
        let inbox = human::Inbox { asks, you, all, now: human::now(), look: out.look };
        out.lines(&inbox.text())?;
    }
    match asks.first() {
        None if all => out.note("Nothing of that kind is here."),
        None if narrowed => {
            out.note("Nothing of that kind waits on you. All that does: askway inbox")
        }
        None => out.note("Nothing waits on you. What waits on others: askway inbox --all"),
        Some(ask) => {
            let id = human::short_id(&ask.id, asks);
            out.note(&format!("next: askway show {id}"));
        }
    }
    Ok(())
}

/// Says in a line what waits on others, and when the first of it comes to people.
async fn elsewhere(context: &Context, mine: &[v1::Ask], out: &Out) -> Result<(), Failure> {
    let all = context.client.list_asks(v1::AskScope::Visible).await?;
    let is_mine = |ask: &&v1::Ask| mine.iter().any(|mine| mine.id == ask.id);
    let others: Vec<_> = all.iter().filter(|ask| ask.outcome.is_none() && !is_mine(ask)).collect();
    if let Some(line) = human::elsewhere(&others, context.person(), human::now()) {
        out.note(&line);
    }
    Ok(())
}

fn rank(priority: v1::Priority) -> u8 {
    match priority {
        v1::Priority::Low => 0,
        v1::Priority::Normal | v1::Priority::Unspecified => 1,
        v1::Priority::High => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixture;

    #[test]
    fn the_most_pressing_comes_first_then_the_oldest() {
        use v1::Priority as P;
        let ask = |(id, priority): (&str, P)| v1::Ask {
            id: id.into(),
            priority: priority.into(),
            ..fixture::open()
        };
        let given = [("a", P::Low), ("b", P::Normal), ("c", P::High), ("d", P::Unspecified)];
        let mut asks: Vec<_> = given.into_iter().chain([("e", P::High)]).map(ask).collect();
        list(&mut asks, false, false, None, &mut Out::new(std::io::sink(), true)).expect("written");
        let order: String = asks.iter().map(|ask| ask.id.as_str()).collect();
        assert_eq!(order, "cebda");
    }

    #[test]
    fn an_ask_that_awaits_its_asker_is_nobodys_turn() {
        assert!(counts(&fixture::open()));
        assert!(!counts(&v1::Ask { awaiting_reply: true, ..fixture::spoken() }));
    }
}
