//! The model: callers that send, a network, the service, time. What each may do is an action; what
//! must hold is a property, named after its rule.
//!
//! The network loses nothing, but what is sent may come in any order and again. A caller sends the
//! same again under the same request id until it knows. The service keeps a receipt with each effect,
//! in one commit. A crash takes the replies under way, and where the asker's watch was.

use super::cast::{MOMENT, Runs, WINDOW, Who};
use super::deed::{Deed, Said, Way, Why, Winner, Wish};
use super::kept::{Around, Kept, Look};
use super::ledger::{broken, seen};
use super::planted::Planted;
use askway::ask::{ExpiryAction, Span};
use stateright::{Model, Property};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much of everything there is in one play.
#[derive(Clone, Debug)]
pub struct Play {
    pub name: &'static str,
    pub expire: ExpiryAction,
    /// What each caller may want, and how often it wants anything at all.
    pub callers: Vec<(Who, u8, Vec<Wish>)>,
    /// What the sender's session, and the asker's, may come to.
    pub lead: Vec<Runs>,
    pub asker_may_end: bool,
    pub crashes: u8,
    /// Repeats of what has been answered already.
    pub repeats: u8,
    /// Short waits, beside those for the next deadline.
    pub moments: u8,
    /// How often time goes on although the timer has not ticked.
    pub late: u8,
    /// Whether the second ask is on its way yet, and filed whenever it arrives.
    pub second_comes: bool,
    /// Whether there is a second ask at all.
    pub two: bool,
    pub planted: Option<Planted>,
    /// What it comes to somewhere, by the names of properties.
    pub comes_to: &'static [&'static str],
}

/// A message of a caller, from its sending on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sent {
    who: Who,
    ask: u8,
    deed: Deed,
    /// What the service keeps under its request id.
    receipt: Option<Said>,
    /// Under way to the caller.
    reply: Option<Said>,
    /// What the caller knows.
    known: Option<Said>,
    /// How often it changed something.
    changes: u8,
    /// Its reply was lost although what it did is kept.
    lost: bool,
    /// It was told its result again after the ask had been settled by it.
    again: bool,
}

/// Everything at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// What is kept.
    asks: [Option<Look>; 2],
    around: Around,
    /// What was ever sent; the callers' and the network's, and the receipts.
    sent: Vec<Sent>,
    /// What the asker's watch has offered last.
    told: [Option<u8>; 2],
    left: Left,
    broken: u16,
}

/// What may still happen beside what the rules decide.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Left {
    callers: Vec<u8>,
    crashes: u8,
    repeats: u8,
    moments: u8,
    late: u8,
    standings: u8,
}

/// What happens next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A caller, by its place, looks at an ask and sends what it wants.
    Send(usize, u8, Deed),
    /// The network brings a message to the service, for the first time or again.
    Bring(usize),
    /// The network brings another payload under a request id that was spent.
    BringOther(usize),
    /// A reply reaches its caller.
    Hear(usize),
    /// The asker's watch offers it what is unread.
    Offer(u8),
    /// The timer looks at an ask.
    Tick(u8),
    /// The sweep looks at an ask.
    Sweep(u8),
    /// A session is paused, resumed or ended.
    Stand(Who, Runs),
    /// The service is killed, and started again.
    Crash,
    /// Time goes on to the next deadline, or by a moment.
    Wait(Span),
}

/// A play, and what is known of its asks.
pub struct Stage {
    pub play: Play,
    pub kept: Kept,
    /// Worlds whose every next step was taken.
    pub expanded: AtomicUsize,
}

impl Stage {
    pub fn new(play: Play) -> Self {
        let kept = Kept::new(play.planted);
        Self { play, kept, expanded: AtomicUsize::new(0) }
    }

    fn file(&self, number: u8, around: Around) -> Look {
        self.kept.file(number, self.play.expire, around).look
    }

