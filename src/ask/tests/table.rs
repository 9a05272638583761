//! Every command in every state. The two tables below are the whole of it: a command that has no
//! row does not pass, and a new command or ending does not compile until it stands here.
//!
//! A cell names the events in order (`A+B`), or the rejection (`!Why`), or `.` for nothing.

use super::*;

/// Open: on a session, on the last people, on people with others behind, claimed on a
/// session, on a session with a turn that a worker is handing over.
const OPEN: &str = "
                     session          people         more         claimed          leased
AnswerAgent asked    Answered         !NotSender     !NotSender   Answered         Answered
AnswerAgent asker    !NotSender       !NotSender     !NotSender   !NotSender       !NotSender
AnswerAgent chain    !NotSender       !NotSender     !NotSender   !NotSender       !NotSender
AnswerAgent namesake !NotSender       !NotSender     !NotSender   !NotSender       !NotSender
AnswerAgent stale    !Stale           !NotSender     !NotSender   !Stale           !Stale
AnswerAgent empty    !Invalid         !NotSender     !NotSender   !Invalid         !Invalid
AnswerAgent declined !StandingDecline !NotSender     !NotSender   !StandingDecline !StandingDecline
AnswerAgent lifted   Answered         !NotSender     !NotSender   Answered         Answered
Answer person        Answered         Answered       Answered     Answered         Answered
Answer stale         !Stale           !Stale         !Stale       !Stale           !Stale
Answer empty         !Invalid         !Invalid       !Invalid     !Invalid         !Invalid
Decline person       Declined         Declined       Declined     Declined         Declined
Decline stale        !Stale           !Stale         !Stale       !Stale           !Stale
Decline long         !Invalid         !Invalid       !Invalid     !Invalid         !Invalid
Escalate asked       Escalated        !NotSender     !NotSender   Escalated        Escalated
Escalate asker       !NotSender       !NotSender     !NotSender   !NotSender       !NotSender
Escalate person      Escalated        !LastHop       Escalated    Escalated        Escalated
Escalate ahead       !Invalid         !Invalid       !Invalid     !Invalid         !Invalid
Escalate long        !Invalid         !Invalid       !Invalid     !Invalid         !Invalid
Withdraw asker       Withdrawn        Withdrawn      Withdrawn    Withdrawn        Withdrawn
Withdraw asked       !NotAsker        !NotAsker      !NotAsker    !NotAsker        !NotAsker
Withdraw long        !Invalid         !Invalid       !Invalid     !Invalid         !Invalid
Say asked            Said             !NotSender     !NotSender   Said             Said
Say asker            !NotSender       !NotSender     !NotSender   !NotSender       !NotSender
Say person           Said             Said           Said         Said             Said
Say blank            !Invalid         !Invalid       !Invalid     !Invalid         !Invalid
Reply asker          Replied          Replied        Replied      Replied          Replied
Reply asked          !NotAsker        !NotAsker      !NotAsker    !NotAsker        !NotAsker
Reply unknown        !Invalid         !Invalid       !Invalid     !Invalid         !Invalid
MarkSeen person      Seen             Seen           Seen         Seen             Seen
MarkSeen stale       !Stale           !Stale         !Stale       !Stale           !Stale
Claim owner          Claimed          Claimed        Claimed      Claimed          Claimed
Claim ann            Claimed          Claimed        Claimed      !Claimed         Claimed
Claim over           Claimed          Claimed        Claimed      Claimed          Claimed
Claim long           !Invalid         !Invalid       !Invalid     !Invalid         !Invalid
Release owner        !NotClaimed      !NotClaimed    !NotClaimed  Released         !NotClaimed
Release ann          !NotClaimed      !NotClaimed    !NotClaimed  !Claimed         !NotClaimed
Lease asker          Leased           Leased         Leased       Leased           !Leased
Lease host           Leased           Leased         Leased       Leased           !Leased
Lease extend         !Leased          !Leased        !Leased      !Leased          Leased
Lease late           !Leased          !Leased        !Leased      !Leased          !Leased
Lease asked          !NotAsker        !NotAsker      !NotAsker    !NotAsker        !NotAsker
Lease stranger       !NotAsker        !NotAsker      !NotAsker    !NotAsker        !NotAsker
Lease long           !Invalid         !Invalid       !Invalid     !Invalid         !Invalid
Lease lines          !Invalid         !Invalid       !Invalid     !Invalid         !Invalid
Acknowledge turn     Acknowledged     Acknowledged   Acknowledged Acknowledged     !Leased
Acknowledge filed    !Unknown         !Unknown       !Unknown     !Unknown         !Leased
Acknowledge outcome  !Unknown         !Unknown       !Unknown     !Unknown         !Leased
Acknowledge asked    !NotAsker        !NotAsker      !NotAsker    !NotAsker        !NotAsker
Acknowledge host     Acknowledged     Acknowledged   Acknowledged Acknowledged     !Leased
Acknowledge leased   !Leased          !Leased        !Leased      !Leased          Acknowledged
Acknowledge late     !Leased          !Leased        !Leased      !Leased          !Leased
Noticed told         Noticed          Noticed        Noticed      Noticed          Noticed
Noticed failed       Noticed          Noticed        Noticed      Noticed          Noticed
SessionGone paused   .                .              .            .                .
SessionGone asker    Abandoned        Abandoned      Abandoned    Abandoned        Abandoned
SessionGone asked    Escalated        .              .            Escalated        Escalated
SessionGone other    .                .              .            .                .
PersonGone owner     PersonGone       PersonGone     PersonGone   PersonGone       PersonGone
PersonGone nobody    .                .              .            .                .
Tick early           .                .              .            .                .
Tick due             Escalated        TurnHoldLapsed Escalated    ClaimLapsed      Escalated
Tick late            Escalated        TurnHoldLapsed Escalated    ClaimLapsed      Escalated
Tick after-both      Escalated+TurnHoldLapsed TurnHoldLapsed Escalated+TurnHoldLapsed ClaimLapsed+TurnHoldLapsed Escalated+TurnHoldLapsed
";

