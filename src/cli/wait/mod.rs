//! `askway wait`: blocks until an ask is settled, or somebody asked speaks to its asker. What it
//! hands to the asker's session it acknowledges, once that is written and flushed.

mod progress;

use super::look::Look;
use super::render::human;
use super::{Context, Exit, Failure, Out, context, typed};
use crate::ask::text::visible_line;
use crate::client::{Client, Watched};
use crate::grpc::convert::delivery_id;
use crate::grpc::v1;
use progress::Progress;
use std::time::Duration;
use tokio::time::timeout;
use tokio_stream::StreamExt;

const HELP: &str = "\
Examples:
  askway wait ask_k3f9 --for 10m
  askway wait k3f9 --json

Ends with 0 answered, 3 declined, 4 expired, withdrawn or abandoned, 5 the time is up, 10 somebody
spoke: reply, and wait again.";

/// Which ask, and for how long.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The ask's id, or its first characters
    id: String,
    /// Wait no longer than this
    #[arg(long = "for", value_name = "TIME", value_parser = typed::duration)]
    limit: Option<Duration>,
}

/// Waits for news of an ask and prints it.
pub(super) async fn run(args: Args, context: &Context, out: &mut Out) -> Result<Exit, Failure> {
    let ask = context.read(&args.id).await?;
    let is_asker = context.is_asker(&ask).await?;
    until_news(context, out, ask, is_asker, args.limit).await
}

/// Waits from `ask` on until there is something to tell, tells it, and acknowledges it where the
/// caller is its asker.
pub(super) async fn until_news(
    context: &Context,
    out: &mut Out,
    ask: v1::Ask,
    is_asker: bool,
    limit: Option<Duration>,
) -> Result<Exit, Failure> {
    let reader = Reader { is_asker, from: ask.revision };
    let id = ask.id.clone();
    let client = context.patient();
    let mut progress = Progress::new(context.person());
    let next = next(&client, ask, reader, &mut progress);
    let ask = match limit {
        None => next.await?,
        Some(limit) => match timeout(limit, next).await {
            Ok(ask) => ask?,
            // Whatever came at the last moment counts; and a daemon that is away is not "still open".
            Err(_) => context.read(&id).await?,
        },
    };
    drop(progress);
    tell(context, out, &ask, reader).await
}

/// Who waits, and from which revision on.
#[derive(Clone, Copy, Debug)]
struct Reader {
    is_asker: bool,
    from: u64,
}