    /// Until the next deadline that is not due yet; and whether something is due.
    fn next(&self, world: &World) -> (Option<Span>, bool) {
        let each = world.asks.iter().flatten().filter_map(|look| self.kept.facts(*look).due_in);
        let (due, coming): (Vec<Span>, Vec<Span>) = each.partition(|span| *span == Span::default());
        (coming.into_iter().min(), !due.is_empty())
    }

    fn serve(&self, world: &mut World, place: usize) -> Option<()> {
        let sent = world.sent[place];
        let forgets = self.play.planted == Some(Planted::ReceiptsForgotten);
        let kept = sent.receipt.filter(|_| !forgets || sent.deed == Deed::File);
        let said = match kept {
            Some(receipt) => receipt,
            None => self.decide(world, place, sent.deed),
        };
        let sent = &mut world.sent[place];
        if let Some(first) = sent.receipt.filter(|first| *first != said) {
            debug_assert_ne!(first, said);
            world.broken |= broken::RULE_07;
        }
        let recorded = !matches!(said, Said::Refused(_));
        let won = sent.deed.settles().is_some() && sent.receipt == Some(Said::Done);
        sent.again |= kept.is_some() && won;
        sent.receipt = sent.receipt.or(recorded.then_some(said));
        // Only a crash can come between a reply and its caller.
        match world.left.crashes {
            _ if sent.known.is_some() => {}
            0 => sent.known = Some(said),
            _ => sent.reply = Some(said),
        }
        Some(())
    }

    /// The rules' word, committed with everything that follows.
    fn decide(&self, world: &mut World, place: usize, deed: Deed) -> Said {
        let Sent { who, ask, .. } = world.sent[place];
        let at = usize::from(ask);
        if deed == Deed::File {
            world.asks[at] = Some(self.file(ask, world.around));
            world.sent[place].changes += 1;
            return Said::Done;
        }
        let look = world.asks[at].expect("what is spoken of was filed");
        let came = self.kept.after(look, who, deed, world.around);
        world.asks[at] = Some(came.look);
        world.around.nos = came.nos;
        world.broken |= came.broken;
        world.sent[place].changes += u8::from(came.changed && came.said == Said::Done);
        came.said
    }

    /// Something of the service's own.
    fn own(&self, world: &mut World, ask: u8, deed: Deed) -> Option<()> {
        let look = world.asks[usize::from(ask)]?;
        let came = self.kept.after(look, Who::Service, deed, world.around);
        world.asks[usize::from(ask)] = Some(came.look);
        world.around.nos = came.nos;
        world.broken |= came.broken;
        Some(())
    }

    fn wishes(&self, world: &World, actions: &mut Vec<Action>) {
        for (place, (who, _, wishes)) in self.play.callers.iter().enumerate() {
            if world.left.callers[place] == 0 {
                continue;
            }
            for (ask, look) in (0..2).zip(&world.asks) {
                let Some(look) = look else { continue };
                let seen = self.kept.facts(*look);
                let told = world.told[usize::from(ask)];
                let deeds = wishes.iter().filter_map(|wish| wish.seeing(*who, seen, told));
                for deed in deeds {
                    let same = |sent: &Sent| (sent.who, sent.ask, sent.deed) == (*who, ask, deed);
                    if !world.sent.iter().any(same) {
                        actions.push(Action::Send(place, ask, deed));
                    }
                }
            }
        }
    }

    fn network(&self, world: &World, actions: &mut Vec<Action>) {
        for (place, sent) in world.sent.iter().enumerate() {
            let waits = sent.reply.is_none() && sent.known.is_none();
            if waits || world.left.repeats > 0 {
                actions.push(Action::Bring(place));
            }
            if sent.reply.is_some() {
                actions.push(Action::Hear(place));
            }
            if sent.receipt.is_some() && sent.deed != Deed::File {
                actions.push(Action::BringOther(place));
            }
        }
    }