/// Settled, each way; and an answer that was acknowledged, could not be delivered, or
/// that a worker is handing over.
const SETTLED: &str = "
                     answered      declined      expired       withdrawn     abandoned    undeliverable acked     taken
AnswerAgent asked    !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
AnswerAgent asker    !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
AnswerAgent chain    !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
AnswerAgent namesake !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
AnswerAgent stale    !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
AnswerAgent empty    !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
AnswerAgent declined !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
AnswerAgent lifted   !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Answer person        !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Answer stale         !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Answer empty         !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Decline person       !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Decline stale        !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Decline long         !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Escalate asked       !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Escalate asker       !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Escalate person      !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Escalate ahead       !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Escalate long        !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Withdraw asker       !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Withdraw asked       !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Withdraw long        !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Say asked            !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Say asker            !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Say person           !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Say blank            !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Reply asker          !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Reply asked          !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Reply unknown        !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
MarkSeen person      !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
MarkSeen stale       !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Claim owner          !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Claim ann            !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Claim over           !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Claim long           !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Release owner        !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Release ann          !Closed       !Closed       !Closed       !Closed       !Closed      !Closed       !Closed   !Closed
Lease asker          Leased        Leased        Leased        Leased        .            .             .         !Leased
Lease host           Leased        Leased        Leased        Leased        .            .             .         !Leased
Lease extend         !Leased       !Leased       !Leased       !Leased       !Leased      !Leased       !Leased   Leased
Lease late           !Leased       !Leased       !Leased       !Leased       !Leased      !Leased       !Leased   !Leased
Lease asked          !NotAsker     !NotAsker     !NotAsker     !NotAsker     !NotAsker    !NotAsker     !NotAsker !NotAsker
Lease stranger       !NotAsker     !NotAsker     !NotAsker     !NotAsker     !NotAsker    !NotAsker     !NotAsker !NotAsker
Lease long           !Invalid      !Invalid      !Invalid      !Invalid      !Invalid     !Invalid      !Invalid  !Invalid
Lease lines          !Invalid      !Invalid      !Invalid      !Invalid      !Invalid     !Invalid      !Invalid  !Invalid
Acknowledge turn     Acknowledged  Acknowledged  Acknowledged  Acknowledged  Acknowledged Acknowledged  .         !Leased
Acknowledge filed    !Unknown      !Unknown      !Unknown      !Unknown      !Unknown     !Unknown      !Unknown  !Leased
Acknowledge outcome  Acknowledged  Acknowledged  Acknowledged  .             .            .             .         !Leased
Acknowledge asked    !NotAsker     !NotAsker     !NotAsker     !NotAsker     !NotAsker    !NotAsker     !NotAsker !NotAsker
Acknowledge host     Acknowledged  Acknowledged  Acknowledged  Acknowledged  Acknowledged Acknowledged  .         !Leased
Acknowledge leased   !Leased       !Leased       !Leased       !Leased       Acknowledged Acknowledged  .         Acknowledged
Acknowledge late     !Leased       !Leased       !Leased       !Leased       Acknowledged Acknowledged  .         !Leased
Noticed told         Noticed       Noticed       Noticed       Noticed       Noticed      Noticed       Noticed   Noticed
Noticed failed       Noticed       Noticed       Noticed       Noticed       Noticed      Noticed       Noticed   Noticed
SessionGone paused   .             .             .             .             .            .             .         .
SessionGone asker    Undeliverable Undeliverable Undeliverable Undeliverable .            .             .         Undeliverable
SessionGone asked    .             .             .             .             .            .             .         .
SessionGone other    .             .             .             .             .            .             .         .
PersonGone owner     .             .             .             .             .            .             .         .
PersonGone nobody    .             .             .             .             .            .             .         .
Tick early           .             .             .             .             .            .             .         .
Tick due             .             .             .             .             .            .             .         .
Tick late            .             .             .             .             .            .             .         .
Tick after-both      .             .             .             .             .            .             .         .
";

