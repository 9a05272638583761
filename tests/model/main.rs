//! Every order in which a few callers, a network that repeats and reorders, a crash and time may
//! meet over two asks: all of them, not some. The rules are those of the program, asked as its engine
//! asks them; what must hold is kept by a second book that shares no arithmetic with them.
//!
//! `plays` is how much of everything there is, `cast` who plays, `deed` what they want, `kept` what
//! the rules make of it, `ledger` the second book, `world` the model, `planted` its mistakes. Together
//! the plays have more than a million worlds, and every one of them is looked at.

mod cast;
mod deed;
mod kept;
mod ledger;
mod planted;
mod plays;
mod world;

use planted::Planted;
use stateright::{Checker, HasDiscoveries, Model};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use world::{Play, RULES, Stage};

/// Fewer worlds, and a play has been made smaller than it was meant to be.
const WORLDS: usize = 1_000_000;
/// As many as a machine has that runs the tests.
const THREADS: usize = 2;

/// Every world of a play: how many there are.
fn exhaust(play: Play) -> usize {
    let (name, comes_to) = (play.name, play.comes_to);
    let checker = Stage::new(play).checker().threads(THREADS).spawn_dfs().join();
    let worlds = checker.unique_state_count();
    let stage = checker.model();
    // From each of them every step was taken, and no limit was set.
    let expanded = stage.expanded.load(Ordering::Relaxed);
    let (asks, decisions) = stage.kept.counts();
    println!(
        "model: play={name:?} worlds={worlds} expanded={expanded} steps={} depth={} asks={asks} \
         decisions={decisions}",
        checker.state_count(),
        checker.max_depth(),
    );
    assert_eq!(expanded, worlds, "{name}: it was cut short");
    assert!(checker.is_done(), "{name}: it was cut short");
    let found = checker.discoveries();
    if let Some((rule, path)) = found.iter().find(|(property, _)| RULES.contains(property)) {
        panic!("{name}: {rule} is broken after {:#?}", path.clone().into_actions());
    }
    let met: BTreeSet<_> = found.into_keys().collect();
    assert_eq!(met, comes_to.iter().copied().collect(), "{name}: what it comes to");
    worlds
}

#[test]
fn the_rules_hold_in_every_order_of_a_million() {
    let plays = [
        plays::noes(),
        plays::talk(),
        plays::crash(),
        plays::second(),
        plays::one_default(),
        plays::defaults(),
    ];
    let worlds: usize = plays.into_iter().map(exhaust).sum();
    println!("model: worlds={worlds} violations=0");
    assert!(worlds >= WORLDS, "{worlds} worlds are few");
}

/// Each mistake with the rule that it breaks: a model that cannot fail proves nothing.
const MISTAKES: [(Planted, &str); 16] = [
    (Planted::LoserWins, "rule_02_settled_once"),
    (Planted::SettledTwice, "rule_02_settled_once"),
    (Planted::TicksEarly, "rule_03_reaches_a_person"),
    (Planted::NoTimer, "rule_03_reaches_a_person"),
    (Planted::ClaimIgnored, "rule_03_reaches_a_person"),
    (Planted::DefaultUnseen, "rule_04_silence_is_not_consent"),
    (Planted::OverWords, "rule_04_silence_is_not_consent"),
    (Planted::AnyoneAnswers, "rule_05_only_whom_it_waits_on"),
    (Planted::PersonTurnedAway, "rule_06_a_person_may_always_answer"),
    (Planted::ReceiptsForgotten, "rule_07_idempotent_by_request_id"),
    (Planted::IdTakenTwice, "rule_07_idempotent_by_request_id"),
    (Planted::AnyoneAcknowledges, "rule_11_delivered_means_acknowledged"),
    (Planted::TurnsLeftBehind, "rule_11_delivered_means_acknowledged"),
    (Planted::BehindHistory, "rule_18_history_is_enough"),
    (Planted::StaleTaken, "rule_20_bound_to_what_was_shown"),
    (Planted::TickForgotten, "rule_22_a_tick_makes_progress"),
];

#[test]
fn every_planted_mistake_is_found() {
    for (planted, rule) in MISTAKES {
        let checker = Stage::new(plays::with(planted)).checker();
        let checker = checker.finish_when(HasDiscoveries::AnyOf([rule].into_iter().collect()));
        let checker = checker.spawn_bfs().join();
        let path = checker.discovery(rule);
        let path = path.unwrap_or_else(|| panic!("{planted:?} breaks {rule}, and was not found"));
        println!("model: planted={planted:?} breaks={rule} after={:?}", path.into_actions());
    }
    let rules: BTreeSet<_> = MISTAKES.iter().map(|(_, rule)| *rule).collect();
    assert_eq!(rules, RULES.into_iter().collect(), "a rule without a mistake that breaks it");
}

/// The same small plays without their mistakes.
#[test]
fn without_the_mistakes_nothing_is_found() {
    for (planted, rule) in MISTAKES {
        let play = Play { planted: None, ..plays::with(planted) };
        let checker = Stage::new(play).checker().spawn_bfs().join();
        assert!(checker.discovery(rule).is_none(), "{rule} is broken without {planted:?}");
    }
}