    fn service(&self, world: &World, actions: &mut Vec<Action>) {
        let Around { lead, asker, .. } = world.around;
        for (ask, look) in (0..2).zip(&world.asks) {
            let Some(look) = look else { continue };
            let facts = self.kept.facts(*look);
            if facts.open {
                actions.push(Action::Tick(ask));
            }
            if lead != Runs::Active || asker != Runs::Active {
                actions.push(Action::Sweep(ask));
            }
            let offer = facts.offer_after(world.told[usize::from(ask)]);
            if asker != Runs::Ended && offer.is_some() {
                actions.push(Action::Offer(ask));
            }
        }
        if world.left.standings > 0 {
            let able = |runs: &Runs| match (lead, runs) {
                (Runs::Ended, _) => false,
                (now, next) => now != *next,
            };
            let next = self.play.lead.iter().copied().filter(able);
            actions.extend(next.map(|runs| Action::Stand(Who::Lead, runs)));
            if self.play.asker_may_end && asker != Runs::Ended {
                actions.push(Action::Stand(Who::Asker, Runs::Ended));
            }
        }
    }

    fn time(&self, world: &World, actions: &mut Vec<Action>) {
        let (next, due) = self.next(world);
        let Some(next) = next else { return };
        if !due || world.left.late > 0 {
            actions.push(Action::Wait(next));
            if world.left.moments > 0 && MOMENT < next {
                actions.push(Action::Wait(MOMENT));
            }
        }
    }
}

impl Model for Stage {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let around = Around { lead: Runs::Active, asker: Runs::Active, nos: 0, awake: WINDOW };
        let first = self.file(0, around);
        let mut world = World {
            asks: [Some(first), None],
            around,
            sent: Vec::new(),
            told: [None; 2],
            left: Left {
                callers: self.play.callers.iter().map(|(_, times, _)| *times).collect(),
                crashes: self.play.crashes,
                repeats: self.play.repeats,
                moments: self.play.moments,
                late: self.play.late,
                standings: u8::from(!self.play.lead.is_empty() || self.play.asker_may_end),
            },
            broken: 0,
        };
        if self.play.second_comes {
            world.sent.push(Sent::new(Who::Asker, 1, Deed::File));
        } else if self.play.two {
            world.asks[1] = Some(self.file(1, around));
        }
        vec![world]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        self.expanded.fetch_add(1, Ordering::Relaxed);
        self.network(world, actions);
        self.wishes(world, actions);
        self.service(world, actions);
        self.time(world, actions);
        if world.left.crashes > 0 {
            actions.push(Action::Crash);
        }
    }

    fn next_state(&self, before: &World, action: Action) -> Option<World> {
        let mut world = before.clone();
        match action {
            Action::Send(caller, ask, deed) => {
                world.left.callers[caller] -= 1;
                world.sent.push(Sent::new(self.play.callers[caller].0, ask, deed));
            }
            Action::Bring(place) => {
                let sent = world.sent[place];
                if sent.reply.is_some() || sent.known.is_some() {
                    world.left.repeats -= 1;
                }
                self.serve(&mut world, place)?;
            }
            Action::BringOther(place) => self.bring_other(&mut world, place)?,
            Action::Hear(place) => {
                let sent = &mut world.sent[place];
                sent.known = sent.reply.take();
            }
            Action::Offer(ask) => {
                let look = world.asks[usize::from(ask)]?;
                let told = &mut world.told[usize::from(ask)];
                *told = self.kept.facts(look).offer_after(*told);
            }
            Action::Tick(ask) => self.own(&mut world, ask, Deed::Tick)?,
            Action::Sweep(ask) => self.own(&mut world, ask, Deed::Sweep)?,
            Action::Stand(who, runs) => {
                world.left.standings -= 1;
                match who {
                    Who::Lead => world.around.lead = runs,
                    _ => world.around.asker = runs,
                }
                // A session that may be resumed has one more turn of it.
                world.left.standings += u8::from(who == Who::Lead && runs == Runs::Paused);
            }
            Action::Crash => {
                world.left.crashes -= 1;
                world.told = [None; 2];
                world.around.awake = Span::default();
                for sent in world.sent.iter_mut().filter(|sent| sent.reply.is_some()) {
                    sent.reply = None;
                    sent.lost |= sent.receipt.is_some();
                }
            }
            Action::Wait(time) => self.wait(&mut world, time),
        }
        // Who sent first makes no difference.
        world.sent.sort_unstable();
        (world != *before).then_some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = properties();
        let comes = |property: &Property<Self>| self.play.comes_to.contains(&property.name);
        all.extend(sometimes().into_iter().filter(comes));
        all
    }
}