macro_rules! names {
    ($($name:ident)*) => {
        /// Every command, by name.
        const COMMANDS: &[&str] = &[$(stringify!($name)),*];

        /// A new command does not compile until it is in the list, and then has no row.
        fn name(command: &Command) -> &'static str {
            match command {
                $(Command::$name { .. } => stringify!($name),)*
                // Decided as what it holds, which each cell of the tables tries.
                Command::InAgent(command) => name(command),
            }
        }
    };
}

names! {
    Ask AnswerAgent Answer Decline Escalate Withdraw Say Reply MarkSeen Claim Release Lease Acknowledge
    Noticed SessionGone PersonGone Tick
}

/// The column an ask belongs in: a new ending does not compile until it has one.
fn column(ask: &Ask) -> &'static str {
    match &ask.state {
        State::Open if ask.claim.is_some() => "claimed",
        State::Open if ask.lease.is_some() => "leased",
        State::Open if ask.waits_on_session(&lead()) => "session",
        State::Open if ask.hop.index + 1 < ask.route.hops.len() => "more",
        State::Open => "people",
        State::Settled { outcome, delivery } => match (&outcome.ending, delivery) {
            (Ending::Answered(_), Delivery::Unread) if ask.lease.is_some() => "taken",
            (Ending::Answered(_), Delivery::Unread) => "answered",
            (Ending::Answered(_), Delivery::Acknowledged(_)) => "acked",
            (Ending::Answered(_), Delivery::Undeliverable { .. }) => "undeliverable",
            (Ending::Declined, _) => "declined",
            (Ending::Expired(_), _) => "expired",
            (Ending::Withdrawn, _) => "withdrawn",
            (Ending::Abandoned, _) => "abandoned",
        },
    }
}

/// An ask in each state, with a person's turn in it that the asker has not read, expiring in an hour.
fn states() -> Vec<Ask> {
    let said = |hops: Vec<Hop>| {
        let ask = filed(hops, Some(mins(60)));
        then(&ask, &say(Actor::Person(owner())), after(Span::from_secs(1)))
    };
    let last = || to_people(&["owner"], None);
    let session = said(vec![to_session(lead(), 15), last()]);
    let people = said(vec![last()]);
    let more = said(vec![to_people(&["ann", "bob"], Some(mins(10))), last()]);
    let at = after(mins(1));
    let claimed = then(&session, &claim("owner", 5, false), at);
    let answered = then(&session, &answer_agent(&session, lead()), at);
    let revision = answered.revision;
    let acked = then(
        &answered,
        &Command::Acknowledge { by: Actor::Session(worker()), delivery: revision, lease: None },
        at,
    );
    let undeliverable = then(&answered, &gone(&answered, &worker(), ended()), at);
    let declined = then(&session, &decline(&session, "owner"), at);
    // Held for an hour by the unread turn, it has an hour less a second left after that.
    let expired = then(&people, &tick(&people), after(mins(61)));
    let expired = then(&expired, &tick(&expired), after(mins(121)));
    let leased = then(&session, &lease(1, None), at);
    let taken = then(&answered, &lease(1, None), at);
    let withdrawn = then(&session, &withdraw(), at);
    let abandoned = then(&session, &gone(&session, &worker(), ended()), at);
    vec![
        session,
        people,
        more,
        claimed,
        leased,
        answered,
        declined,
        expired,
        withdrawn,
        abandoned,
        undeliverable,
        acked,
        taken,
    ]
}

