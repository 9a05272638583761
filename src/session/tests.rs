//! Every command in every standing, what a ticket is good for, and what the facts say of a hop.

use super::*;
use crate::ask::{
    Actor, Content, Hop, Idle, Now, Route, SessionId, SessionRef, Span, Target, Timestamp, WorkId,
    limits,
};

const START: Timestamp = Timestamp::from_millis(1_796_000_000_000);

fn now() -> Now {
    Now::at(START + Span::from_mins(1))
}

fn hash(number: u8) -> SecretHash {
    Secret::new(Kind::Session, [number; 32]).hash()
}

const TOKEN: u8 = 1;
const HOLD: u8 = 2;

fn me() -> Actor {
    Actor::Host("me".parse().unwrap())
}

fn session(number: u8) -> Session {
    enroll(
        SessionId::new(START, [number; 6]),
        Namespace::default(),
        "worker".parse().unwrap(),
        "me".parse().unwrap(),
        None,
        Manner::default(),
        (hash(TOKEN), hash(HOLD)),
        Now::at(START),
    )
}

fn ask(number: u8) -> AskId {
    AskId::new(START, [number; 6])
}

fn work(number: u8) -> WorkId {
    WorkId::new(START, [number; 6])
}

fn then(session: &Session, command: &Command) -> Session {
    let next = decide(session, command, now()).unwrap();
    next.unwrap_or_else(|| panic!("{command:?} changed nothing"))
}

/// Active and never held, held; paused by somebody, or because its hold was lost; asleep, so that its
/// host would wake it; ended.
/// A cell: what changes, in words of [`change`]; `.` for nothing; `!Why` for a denial.
const TABLE: &str = "
                 active            held              paused            lost             asleep            ended
Hold holder      held              .                 !Paused           active           !Paused           !Ended
Hold other       !NotHolder        !NotHolder        !Paused           !NotHolder       !Paused           !Ended
LoseHold by      .                 lost+sweep        .                 .                .                 .
Pause by         paused+sweep+stay paused+sweep+stay .                 paused+stay      .                 !Ended
Resume by        !Active           !Active           active+stay+token active+stay+token+loose active+stay+token !Ended
End by           ended+sweep+stay  ended+sweep+stay  ended+sweep+stay  ended+sweep+stay ended+sweep+stay  .
Revoke by        paused+sweep+stay+tickets paused+sweep+stay+tickets sweep+stay+tickets paused+sweep+stay+tickets sweep+stay+tickets sweep+tickets
RevokedBelow by  .                 .                 .                 .                .                 .
UseToken its     used              used              used              used             used              !Ended
UseToken old     .                 .                 .                 .                .                 !Ended
MintToken unused token             token             token             token            token             !Ended
TakeWork one     works             works             !Paused           !Paused          !Paused           !Ended
Open one         asks              asks              !Paused           !Paused          !Paused           !Ended
Settle its       asks              asks              asks              asks             asks              asks
Settle other     .                 .                 .                 .                .                 .
Swept by         .                 .                 .                 .                .                 .
Renew soon       .                 .                 .                 .                .                 .
Renew later      renewed           .                 .                 .                .                 .
Unwatched by     .                 .                 .                 .                sweep             .
Tick early       .                 .                 .                 .                .                 .
Tick day         lost+sweep        .                 .                 .                .                 .
Tick month-early lost+sweep        .                 .                 .                .                 .
Tick month       lost+sweep        .                 ended+sweep+stay  ended+sweep+stay ended+sweep+stay  .
";

macro_rules! names {
    ($($name:ident)*) => {
        const COMMANDS: &[&str] = &[$(stringify!($name)),*];

        /// A new command does not compile until it is in the list, and then has no row.
        fn name(command: &Command) -> &'static str {
            match command { $(Command::$name { .. } => stringify!($name),)* }
        }
    };
}

names! { Hold LoseHold Pause Resume End UseToken MintToken TakeWork Open Settle Swept Renew Unwatched Tick Revoke RevokedBelow }