impl Stage {
    /// The same id with something else in it: refused, and nothing is changed.
    fn bring_other(&self, world: &mut World, place: usize) -> Option<()> {
        let other = match world.sent[place].deed {
            Deed::Withdraw => Deed::Say,
            _ => Deed::Withdraw,
        };
        let said = match self.play.planted {
            Some(Planted::IdTakenTwice) => self.decide(world, place, other),
            _ => Said::Refused(Why::Reused),
        };
        if said != Said::Refused(Why::Reused) {
            world.broken |= broken::RULE_07;
        }
        Some(())
    }

    fn wait(&self, world: &mut World, time: Span) {
        let (next, due) = self.next(world);
        world.left.late -= u8::from(due);
        world.left.moments -= u8::from(next != Some(time));
        world.around.awake = (world.around.awake + time).min(WINDOW);
        for look in world.asks.iter_mut().flatten() {
            *look = self.kept.age(*look, time);
        }
    }
}

impl Sent {
    fn new(who: Who, ask: u8, deed: Deed) -> Self {
        Self {
            who,
            ask,
            deed,
            receipt: None,
            reply: None,
            known: None,
            changes: 0,
            lost: false,
            again: false,
        }
    }

    fn told(&self) -> impl Iterator<Item = Said> {
        [self.reply, self.known, self.receipt].into_iter().flatten()
    }
}

impl Stage {
    fn winner(&self, world: &World, ask: u8) -> Option<Winner> {
        let look = world.asks[usize::from(ask)]?;
        self.kept.facts(look).winner
    }

    /// Exactly one has won, and whoever is told that it was too late is told who.
    fn settled_once(&self, world: &World) -> bool {
        world.sent.iter().all(|sent| {
            sent.told().all(|said| match said {
                Said::Closed(winner) => self.winner(world, sent.ask) == Some(winner),
                Said::Done => sent.deed.settles().is_none_or(|way| {
                    self.winner(world, sent.ask) == Some(Winner { by: sent.who, way })
                }),
                Said::Refused(_) => true,
            })
        })
    }

    /// What is not moved on by time is with people, and the timer is told of a hop whose time is over.
    fn with_people(&self, world: &World) -> bool {
        world.asks.iter().flatten().all(|look| {
            let facts = self.kept.facts(*look);
            let in_time = !facts.overdue || facts.due_in == Some(Span::default());
            !facts.open || (in_time && (facts.with_people || facts.due_in.is_some()))
        })
    }

    /// One intent has one result and one effect.
    fn idempotent(&self, world: &World) -> bool {
        world.sent.iter().all(|sent| {
            let recorded = sent.told().filter(|said| !matches!(said, Said::Refused(_)));
            let first = sent.receipt;
            sent.changes <= 1 && recorded.into_iter().all(|said| Some(said) == first)
        })
    }

    fn any_ask(&self, world: &World, is: impl Fn(Option<Way>, u8) -> bool) -> bool {
        world.asks.iter().flatten().any(|look| {
            let facts = self.kept.facts(*look);
            is(facts.winner.map(|winner| winner.way), facts.met)
        })
    }
}

fn intact(world: &World, rule: u16) -> bool {
    world.broken & rule == 0
}

/// What must hold, by name.
pub const RULES: [&str; 10] = [
    "rule_02_settled_once",
    "rule_03_reaches_a_person",
    "rule_04_silence_is_not_consent",
    "rule_05_only_whom_it_waits_on",
    "rule_06_a_person_may_always_answer",
    "rule_07_idempotent_by_request_id",
    "rule_11_delivered_means_acknowledged",
    "rule_18_history_is_enough",
    "rule_20_bound_to_what_was_shown",
    "rule_22_a_tick_makes_progress",
];