/// A worker of the asker's takes what is unread, or has it for longer.
fn lease(name: u8, extend: Option<u8>) -> Command {
    Command::Lease {
        by: Actor::Session(worker()),
        lease: lease_id(name),
        holder: "mailer".into(),
        length: limits::LEASE,
        extend: extend.map(lease_id),
    }
}

/// An acknowledgement of the person's turn, with this lease.
fn acknowledge(by: Actor, lease: Option<u8>) -> Command {
    Command::Acknowledge { by, delivery: 2, lease: lease.map(lease_id) }
}

/// The command of a row about a lease or a standing no.
fn lease_or_no(row: &str, ask: &Ask) -> Command {
    let by_host = || Actor::Host("local".parse().unwrap());
    let mut command = lease(2, None);
    let Command::Lease { by, holder, length, .. } = &mut command else { unreachable!() };
    match row {
        "Lease asker" => {}
        "Lease host" => *by = by_host(),
        "Lease extend" => return lease(2, Some(1)),
        "Lease late" => return lease(2, Some(9)),
        "Lease asked" => *by = Actor::Session(lead()),
        "Lease stranger" => *by = Actor::Host("another".parse().unwrap()),
        "Lease long" => *length = limits::LEASE_MAX + Span::from_millis(1),
        "Lease lines" => *holder = "one\ntwo".into(),
        "Acknowledge host" => return acknowledge(by_host(), None),
        "Acknowledge leased" => return acknowledge(by_host(), Some(1)),
        "Acknowledge late" => return acknowledge(by_host(), Some(9)),
        "AnswerAgent declined" => return answer_despite(ask, mins(10)),
        "AnswerAgent lifted" => return answer_despite(ask, mins(2)),
        _ => panic!("no command is known for the row `{row}`"),
    }
    command
}

/// The lead answers, where a person's no stands until so long after filing.
fn answer_despite(ask: &Ask, until: Span) -> Command {
    let standing = Some(standing_no(ask, FILED + until));
    Command::AnswerAgent { by: lead(), digest: ask.digest, answers: answers("SQLite"), standing }
}