/// A session in each standing with one open ask, its sweep done: a new standing does not compile
/// until it has a column.
fn standing(column: &str) -> Session {
    let active = then(&session(1), &Command::Open { ask: ask(1) });
    let held = then(&active, &Command::Hold { secret: hash(HOLD) });
    let swept = |session: Session| {
        let (stay, standing) = (session.stay, session.standing.clone());
        then(&session, &Command::Swept { stay, standing })
    };
    let made = match column {
        "active" => active,
        "held" => held,
        "paused" => swept(then(&active, &Command::Pause)),
        "asleep" => swept(then(&Session { wakeable: true, ..active.clone() }, &Command::Pause)),
        "lost" => swept(then(&held, &Command::LoseHold)),
        "ended" => swept(then(&held, &Command::End { by: me() })),
        _ => panic!("no session is known that is `{column}`"),
    };
    let named = match &made.standing {
        Standing::Active if made.held => "held",
        Standing::Active => "active",
        Standing::Paused { .. } if made.is_asleep() => "asleep",
        Standing::Paused { lost_hold: true, .. } => "lost",
        Standing::Paused { lost_hold: false, .. } => "paused",
        Standing::Ended { .. } => "ended",
    };
    assert_eq!(named, column);
    made
}

/// The command a row is about, and when it comes: a minute after the start, which is also when
/// whoever is paused was paused, or when the row says.
fn command(row: &str) -> (Command, Now) {
    let month = START + Span::from_mins(1) + limits::PAUSED_MAX;
    let before = |time: Timestamp| Timestamp::from_millis(time.as_millis() - 1);
    let time = match row {
        "Renew later" => START + limits::SESSION_RENEW,
        "Renew soon" => before(START + limits::SESSION_RENEW),
        "Tick early" => before(START + limits::SESSION_TTL),
        "Tick day" => START + limits::SESSION_TTL,
        "Tick month-early" => before(month),
        "Tick month" => month,
        _ => now().time,
    };
    let command = match row {
        "Hold holder" => Command::Hold { secret: hash(HOLD) },
        "Hold other" => Command::Hold { secret: hash(9) },
        "LoseHold by" => Command::LoseHold,
        "Pause by" => Command::Pause,
        "Resume by" => Command::Resume { token: hash(11), hold: hash(12) },
        "Revoke by" => Command::Revoke,
        "RevokedBelow by" => Command::RevokedBelow,
        "End by" => Command::End { by: me() },
        "UseToken its" => Command::UseToken { token: hash(TOKEN) },
        "UseToken old" => Command::UseToken { token: hash(9) },
        "MintToken unused" => Command::MintToken { token: hash(11), hold: hash(12) },
        "TakeWork one" => Command::TakeWork { work: work(1) },
        "Open one" => Command::Open { ask: ask(2) },
        "Settle its" => Command::Settle { ask: ask(1) },
        "Settle other" => Command::Settle { ask: ask(9) },
        "Swept by" => Command::Swept { stay: 0, standing: Standing::Active },
        "Renew soon" | "Renew later" => Command::Renew,
        "Unwatched by" => Command::Unwatched,
        "Tick early" | "Tick day" | "Tick month-early" | "Tick month" => Command::Tick,
        _ => panic!("no command is known for the row `{row}`"),
    };
    (command, Now::at(time))
}

/// What differs, in the words of the table.
fn change(before: &Session, after: &Session) -> String {
    let standing = match (&before.standing, &after.standing) {
        (one, other) if one == other => "",
        (_, Standing::Active) => "active",
        (_, Standing::Paused { lost_hold: true, .. }) => "lost",
        (_, Standing::Paused { lost_hold: false, .. }) => "paused",
        (_, Standing::Ended { .. }) => "ended",
    };
    let found = [
        (!standing.is_empty(), standing),
        (after.sweep, "sweep"),
        (after.stay == before.stay + 1, "stay"),
        (after.revokes && after.tickets_from == after.stay, "tickets"),
        (after.token != before.token && after.hold != before.hold, "token"),
        (after.token_used && !before.token_used, "used"),
        (after.held && !before.held, "held"),
        (!after.held && before.held, "loose"),
        (after.works != before.works, "works"),
        (after.open_asks != before.open_asks, "asks"),
        (after.alive_until > before.alive_until && after.token == before.token, "renewed"),
    ];
    let words = found.iter().filter(|(is, _)| *is).map(|(_, word)| *word);
    words.collect::<Vec<_>>().join("+")
}

