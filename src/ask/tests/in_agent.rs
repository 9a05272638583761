//! What a person is recorded to have typed where a coding agent runs its commands. That each command is
//! decided as it is elsewhere, in every state, stands in the table.

use super::*;

fn typed(command: Command) -> Command {
    Command::InAgent(Box::new(command))
}

#[test]
fn it_goes_with_the_outcome_the_words_and_the_claim_and_with_nothing_else() {
    let ask = to_lead_then_owner();
    let at = after(mins(1));
    for end in [answer(&ask, "owner"), decline(&ask, "owner")] {
        let marked = then(&ask, &typed(end.clone()), at);
        assert!(marked.outcome().unwrap().in_agent);
        assert!(!then(&ask, &end, at).outcome().unwrap().in_agent);
    }
    let said = then(&ask, &typed(say(Actor::Person(owner()))), at);
    let said = then(&said, &say(Actor::Person(owner())), at);
    assert_eq!(said.turns.iter().map(|turn| turn.in_agent).collect::<Vec<_>>(), [true, false]);
    let claimed = then(&ask, &typed(claim("owner", 5, false)), at);
    assert!(claimed.claim.unwrap().in_agent);
    let moved = typed(escalate(&ask, Actor::Person(owner()), 0));
    let moved = decide(Some(&ask), &moved, at).unwrap();
    assert!(moved.iter().all(|event| event.in_agent), "the event has it, where nothing else does");
    let read = then(&said, &read(2), at);
    let events = decide(Some(&read), &tick(&read), after(mins(15))).unwrap();
    assert!(events.iter().all(|event| !event.in_agent), "time is nobody's word");
}

#[test]
fn the_asker_is_told_of_it_in_words() {
    let ask = to_lead_then_owner();
    let note = "It was typed in an agent's environment: an agent may have typed it.\n";
    for command in [answer(&ask, "owner"), say(Actor::Person(owner()))] {
        let told = |command: &Command| then(&ask, command, after(mins(1))).follow_up(2);
        assert!(told(&typed(command.clone())).contains(note));
        assert!(!told(&command).contains(note));
    }
}

#[test]
fn a_no_that_binds_goes_on_saying_where_it_was_typed() {
    let ask = to_lead_then_owner();
    let declined = then(&ask, &typed(decline(&ask, "owner")), after(mins(1)));
    let no = StandingNo::after(&declined, declined.what_is_asked(), None).unwrap();
    assert!(no.in_agent);
    let mut again = filing(vec![to_people(&["owner"], None)], None);
    again.standing = Some(no);
    let events = decide(None, &Command::Ask(Box::new(again)), after(mins(2))).unwrap();
    assert_eq!(events.iter().map(|event| event.in_agent).collect::<Vec<_>>(), [false, true]);
    assert!(fold(&events).unwrap().outcome().unwrap().in_agent);
}

#[test]
fn events_of_before_there_was_such_a_mark_are_without_it() {
    let events = decide(Some(&to_lead_then_owner()), &withdraw(), after(mins(1))).unwrap();
    let stored = serde_json::to_value(&events[0]).unwrap();
    assert_eq!(stored.get("in_agent"), None);
    let read: Event = serde_json::from_value(stored).unwrap();
    assert!(!read.in_agent);
}