/// The command a row is about, and when it comes.
fn command(row: &str, ask: &Ask) -> (Command, Now) {
    let hop = ask.hop.index;
    let by_lead = Actor::Session(lead());
    let by_owner = Actor::Person(owner());
    let long = || Some("x".repeat(limits::NOTE_BYTES + 1));
    let stale = Content { questions: vec![], context: String::new() }.digest();
    let (digest, idle) = (ask.digest, awake(ask));
    let outcome = ask.outcome().map_or(u64::MAX, |outcome| outcome.revision);
    let due = ask.deadline().expect("each state of the table has a deadline");
    let mut now = Now::at(FILED + mins(2));
    let command = match row {
        "AnswerAgent asked" => answer_agent(ask, lead()),
        "AnswerAgent asker" => answer_agent(ask, worker()),
        "AnswerAgent chain" => answer_agent(ask, chief()),
        "AnswerAgent namesake" => answer_agent(ask, other_lead()),
        "AnswerAgent stale" => Command::AnswerAgent {
            by: lead(),
            digest: stale,
            answers: answers("SQLite"),
            standing: None,
        },
        "AnswerAgent empty" => {
            Command::AnswerAgent { by: lead(), digest, answers: Answers::new(), standing: None }
        }
        "Answer person" => answer(ask, "ann"),
        "Answer stale" => Command::Answer {
            assurance: Assurance::Local,
            by: owner(),
            digest: stale,
            answers: answers("SQLite"),
        },
        "Answer empty" => Command::Answer {
            assurance: Assurance::Local,
            by: owner(),
            digest,
            answers: Answers::new(),
        },
        "Decline person" => decline(ask, "ann"),
        "Decline stale" => {
            Command::Decline { assurance: Assurance::Local, by: owner(), digest: stale, note: None }
        }
        "Decline long" => {
            Command::Decline { assurance: Assurance::Local, by: owner(), digest, note: long() }
        }
        "Escalate asked" => escalate(ask, by_lead, hop),
        "Escalate asker" => escalate(ask, Actor::Session(worker()), hop),
        "Escalate person" => escalate(ask, by_owner, hop),
        "Escalate ahead" => escalate(ask, by_owner, hop + 1),
        "Escalate long" => {
            Command::Escalate { by: by_owner, hop, reason: long(), idle, assurance: None }
        }
        "Withdraw asker" => withdraw(),
        "Withdraw asked" => Command::Withdraw { by: lead(), note: None },
        "Withdraw long" => Command::Withdraw { by: worker(), note: long() },
        "Say asked" => say(by_lead),
        "Say asker" => say(Actor::Session(worker())),
        "Say person" => say(Actor::Person(person("ann"))),
        "Say blank" => Command::Say { by: by_owner, text: " \n\u{200b}".into(), assurance: None },
        "Reply asker" => reply("2 GB", &["Redis", "SQLite"]),
        "Reply asked" => Command::Reply {
            by: lead(),
            text: "2 GB".into(),
            options: BTreeMap::new(),
            standing: None,
        },
        "Reply unknown" => {
            let options = BTreeMap::from([("nothing".into(), vec![option("a")])]);
            Command::Reply { by: worker(), text: "2 GB".into(), options, standing: None }
        }
        "MarkSeen person" => Command::MarkSeen { by: owner(), digest },
        "MarkSeen stale" => Command::MarkSeen { by: owner(), digest: stale },
        "Claim owner" => claim("owner", 5, false),
        "Claim ann" => claim("ann", 5, false),
        "Claim over" => claim("ann", 5, true),
        "Claim long" => claim("owner", 16, false),
        "Release owner" => Command::Release { by: owner() },
        "Release ann" => Command::Release { by: person("ann") },
        "Acknowledge turn" => {
            Command::Acknowledge { by: Actor::Session(worker()), delivery: 2, lease: None }
        }
        "Acknowledge filed" => {
            Command::Acknowledge { by: Actor::Session(worker()), delivery: 1, lease: None }
        }
        "Acknowledge outcome" => {
            Command::Acknowledge { by: Actor::Session(worker()), delivery: outcome, lease: None }
        }
        "Acknowledge asked" => {
            Command::Acknowledge { by: Actor::Session(lead()), delivery: 2, lease: None }
        }
        "Noticed told" => notices::told(ask, NoticeWhy::Came),
        "Noticed failed" => notices::failed(ask, NoticeWhy::Came),
        "SessionGone paused" => gone(ask, &worker(), Gone::Paused),
        "SessionGone asker" => gone(ask, &worker(), ended()),
        "SessionGone asked" => gone(ask, &lead(), ended()),
        "SessionGone other" => gone(ask, &chief(), ended()),
        "PersonGone owner" => Command::PersonGone { person: owner(), idle: Vec::new() },
        "PersonGone nobody" => Command::PersonGone { person: person("nobody"), idle: Vec::new() },
        "Tick early" | "Tick due" | "Tick late" | "Tick after-both" => {
            now = match row {
                "Tick early" => Now::at(Timestamp::from_millis(due.as_millis() - 1)),
                "Tick due" => Now::at(due),
                "Tick late" => Now::at(due + mins(1)),
                _ => Now::at(due + mins(60)),
            };
            tick(ask)
        }
        _ => lease_or_no(row, ask),
    };
    (command, now)
}

/// What `decide` said, as a cell spells it.
fn cell(said: &Result<Vec<Event>, Rejection>) -> String {
    let first_word = |text: String| {
        text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
    };
    match said {
        Err(why) => format!("!{}", first_word(format!("{why:?}"))),
        Ok(events) if events.is_empty() => ".".to_owned(),
        Ok(events) => {
            let names = events.iter().map(|event| first_word(format!("{:?}", event.kind)));
            names.collect::<Vec<_>>().join("+")
        }
    }
}