fn properties() -> Vec<Property<Stage>> {
    vec![
        Property::<Stage>::always("rule_02_settled_once", |stage, world| {
            intact(world, broken::RULE_02) && stage.settled_once(world)
        }),
        Property::<Stage>::always("rule_03_reaches_a_person", |stage, world| {
            intact(world, broken::RULE_03) && stage.with_people(world)
        }),
        Property::<Stage>::always("rule_04_silence_is_not_consent", |_, world| {
            intact(world, broken::RULE_04)
        }),
        Property::<Stage>::always("rule_05_only_whom_it_waits_on", |_, world| {
            intact(world, broken::RULE_05)
        }),
        Property::<Stage>::always("rule_06_a_person_may_always_answer", |_, world| {
            intact(world, broken::RULE_06)
        }),
        Property::<Stage>::always("rule_07_idempotent_by_request_id", |stage, world| {
            intact(world, broken::RULE_07) && stage.idempotent(world)
        }),
        Property::<Stage>::always("rule_11_delivered_means_acknowledged", |_, world| {
            intact(world, broken::RULE_11)
        }),
        Property::<Stage>::always("rule_18_history_is_enough", |_, world| {
            intact(world, broken::RULE_18)
        }),
        Property::<Stage>::always("rule_20_bound_to_what_was_shown", |_, world| {
            intact(world, broken::RULE_20)
        }),
        Property::<Stage>::always("rule_22_a_tick_makes_progress", |_, world| {
            intact(world, broken::RULE_22)
        }),
    ]
}

/// What a play must come to, or it says little.
fn sometimes() -> Vec<Property<Stage>> {
    vec![
        Property::<Stage>::sometimes("a default stands", |stage, world| {
            stage.any_ask(world, |way, _| way == Some(Way::Default))
        }),
        Property::<Stage>::sometimes("a default is held", |stage, world| {
            stage.any_ask(world, |_, met| met & seen::DEFAULT_HELD != 0)
        }),
        Property::<Stage>::sometimes("an ask expires", |stage, world| {
            stage.any_ask(world, |way, _| way == Some(Way::Expired))
        }),
        Property::<Stage>::sometimes("a claim lapses", |stage, world| {
            stage.any_ask(world, |_, met| met & seen::CLAIM_LAPSED != 0)
        }),
        Property::<Stage>::sometimes("a sender that is gone is passed over", |stage, world| {
            stage.any_ask(world, |_, met| met & seen::SENDER_PASSED != 0)
        }),
        Property::<Stage>::sometimes("an ask is abandoned", |stage, world| {
            stage.any_ask(world, |way, _| way == Some(Way::Abandoned))
        }),
        Property::<Stage>::sometimes("an answer is told again after it settled", |_, world| {
            world.sent.iter().any(|sent| sent.again && sent.deed.bound_to().is_some())
        }),
        Property::<Stage>::sometimes("a crash between commit and reply", |_, world| {
            world.sent.iter().any(|sent| sent.lost && sent.known.is_some())
        }),
        Property::<Stage>::sometimes("a loser is told who won", |_, world| {
            let closed = |sent: &Sent| matches!(sent.known, Some(Said::Closed(_)));
            world.sent.iter().any(closed)
        }),
        Property::<Stage>::sometimes("an answer is stale", |_, world| {
            let stale = |sent: &Sent| sent.known == Some(Said::Refused(Why::Stale));
            world.sent.iter().any(stale)
        }),
        Property::<Stage>::sometimes("a no stands against the other ask", |_, world| {
            let no = |sent: &Sent| sent.known == Some(Said::Refused(Why::Declined));
            world.sent.iter().any(no)
        }),
        Property::<Stage>::sometimes("an outcome is acknowledged", |_, world| {
            let has = |sent: &Sent| {
                let acknowledged = matches!(sent.deed, Deed::Acknowledge { .. });
                acknowledged && sent.who == Who::Asker && sent.known == Some(Said::Done)
            };
            world.sent.iter().any(has)
        }),
    ]
}