/// What there is to tell of an ask.
#[derive(Debug, PartialEq)]
enum News<'a> {
    /// It is settled; these turns go before the outcome.
    Settled(Vec<&'a v1::Turn>),
    /// These turns.
    Spoken(Vec<&'a v1::Turn>),
    /// It is open, and nobody has spoken.
    Nothing,
}

impl<'a> News<'a> {
    /// The asker is told every turn it has not acknowledged; others only those that came while they
    /// waited, since they cannot acknowledge and would be told the same for ever.
    fn of(ask: &'a v1::Ask, reader: Reader) -> Self {
        let new = |turn: &&v1::Turn| match reader.is_asker {
            true => turn.unread,
            false => turn.revision > reader.from && !is_by_asker(turn, ask),
        };
        let turns: Vec<_> = ask.turns.iter().filter(new).collect();
        match (&ask.outcome, turns.is_empty()) {
            (Some(_), _) => News::Settled(turns),
            (None, false) => News::Spoken(turns),
            (None, true) => News::Nothing,
        }
    }
}

fn is_by_asker(turn: &v1::Turn, ask: &v1::Ask) -> bool {
    match turn.by.as_ref().and_then(|by| by.who.as_ref()) {
        Some(v1::actor::Who::Session(session)) => ask.asker.as_ref() == Some(session),
        Some(_) | None => false,
    }
}

/// The ask as soon as there is something to tell. Events only say when to look; what is told is read
/// whole. The watch re-attaches by itself when the daemon comes back.
async fn next(
    client: &Client,
    mut ask: v1::Ask,
    reader: Reader,
    progress: &mut Progress,
) -> Result<v1::Ask, Failure> {
    while News::of(&ask, reader) == News::Nothing {
        let mut watch = client.watch_ask(&ask.id, Some(ask.revision));
        progress.tell(&ask);
        loop {
            let item = tokio::select! {
                item = watch.next() => item.transpose()?,
                () = progress.ticked() => {
                    progress.tell(&ask);
                    continue;
                }
            };
            match item {
                Some(Watched::Event(event)) if tells(event.kind()) => break,
                Some(Watched::End) => break,
                Some(Watched::Reconnecting) if progress.is_seen() => {
                    progress.away();
                    let now = context::read(client, &ask.id).await?;
                    progress.back(&now);
                    ask = now;
                }
                Some(Watched::Event(_)) if progress.is_seen() => {
                    ask = context::read(client, &ask.id).await?;
                    progress.back(&ask);
                }
                Some(Watched::Stale) => progress.stale(),
                Some(Watched::Current) => progress.back(&ask),
                Some(Watched::Ask(_) | Watched::Event(_) | Watched::Reconnecting) => {}
                None => {
                    let message = "the watch ended and the ask did not; wait again";
                    let id = human::typed_id(&ask);
                    return Err(Failure::unexpected(message).then(format!("askway wait {id}")));
                }
            }
        }
        ask = context::read(client, &ask.id).await?;
    }
    Ok(ask)
}

/// Whether an event can be news to whoever waits. One that this program does not know may be.
fn tells(kind: v1::EventKind) -> bool {
    use v1::EventKind as K;
    match kind {
        K::Answered | K::Declined | K::Withdrawn | K::Expired | K::Abandoned | K::Said => true,
        K::Unspecified => true,
        K::Filed | K::Escalated | K::Replied | K::Seen | K::Claimed | K::Released => false,
        K::ClaimLapsed | K::Acknowledged | K::Undeliverable => false,
        K::DefaultHeld | K::TurnHoldLapsed | K::Leased | K::SenderTold => false,
        K::Noticed | K::NoticeFailed => false,
        K::PersonGone => false,
    }
}

async fn tell(
    context: &Context,
    out: &mut Out,
    ask: &v1::Ask,
    reader: Reader,
) -> Result<Exit, Failure> {
    let news = News::of(ask, reader);
    let look = out.look;
    out.ask(ask, |ask| for_people(ask, &news, human::now(), look))?;
    let arrived = out.flush()?;
    let id = human::typed_id(ask);
    let (exit, delivery) = match &news {
        News::Settled(_) => (Exit::of_ask(ask), unread_outcome(ask)),
        News::Spoken(turns) => {
            out.note(&match reader.is_asker {
                true => format!("next: askway reply {id} TEXT, then askway wait {id}"),
                false => format!("next: askway wait {id}"),
            });
            (Exit::Spoken, turns.last().map(|turn| turn.revision))
        }
        News::Nothing => {
            out.note(&format!("next: askway wait {id}"));
            (Exit::Open, None)
        }
    };
    if let Some(revision) = delivery.filter(|_| arrived && reader.is_asker) {
        let request = v1::AcknowledgeDeliveryRequest {
            lease_token: String::new(),
            request_id: String::new(),
            delivery_id: delivery_id(&ask.id, revision),
        };
        // It has been told, and will be offered again: at least once is what is promised.
        let why = match context.client.acknowledge_delivery(request).await {
            Ok(receipt) if receipt.result() == v1::Result::Refused => Some(receipt.message),
            Ok(_) => None,
            Err(error) => Some(error.message),
        };
        if let Some(why) = why {
            let why = visible_line(&why);
            out.note(&format!("not acknowledged, so it will be told again: {why}"));
        }
    }
    Ok(exit)
}

/// The revision of the outcome, where it is still unread.
fn unread_outcome(ask: &v1::Ask) -> Option<u64> {
    let unread = ask.delivery.as_ref().is_some_and(|d| d.state() == v1::DeliveryState::Unread);
    ask.outcome.as_ref().filter(|_| unread).map(|outcome| outcome.revision)
}

fn for_people(ask: &v1::Ask, news: &News<'_>, now: i64, look: Look) -> String {
    let (News::Settled(turns) | News::Spoken(turns)) = news else {
        return format!("{} is still open, waiting on {}", ask.id, human::waited_on(ask));
    };
    let mut parts: Vec<_> = turns.iter().map(|turn| human::turn(turn, now, look)).collect();
    if ask.outcome.is_some() {
        parts.push(human::outcome(ask, now, look));
    }
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::fixture;

    const ASKER: Reader = Reader { is_asker: true, from: 2 };
    const OTHER: Reader = Reader { is_asker: false, from: 1 };

    #[test]
    fn an_unread_turn_is_news_to_the_asker_whenever_it_came() {
        let spoken = fixture::spoken();
        assert_eq!(News::of(&spoken, ASKER), News::Spoken(vec![&spoken.turns[0]]));
        let mut read = spoken.clone();
        read.turns[0].unread = false;
        assert_eq!(News::of(&read, ASKER), News::Nothing);
        assert_eq!(News::of(&fixture::open(), ASKER), News::Nothing);
    }

    #[test]
    fn others_are_told_what_came_while_they_waited() {
        let mut spoken = fixture::spoken();
        assert_eq!(News::of(&spoken, OTHER), News::Spoken(vec![&spoken.turns[0]]));
        let late = Reader { from: 2, ..OTHER };
        assert_eq!(News::of(&spoken, late), News::Nothing);
        let asker = spoken.asker.clone().expect("an asker");
        spoken.turns[0].by = Some(v1::Actor { who: Some(v1::actor::Who::Session(asker)) });
        assert_eq!(News::of(&spoken, OTHER), News::Nothing, "the asker's own words");
    }

    #[test]
    fn rule_11_an_outcome_comes_after_the_unread_turns_before_it() {
        let mut settled = fixture::settled(v1::OutcomeKind::Answered);
        settled.turns = fixture::spoken().turns;
        let mut second = settled.turns[0].clone();
        second.text = "And how wide?".into();
        settled.turns.push(second);
        let news = News::of(&settled, ASKER);
        assert_eq!(news, News::Settled(settled.turns.iter().collect()));
        let text = for_people(&settled, &news, 0, Look::PLAIN);
        let places = ["How many rows?", "And how wide?", "answered by lead"];
        let places: Vec<_> = places.iter().map(|words| text.find(words)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    }

    #[test]
    fn an_open_ask_says_on_whom_it_waits() {
        let open = fixture::open();
        let text = for_people(&open, &News::of(&open, ASKER), 0, Look::PLAIN);
        assert_eq!(text, format!("{} is still open, waiting on lead", fixture::ID));
    }

    #[test]
    fn an_outcome_is_acknowledged_once() {
        let mut settled = fixture::settled(v1::OutcomeKind::Answered);
        assert_eq!(unread_outcome(&settled), Some(3));
        let delivery = settled.delivery.as_mut().expect("settled");
        delivery.state = v1::DeliveryState::Acknowledged.into();
        assert_eq!(unread_outcome(&settled), None);
        assert_eq!(unread_outcome(&fixture::open()), None);
    }
}