/// A table as rows of (row, column, cell).
fn parse(table: &str) -> Vec<(String, String, String)> {
    let mut lines = table.lines().filter(|line| !line.trim().is_empty());
    let columns: Vec<_> = lines.next().unwrap().split_whitespace().collect();
    let mut cells = Vec::new();
    for line in lines {
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words.len(), columns.len() + 2, "a cell is missing in `{line}`");
        let row = words[..2].join(" ");
        for (column, cell) in columns.iter().zip(&words[2..]) {
            cells.push((row.clone(), (*column).to_owned(), (*cell).to_owned()));
        }
    }
    cells
}

#[test]
fn every_command_in_every_state() {
    let states = states();
    let mut wrong = Vec::new();
    for (row, column_name, expected) in [OPEN, SETTLED].into_iter().flat_map(parse) {
        let found = states.iter().find(|ask| column(ask) == column_name);
        let ask = found.unwrap_or_else(|| panic!("no ask is known in the state `{column_name}`"));
        let (command, now) = command(&row, ask);
        assert_eq!(row.split(' ').next(), Some(name(&command)), "the row `{row}` is misnamed");
        let before = ask.clone();
        let said = decide(Some(ask), &command, now);
        assert_eq!(*ask, before);
        if cell(&said) != expected {
            wrong.push(format!("{row} / {column_name}: {} instead of {expected}", cell(&said)));
        }
        // Typed in an agent's environment it is the same, and recorded as that.
        let in_agent = decide(Some(ask), &Command::InAgent(Box::new(command)), now);
        let marked = |event: &Event| Event { in_agent: true, ..event.clone() };
        assert_eq!(
            in_agent,
            said.clone().map(|events| events.iter().map(marked).collect()),
            "{row}"
        );
        let mut ask = ask.clone();
        for event in said.unwrap_or_default() {
            let next = evolve(Some(ask.clone()), &event);
            follows(&ask, &event, &next, now);
            ask = next;
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_command_has_a_row_in_both_tables_and_every_state_a_column() {
    for table in [OPEN, SETTLED] {
        let rows: Vec<_> = parse(table).into_iter().map(|(row, ..)| row).collect();
        // An id is made for one filing, so `Ask` never meets an ask: the test below.
        for command in COMMANDS.iter().filter(|command| **command != "Ask") {
            let has = rows.iter().any(|row| row.split(' ').next() == Some(command));
            assert!(has, "{command} has no row");
        }
    }
    let columns: Vec<_> =
        [OPEN, SETTLED].into_iter().flat_map(parse).map(|(_, column, _)| column).collect();
    for ask in states() {
        assert!(columns.iter().any(|known| known == column(&ask)), "{} is missing", column(&ask));
    }
}

#[test]
fn an_id_is_filed_once_and_nothing_but_ask_makes_one() {
    for ask in states() {
        let again = Command::Ask(Box::new(filing(vec![to_people(&["owner"], None)], None)));
        let filed = std::panic::catch_unwind(|| decide(Some(&ask), &again, after(mins(2))));
        assert!(filed.is_err(), "{} was filed again", column(&ask));
    }
    let ask = &states()[0];
    for (row, ..) in parse(OPEN) {
        let (command, now) = command(&row, ask);
        assert_eq!(decide(None, &command, now), Err(Rejection::Unknown), "{row}");
    }
}

/// What the ask must be after each event: said here a second time, from the design.
fn follows(before: &Ask, event: &Event, ask: &Ask, now: Now) {
    assert_eq!((event.time, ask.revision), (now.time, before.revision + 1));
    if event.kind.settles() {
        let outcome = ask.outcome().expect("it is settled");
        assert_eq!((outcome.time, outcome.revision), (now.time, ask.revision));
        assert_eq!(ask.claim, None);
        assert_eq!(ask.waiting_on(), None);
    } else {
        assert_eq!(ask.outcome(), before.outcome());
    }
    match &event.kind {
        EventKind::Filed(_) => panic!("filed twice"),
        EventKind::Escalated(moved) => {
            assert!(ask.hop.index > before.hop.index);
            assert_eq!((ask.hop.index, ask.hop.since), (moved.hop, now.time));
            assert_eq!(ask.visited.last(), Some(&moved.hop));
            let timeout = ask.route.hops[moved.hop].timeout;
            assert_eq!(ask.hop.deadline, timeout.map(|timeout| now.time + timeout));
        }
        EventKind::Answered { by, answers, .. } => {
            ends(ask, &Ending::Answered(answers.clone()), by)
        }
        EventKind::Declined { by, note, .. } => {
            ends(ask, &Ending::Declined, &Actor::Person(by.clone()));
            assert_eq!(ask.outcome().map(|outcome| &outcome.note), Some(note));
        }
        EventKind::Withdrawn { by, .. } => {
            ends(ask, &Ending::Withdrawn, &Actor::Session(by.clone()));
        }
        EventKind::Expired { answers } => {
            ends(ask, &Ending::Expired(answers.clone()), &Actor::Timer);
        }
        EventKind::DefaultHeld { why, until } => {
            let clock = until.map_or(ExpiryClock::Waits(*why), ExpiryClock::Runs);
            assert_eq!(ask.expiry.map(|expiry| expiry.clock), Some(clock));
        }
        EventKind::PersonGone { person } => {
            assert!(ask.route.hops.iter().all(|hop| !hop.to.has(person)));
        }
        EventKind::SenderTold { by } => {
            assert_eq!((ask.chain.first(), ask.orphan_of()), (Some(by), None));
        }
        EventKind::TurnHoldLapsed => assert_eq!(ask.turn_hold, None),
        EventKind::Leased { lease, until, .. } => {
            let held = ask.lease.as_ref().map(|held| (held.id, held.until));
            assert_eq!(held, Some((*lease, *until)));
        }
        EventKind::Abandoned { by } => ends(ask, &Ending::Abandoned, by),
        EventKind::Said { by, text, .. } => {
            let turn = ask.turns.last().unwrap();
            assert_eq!((&turn.by, &turn.text, turn.unread), (by, text, true));
            assert_eq!((&ask.hop, ask.expiry), (&before.hop, before.expiry), "a timer moved");
        }
        EventKind::Replied { .. } => {
            assert!(!ask.turns.last().unwrap().unread);
            assert_eq!(ask.hop, before.hop, "the route timer moved");
            assert_ne!(ask.digest, before.digest);
            assert_eq!(ask.digest, ask.content.digest());
            // The turn that is unread in each of these states holds it.
            let anew = Some(ExpiryClock::Stands(mins(60)));
            assert_eq!(ask.expiry.map(|expiry| expiry.clock), anew);
        }
        EventKind::Seen { by, digest } => {
            assert!(ask.seen.iter().any(|seen| seen.by == *by && seen.digest == *digest));
        }
        EventKind::Claimed { by, lapse, .. } => {
            let claim = ask.claim.as_ref().unwrap();
            assert_eq!((&claim.by, claim.lapse, ask.deadline()), (by, *lapse, Some(*lapse)));
        }
        EventKind::Released { .. } | EventKind::ClaimLapsed { .. } => {
            assert_eq!(ask.claim, None);
            // Claimed one minute in, of fifteen; the unread turn holds the expiry on.
            assert_eq!(ask.hop.deadline, Some(now.time + mins(14)));
            assert_eq!(ask.expiry, before.expiry);
        }
        EventKind::Acknowledged { delivery } => {
            let read = |turn: &Turn| turn.revision > *delivery || !turn.unread;
            assert!(ask.turns.iter().all(read));
            if ask.outcome().is_some_and(|outcome| outcome.revision == *delivery) {
                assert_eq!(ask.delivery(), Some(&Delivery::Acknowledged(now.time)));
            } else {
                assert_eq!(ask.delivery(), before.delivery());
            }
        }
        EventKind::Noticed { failure, .. } => notices::follows(ask, failure.as_deref(), now),
        EventKind::Undeliverable { .. } => {
            assert!(matches!(ask.delivery(), Some(Delivery::Undeliverable { .. })));
            assert!(!ask.is_unread());
        }
    }
}

fn ends(ask: &Ask, ending: &Ending, by: &Actor) {
    let outcome = ask.outcome().unwrap();
    assert_eq!((&outcome.ending, &outcome.by), (ending, by));
    let delivered = match ending {
        Ending::Withdrawn => matches!(ask.delivery(), Some(Delivery::Acknowledged(_))),
        Ending::Abandoned => matches!(ask.delivery(), Some(Delivery::Undeliverable { .. })),
        Ending::Answered(_) | Ending::Declined | Ending::Expired(_) => {
            ask.delivery() == Some(&Delivery::Unread)
        }
    };
    assert!(delivered, "{:?}", ask.delivery());
}
