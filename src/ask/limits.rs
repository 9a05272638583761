//! Every limit of the domain: a name, a number and a reason (rule 14).
//!
//! Limits of the wire (message size, streams, connections) stand in `grpc/limits.rs`, rates in
//! `service/rates.rs`; this is the table of what an ask, a session and their texts may be.

use super::time::Span;

/// Questions in one ask. More than four at once is a form, and people put forms off.
pub const QUESTIONS: usize = 4;
/// Options of one question: what a person can compare without scrolling.
pub const OPTIONS: usize = 16;
/// Bytes of a question's id. It is a key in answers, not prose.
pub const QUESTION_ID_BYTES: usize = 64;
/// Bytes of a header: one column of an inbox.
pub const HEADER_BYTES: usize = 128;
/// Bytes of a question's text: a page.
pub const QUESTION_BYTES: usize = 4_096;
/// Bytes of an option's label: it is shown on one line and typed in a shell.
pub const LABEL_BYTES: usize = 128;
/// Bytes of an option's description: a paragraph.
pub const DESCRIPTION_BYTES: usize = 1_024;
/// Bytes of the context of an ask: a long diff or log excerpt, and small enough to stay on a page.
pub const CONTEXT_BYTES: usize = 65_536;
/// Bytes of a free-text answer, one question's.
pub const ANSWER_TEXT_BYTES: usize = 16_384;
/// Bytes of a note or a reason: with a decline, an escalation or a withdrawal.
pub const NOTE_BYTES: usize = 4_096;
/// Bytes of one turn of talk.
pub const TURN_BYTES: usize = 16_384;
/// Turns of talk on one ask. Beyond this it is a conversation, and wants another ask.
pub const TURNS: usize = 100;
/// Bytes of the name of an agent, a person, a group, a route, a host or a namespace.
pub const NAME_BYTES: usize = 64;
/// Bytes of a request id: room for a UUID and whatever a caller puts before it.
pub const REQUEST_ID_BYTES: usize = 128;
/// Open asks of one session, exact: a session with four open decisions should wait, not ask.
pub const OPEN_ASKS: usize = 4;
/// Works one session may hold. An older one can still be named; a new one needs a new session.
pub const WORKS: usize = 64;
/// People of one namespace: more are a directory, which this is not.
pub const PEOPLE: usize = 256;
/// People of one namespace who were removed and are remembered, so that no configuration brings them
/// back unseen.
pub const PEOPLE_REMOVED: usize = 256;
/// Tokens of one namespace that are good: one for each person, and some for hosts and their renewal.
pub const TOKENS: usize = 512;
/// Namespaces beside `default`: somebody sets each up by hand.
pub const NAMESPACES: usize = 64;
/// Bytes of the note of a token: a line in a list.
pub const TOKEN_NOTE_BYTES: usize = 128;
/// Shortest life of a token that has an end: less, and it is over before it is handed on.
pub const TOKEN_TTL_MIN: Span = Span::from_secs(1);
/// Longest life of a token that has an end: ten years; longer is none.
pub const TOKEN_TTL_MAX: Span = Span::from_days(3_650);
/// How deep work may be sent below a root session: beyond it nobody knows what was wanted.
pub const DEPTH: usize = 8;
/// Hops of a route as it is written: more, and nobody sees who is asked when.
pub const HOPS: usize = 16;
/// Hops of a route as it is asked, with every sender and every round of people. They are kept with
/// each ask, and looked at whenever it moves on.
pub const ROUTE_HOPS: usize = 64;
/// Rounds in which people are asked in turn: whom ten did not reach, the last hop waits for.
pub const REPEAT_MAX: u32 = 10;
/// Routes of one configuration: they are picked by name, from a list that one can read.
pub const ROUTES: usize = 64;
/// Groups of one configuration: as many as there are routes to name them.
pub const GROUPS: usize = 64;
/// People of one group; they are kept with each ask that may reach them. More is everybody, and
/// where everybody is asked nobody feels meant.
pub const GROUP_PEOPLE: usize = 64;
/// What a surface offers a person beside an ask's options. No label is one of these, however it is
/// spelled: whoever picks `Decline` must know that they say a no that binds, and not an option that an
/// agent named so. More than the bare words is free: `Decline the offer`, `Leave it as it is`; `Yes`,
/// `No`, `Skip` and `Cancel` are no surface's, and answers.
pub const RESERVED_LABELS: [&str; 8] = [
    "choose among the options",
    "decline",
    "decline (with a note)",
    "leave",
    "other",
    "say something",
    "say something to the asker",
    "write an answer",
];
/// What stands behind the label of an option that is recommended, which no label says of itself.
pub const RECOMMENDED_MARK: &str = "(recommended)";
/// Characters a prefix of an id needs after `ask_`: one in a million, so rarely two.
pub const PREFIX_CHARS: usize = 4;
/// Matches an ambiguous prefix lists.
pub const PREFIX_MATCHES: usize = 10;