#[test]
fn every_command_in_every_standing() {
    let mut lines = TABLE.lines().filter(|line| !line.trim().is_empty());
    let columns: Vec<_> = lines.next().unwrap().split_whitespace().collect();
    let mut wrong = Vec::new();
    let mut rows = Vec::new();
    for line in lines {
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words.len(), columns.len() + 2, "a cell is missing in `{line}`");
        let row = words[..2].join(" ");
        let (command, now) = command(&row);
        assert_eq!(words[0], name(&command), "the row `{row}` is misnamed");
        rows.push(words[0]);
        for (column, expected) in columns.iter().zip(&words[2..]) {
            let before = standing(column);
            let found = match decide(&before, &command, now) {
                Err(why) => format!("!{why:?}"),
                Ok(None) => ".".to_owned(),
                Ok(Some(after)) => {
                    assert_eq!(after.revision, before.revision + 1);
                    change(&before, &after)
                }
            };
            if found != *expected {
                wrong.push(format!("{row} / {column}: {found} instead of {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    for command in COMMANDS {
        assert!(rows.contains(command), "{command} has no row");
    }
}

#[test]
fn a_paused_session_may_look_and_not_act_and_an_ended_one_neither() {
    for (column, act, look) in [
        ("active", Ok(()), Ok(())),
        ("held", Ok(()), Ok(())),
        ("paused", Err(Denied::Paused), Ok(())),
        ("lost", Err(Denied::Paused), Ok(())),
        ("ended", Err(Denied::Ended), Err(Denied::Ended)),
    ] {
        let session = standing(column);
        assert_eq!((session.may(Deed::Act), session.may(Deed::Look)), (act, look), "{column}");
    }
}

#[test]
fn a_hold_taken_up_again_or_a_resume_calls_off_the_sweep() {
    let held = standing("held");
    let lost = then(&held, &Command::LoseHold);
    assert!(lost.sweep);
    assert!(!then(&lost, &Command::Hold { secret: hash(HOLD) }).sweep);
    let resumed = then(&lost, &Command::Resume { token: hash(11), hold: hash(12) });
    assert!(!resumed.sweep && !resumed.token_used);
    let old = decide(&resumed, &Command::Hold { secret: hash(HOLD) }, now());
    assert_eq!(old, Err(Denied::NotHolder), "the holder from before is not the holder now");
}

#[test]
fn whoever_was_silent_for_too_long_and_then_holds_it_holds_it() {
    let silent = standing("active");
    let day = Now::at(START + limits::SESSION_TTL);
    let lost = decide(&silent, &Command::Tick, day).unwrap().unwrap();
    assert_eq!(decide(&lost, &Command::Renew, day), Ok(None), "a call alone wakes nothing");
    let held = decide(&lost, &Command::Hold { secret: hash(HOLD) }, day).unwrap().unwrap();
    assert!(held.is_active() && held.held);
    assert_eq!(decide(&held, &Command::Tick, day), Ok(None));
    assert_eq!(held.deadline(), None, "its hold says when it is gone");
}

#[test]
fn each_call_puts_off_when_a_session_is_taken_to_be_gone_an_hour_at_a_time_at_least() {
    let called = Now::at(START + Span::from_hours(20));
    let renewed = decide(&session(1), &Command::Renew, called).unwrap().unwrap();
    assert_eq!(renewed.deadline(), Some(called.time + limits::SESSION_TTL));
    assert!(!renewed.is_renewed_at(called.time), "a write an hour, not a write a call");
    let day = Now::at(START + limits::SESSION_TTL);
    assert_eq!(decide(&renewed, &Command::Tick, day), Ok(None));
    let resumed = decide(
        &decide(&renewed, &Command::Pause, day).unwrap().unwrap(),
        &Command::Resume { token: hash(11), hold: hash(12) },
        day,
    );
    let due = resumed.unwrap().unwrap().deadline();
    assert_eq!(due, Some(day.time + limits::SESSION_TTL), "a resume is a life anew");
}

#[test]
fn rule_09_a_session_that_is_woken_is_asked_while_it_is_paused_and_its_host_watches() {
    let (sender, asker) = (standing("asleep"), session(2).reference());
    let fact = |hop: &Session, watched| idle(Some(hop), &asker, None, watched, false);
    assert_eq!(fact(&sender, true), None);
    assert_eq!(fact(&sender, false), Some(Idle::Paused));
    assert_eq!(fact(&standing("paused"), true), Some(Idle::Paused), "it cannot be woken");
    assert_eq!(fact(&standing("ended"), true), Some(Idle::Ended));
    let mute = Session { answers_asks: false, ..sender };
    assert_eq!(fact(&mute, true), Some(Idle::AnswersNone));
}

#[test]
fn rule_14_a_session_that_is_asked_as_much_as_it_may_be_is_passed_over() {
    let asker = session(2).reference();
    assert_eq!(idle(Some(&session(1)), &asker, None, false, true), Some(Idle::Full));
    assert_eq!(idle(Some(&standing("asleep")), &asker, None, true, true), Some(Idle::Full));
}

#[test]
fn a_token_that_was_used_is_minted_no_more() {
    let used = then(&standing("active"), &Command::UseToken { token: hash(TOKEN) });
    let mint = Command::MintToken { token: hash(11), hold: hash(12) };
    assert_eq!(decide(&used, &mint, now()), Ok(None));
    assert_eq!(decide(&used, &Command::UseToken { token: hash(TOKEN) }, now()), Ok(None));
    let minted = then(&standing("active"), &mint);
    let old = decide(&minted, &Command::UseToken { token: hash(TOKEN) }, now());
    assert_eq!(old, Ok(None), "the one it replaced is void");
}

#[test]
fn rule_14_four_open_asks_and_no_more() {
    let mut full = session(1);
    for number in 0..limits::OPEN_ASKS {
        full = then(&full, &Command::Open { ask: ask(number as u8) });
    }
    let one_more = Command::Open { ask: ask(99) };
    let open = (0..4).map(ask).collect();
    assert_eq!(decide(&full, &one_more, now()), Err(Denied::TooManyOpen(open)));
    let freed = then(&full, &Command::Settle { ask: ask(2) });
    assert_eq!(then(&freed, &one_more).open_asks, [ask(0), ask(1), ask(3), ask(99)]);
}

#[test]
fn rule_14_works_are_bounded_and_the_latest_is_meant_where_none_is_named() {
    let mut full = session(1);
    assert_eq!(full.work(None), Err(Denied::NoSuchWork));
    for number in 0..limits::WORKS {
        full = then(&full, &Command::TakeWork { work: work(number as u8) });
    }
    let one_more = decide(&full, &Command::TakeWork { work: work(200) }, now());
    assert_eq!(one_more, Err(Denied::TooManyWorks));
    assert_eq!(full.work(None), Ok(work(63)));
    assert_eq!(full.work(Some(work(7))), Ok(work(7)));
    assert_eq!(full.work(Some(work(200))), Err(Denied::NoSuchWork));
}

fn ticket(sender: &Session, from: &Work) -> Ticket {
    Ticket {
        secret: Secret::new(Kind::Ticket, [5; 32]).hash(),
        namespace: Namespace::default(),
        revision: 1,
        sender: sender.reference(),
        from: from.id,
        work: work(50),
        manner: WorkManner::default(),
        expire_time: START + limits::TICKET_LIFE,
        spent_by: None,
        void: false,
        stay: 0,
    }
}

#[test]
fn a_ticket_makes_one_work_and_is_spent() {
    let (sender, taker) = (session(1), session(2));
    let from = Work::root(work(1), &sender, now());
    let ticket = ticket(&sender, &from);
    let (made, spent) = ticket.redeem(&taker, Some(&sender), &from, now()).unwrap();
    assert_eq!((made.id, made.tree, made.from), (work(50), from.id, Some(from.id)));
    assert_eq!((made.sender(), &made.session), (Some(&sender.reference()), &taker.reference()));
    assert_eq!((made.chain.len(), made.blocking), (1, None));
    assert_eq!((spent.spent_by.as_ref(), spent.revision), (Some(&taker.reference()), 2));
    assert_eq!(spent.redeem(&taker, Some(&sender), &from, now()), Err(Denied::BadTicket));
    let twice = spent.redeem(&session(3), Some(&sender), &from, now());
    assert_eq!(twice, Err(Denied::BadTicket));
}

#[test]
fn a_ticket_that_is_not_good_is_refused_with_the_reason() {
    let (sender, taker) = (session(1), session(2));
    let from = Work::root(work(1), &sender, now());
    let good = ticket(&sender, &from);
    let redeem = |ticket: &Ticket, taker: &Session, sender: Option<&Session>, now: Now| {
        ticket.redeem(taker, sender, &from, now).map(|(work, _)| work.id)
    };
    let gone = then(&sender, &Command::End { by: me() });
    let paused = then(&sender, &Command::Pause);
    let void = Ticket { void: true, ..good.clone() };
    let foreign = Session { namespace: "other".parse().unwrap(), ..taker.clone() };
    let last = Timestamp::from_millis((START + limits::TICKET_LIFE).as_millis() - 1);

    assert_eq!(redeem(&good, &taker, Some(&paused), now()), Ok(work(50)), "a pause is no end");
    assert_eq!(redeem(&good, &taker, Some(&sender), Now::at(last)), Ok(work(50)));
    let expired = Now::at(START + limits::TICKET_LIFE);
    assert_eq!(redeem(&good, &taker, Some(&sender), expired), Err(Denied::TicketExpired));
    assert_eq!(redeem(&void, &taker, Some(&sender), now()), Err(Denied::BadTicket));
    assert_eq!(redeem(&good, &taker, Some(&gone), now()), Err(Denied::BadTicket));
    assert_eq!(redeem(&good, &taker, None, now()), Err(Denied::BadTicket));
    assert_eq!(redeem(&good, &foreign, Some(&sender), now()), Err(Denied::BadTicket));
}

#[test]
fn c111_chains_are_bounded_and_never_close() {
    let mut sessions = vec![session(0)];
    let mut works = vec![Work::root(work(0), &sessions[0], now())];
    for depth in 1..=limits::DEPTH {
        let (sender, from) = (&sessions[depth - 1], &works[depth - 1]);
        let taker = session(depth as u8);
        let ticket = Ticket { work: work(depth as u8), ..ticket(sender, from) };
        let (made, _) = ticket.redeem(&taker, Some(sender), from, now()).unwrap();
        assert_eq!((made.chain.len(), made.tree), (depth, work(0)));
        // Nobody above it may take up what it would send, nor may it itself.
        for above in sessions.iter().chain([&taker]) {
            let back = Ticket { sender: taker.reference(), ..ticket.clone() };
            let closed = back.redeem(above, Some(&taker), &made, now());
            let expected = if depth < limits::DEPTH { Denied::Cycle } else { Denied::TooDeep };
            assert_eq!(closed, Err(expected));
        }
        sessions.push(taker);
        works.push(made);
    }
    let (sender, from) = (sessions.last().unwrap(), works.last().unwrap());
    let deeper = ticket(sender, from).redeem(&session(100), Some(sender), from, now());
    assert_eq!(deeper, Err(Denied::TooDeep));
}

/// A sender, the session it sent blocking work to, and that work.
fn blocked() -> (Session, Session, Work) {
    let (sender, taker) = (session(1), session(2));
    let from = Work::root(work(1), &sender, now());
    let ticket =
        Ticket { manner: WorkManner { blocking: true, may_ask: true }, ..ticket(&sender, &from) };
    let (made, _) = ticket.redeem(&taker, Some(&sender), &from, now()).unwrap();
    (sender, taker, made)
}

#[test]
fn rule_09_each_fact_that_makes_a_hop_idle() {
    let (sender, asker, work) = blocked();
    let asker_is = asker.reference();
    let free = Work { blocking: None, ..work.clone() };
    let fact = |hop: Option<&Session>, work: &Work| {
        idle(hop, &asker_is, Some((work, &asker)), false, false)
    };

    assert_eq!(fact(Some(&sender), &free), None);
    assert_eq!(idle(Some(&sender), &asker_is, None, false, false), None);
    assert_eq!(fact(None, &free), Some(Idle::Ended), "not known any more");
    let ended = then(&sender, &Command::End { by: me() });
    assert_eq!(fact(Some(&ended), &free), Some(Idle::Ended));
    let held = then(&sender, &Command::Hold { secret: hash(HOLD) });
    for pause in [Command::Pause, Command::LoseHold] {
        assert_eq!(fact(Some(&then(&held, &pause)), &free), Some(Idle::Paused));
    }
    assert_eq!(fact(Some(&asker), &free), Some(Idle::IsAsker));
    let mute = Session { answers_asks: false, ..sender.clone() };
    assert_eq!(fact(Some(&mute), &free), Some(Idle::AnswersNone));
    assert_eq!(fact(Some(&sender), &work), Some(Idle::Blocked));
}

#[test]
fn rule_09_a_pause_an_end_or_a_resume_of_who_does_the_work_unblocks_its_sender() {
    let (sender, taker, work) = blocked();
    let asker = session(3).reference();
    let fact = |taker: &Session| idle(Some(&sender), &asker, Some((&work, taker)), false, false);
    assert_eq!(fact(&taker), Some(Idle::Blocked));
    let paused = then(&taker, &Command::Pause);
    let resumed = then(&paused, &Command::Resume { token: hash(11), hold: hash(12) });
    let ended = then(&taker, &Command::End { by: me() });
    for free in [&paused, &resumed, &ended] {
        assert_eq!(fact(free), None, "{:?}", free.standing);
    }
    // A lost hold is a pause too, until the same holder has it again: its run still waits.
    let held = then(&taker, &Command::Hold { secret: hash(HOLD) });
    let lost = then(&held, &Command::LoseHold);
    assert_eq!(fact(&lost), None);
    let again = then(&lost, &Command::Hold { secret: hash(HOLD) });
    assert_eq!(fact(&again), Some(Idle::Blocked));
}

#[test]
fn facts_of_a_route_are_asked_for_sessions_and_counted_for_people() {
    let people = |names: &[&str]| {
        let people = names.iter().map(|name| name.parse().unwrap()).collect();
        Hop { to: Target::People { group: None, people }, timeout: None, within: None }
    };
    let sender = session(1).reference();
    let hops = vec![
        Hop {
            to: Target::Session(sender.clone()),
            timeout: Some(Span::from_mins(1)),
            within: None,
        },
        people(&[]),
        people(&["owner"]),
    ];
    let route = Route { hops };
    let of = |asked: &SessionRef| {
        assert_eq!(*asked, sender);
        Ok::<_, ()>(Some(Idle::Paused))
    };
    let found = idle_hops(&route, of);
    assert_eq!(found, Ok(vec![Some(Idle::Paused), Some(Idle::EmptyGroup), None]));
    assert_eq!(idle_hops(&route, |_| Err("no store")), Err("no store"));
}

#[test]
fn a_token_is_good_until_it_is_replaced_revoked_or_over() {
    let owner = Principal::Person(PersonName::owner());
    let token = Token::new(hash(TOKEN), Namespace::default(), owner);
    assert_eq!(token.fit(now().time), Ok(()));
    let second = Span::from_millis(1);
    let until = Token { expire_time: Some(now().time + second), ..token.clone() };
    assert_eq!(until.fit(now().time), Ok(()));
    assert_eq!(until.fit(now().time + second), Err(Unfit::Expired), "from its time on");
    assert_eq!(Token { void: true, ..until.clone() }.fit(now().time), Err(Unfit::Void));
    let revoked = until.revoked(now().time);
    assert_eq!(
        revoked.fit(now().time + second + second),
        Err(Unfit::Revoked),
        "whatever else is so"
    );
    assert!(revoked.void && revoked.revision == until.revision + 1);
    assert_eq!(revoked.revoke_time, Some(now().time));
    assert_eq!(revoked.revoked(START).revoke_time, Some(now().time), "it was, and stays so");
}

#[test]
fn a_sweep_is_over_only_for_what_it_was_of() {
    let paused = then(&session(1), &Command::Pause);
    let swept = |stay: u32, standing: &Standing| {
        let command = Command::Swept { stay, standing: standing.clone() };
        decide(&paused, &command, now()).unwrap().is_some()
    };
    let active = Standing::Active;
    assert!(swept(paused.stay, &paused.standing));
    assert!(!swept(paused.stay, &active), "it was resumed and paused meanwhile");
    assert!(!swept(paused.stay + 1, &paused.standing));
}

#[test]
fn who_is_revoked_while_paused_was_paused_since_then() {
    let paused = then(&session(1), &Command::Pause);
    let later = Now::at(now().time + Span::from_mins(5));
    let revoked = decide(&paused, &Command::Revoke, later).unwrap().expect("a change");
    let since = |session: &Session| match session.standing {
        Standing::Paused { since, lost_hold } => (since, lost_hold),
        ref other => panic!("{other:?}"),
    };
    assert_eq!(since(&revoked), (now().time, false));
    let active = decide(&session(1), &Command::Revoke, later).unwrap().expect("a change");
    assert_eq!(since(&active), (later.time, false));
}

#[test]
fn work_may_ask_only_where_its_sender_may_and_says_so() {
    let (sender, taker) = (session(1), session(2));
    let may = |from: bool, sent: bool| {
        let from = Work { may_ask: from, ..Work::root(work(1), &sender, now()) };
        let manner = WorkManner { blocking: false, may_ask: sent };
        let ticket = Ticket { manner, ..ticket(&sender, &from) };
        ticket.redeem(&taker, Some(&sender), &from, now()).unwrap().0.may_ask
    };
    assert_eq!([may(true, true), may(true, false), may(false, true)], [true, false, false]);
}

#[test]
fn who_acts_by_a_command_is_looked_at_and_a_person_and_the_timer_are_no_session() {
    use crate::ask::Command as C;
    let by = session(1).reference();
    let actor = Actor::Session(by.clone());
    let digest = Content { questions: Vec::new(), context: String::new() }.digest();
    let says = |by: &Actor| C::Say { by: by.clone(), text: "why?".into(), assurance: None };
    let withdraws = C::Withdraw { by: by.clone(), note: None };
    let reads = |by: &Actor| C::Acknowledge { by: by.clone(), delivery: 1, lease: None };
    assert_eq!(acting(&says(&actor)), Some((&by, Deed::Act)));
    assert_eq!(acting(&C::InAgent(Box::new(says(&actor)))), Some((&by, Deed::Act)));
    assert_eq!(acting(&withdraws), Some((&by, Deed::Look)));
    assert_eq!(acting(&reads(&actor)), Some((&by, Deed::Look)));
    let seen = C::MarkSeen { by: PersonName::owner(), digest };
    let owner = Actor::Person(PersonName::owner());
    for nobody in [says(&owner), reads(&me()), seen, C::Tick { idle: Vec::new(), standing: None }] {
        assert_eq!(acting(&nobody), None, "{nobody:?}");
    }
}