/// Shortest time of a hop: less, and nobody could read the question. Tests and the demo lower it
/// by configuration.
pub const ROUTE_TIMEOUT_MIN: Span = Span::from_millis(1);
/// Longest time of a hop: a week; who has not answered by then is not there.
pub const ROUTE_TIMEOUT_MAX: Span = Span::from_days(7);
/// Time of a hop where nothing else is said.
pub const ROUTE_TIMEOUT: Span = Span::from_mins(15);
/// Time of all senders together, from the filing, where nothing else is said: two of them in full,
/// and a person hears of it within half an hour.
pub const SENDERS_TOTAL: Span = Span::from_mins(30);
/// How long a person must have been shown an ask before a default may stand, where nothing else is
/// said: long enough to read it and to object (rule 4).
pub const PERSON_WINDOW: Span = Span::from_secs(60);
/// Shortest person window: a glance. Less, and being shown would mean nothing.
pub const PERSON_WINDOW_MIN: Span = Span::from_secs(1);
/// Longest person window: who looked an hour ago and said nothing has had their time.
pub const PERSON_WINDOW_MAX: Span = Span::from_hours(1);
/// How long a person's no binds, where nothing else is said: a day's work is not asked it twice.
pub const DECLINE_STANDS: Span = Span::from_hours(24);
/// Shortest time a no binds: less is what `off` is for.
pub const DECLINE_STANDS_MIN: Span = Span::from_mins(1);
/// Longest time a no binds: by then another answer may be right. As long as an ask is kept.
pub const DECLINE_STANDS_MAX: Span = KEEP;
/// Shortest expiry: a person cannot be asked in less.
pub const EXPIRE_MIN: Span = Span::from_mins(1);
/// Longest expiry.
pub const EXPIRE_MAX: Span = Span::from_days(7);
/// How long a claim holds the timers, unless it says less; renewable.
pub const CLAIM: Span = Span::from_mins(15);
/// Shortest claim.
pub const CLAIM_MIN: Span = Span::from_secs(1);
/// What an expiry has left at least when it runs on after it was held.
pub const EXPIRE_LEFT_MIN: Span = Span::from_mins(1);
/// How long a person's unread turn may hold an expiry.
pub const UNREAD_HOLD_MAX: Span = Span::from_hours(1);
/// How long a ticket may be redeemed: a working day and the evening.
pub const TICKET_LIFE: Span = Span::from_hours(12);
/// How long a session may be without its hold before it is paused: a daemon's restart, a short
/// suspend, a busy machine.
pub const HOLD_GRACE: Span = Span::from_secs(30);
/// How long a settled ask is kept after its delivery ended, unless configured.
pub const KEEP: Span = Span::from_days(30);
/// The least it may be configured to: a week, so that a late retry still finds its receipt.
pub const KEEP_MIN: Span = Span::from_days(7);
/// The most, and how long a settled ask is kept at all: a quarter; who has not read it by then will
/// not.
pub const KEEP_MAX: Span = Span::from_days(90);
/// How long a receipt is kept at least, and longer while its ask is.
pub const RECEIPT_KEEP: Span = KEEP_MIN;
/// Open asks in one tree of works: beyond it an agent asks instead of working.
pub const OPEN_IN_TREE: usize = 64;
/// Open asks that wait on one session: what its model can still keep apart. Further ones go past it.
pub const WAITING_ON_SESSION: usize = 50;
/// Open asks in one namespace: no people can answer more.
pub const OPEN_IN_NAMESPACE: usize = 10_000;
/// The most a tree may be configured to: a refusal and every filing count them all.
pub const OPEN_IN_TREE_MAX: usize = 10_000;
/// The most that may wait on one session: by then it is a queue's worker, no model.
pub const WAITING_ON_SESSION_MAX: usize = 10_000;
/// The most a namespace may be configured to: each takes memory, and a start reads them all.
pub const OPEN_IN_NAMESPACE_MAX: usize = 1_000_000;
/// Open asks a refusal lists.
pub const OPEN_LISTED: usize = 32;
/// Bytes of an asker's own state that travels with an ask.
pub const ASKER_STATE_BYTES: usize = 16_384;
/// Bytes of a W3C `traceparent`: version 00 has 55, later ones may have more.
pub const TRACE_PARENT_BYTES: usize = 128;
/// Bytes of a W3C `tracestate` that must be passed on.
pub const TRACE_STATE_BYTES: usize = 512;
/// Bytes of a follow-up text: what a model reads whole.
pub const FOLLOW_UP_BYTES: usize = 16_384;
/// Bytes of what a worker that takes deliveries calls itself.
pub const HOLDER_BYTES: usize = 64;
/// How long a lease holds, unless it says less; extendable.
pub const LEASE: Span = Span::from_mins(5);
/// Shortest lease.
pub const LEASE_MIN: Span = Span::from_secs(1);
/// Longest lease: a worker that needs more extends it.
pub const LEASE_MAX: Span = Span::from_hours(1);
/// How long people are left alone after a notice of an ask before the next one of it: several replies
/// are one.
pub const NOTICE_QUIET: Span = Span::from_secs(60);
/// How long after a notice that failed it is tried again, each time; then it is given up. A desktop
/// that wakes and a network that comes back are met; by the end the ask has mostly moved on.
pub const NOTICE_RETRIES: [Span; 4] =
    [Span::from_secs(30), Span::from_mins(2), Span::from_mins(10), Span::from_mins(30)];
/// Bytes of why a notice failed: a sentence. It stands in the ask's history.
pub const NOTICE_FAILURE_BYTES: usize = 256;
/// Notices carried at once: more would only get into each other's way.
pub const NOTICES_AT_ONCE: usize = 4;
/// Notices begun within a second: after a long stop they come in a row and not as a storm.
pub const NOTICES_PER_SECOND: usize = 10;
/// How long a session that nobody holds is taken to run after its last call.
pub const SESSION_TTL: Span = Span::from_hours(24);
/// How much of that must have passed before a call renews it: a write an hour, not a write a call.
pub const SESSION_RENEW: Span = Span::from_hours(1);
/// How long a session may be paused before it is ended.
pub const PAUSED_MAX: Span = Span::from_days(30);
