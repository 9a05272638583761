//! What may be as long or as many as it may be, and not one more; each fault is said once.

use super::*;

fn fields(found: &[Violation]) -> Vec<&str> {
    found.iter().map(|violation| violation.field.as_str()).collect()
}

fn question(id: usize, options: usize) -> Question {
    let options = (0..options).map(|number| option(&format!("choice {number}"))).collect();
    Question {
        id: format!("q{id}"),
        header: String::new(),
        question: "Which one?".into(),
        options,
        multiple: true,
    }
}

fn asking(questions: usize, options: usize) -> Content {
    let questions = (0..questions).map(|id| question(id, options)).collect();
    Content { questions, context: String::new() }
}

#[test]
fn a_content_has_as_many_questions_and_options_as_it_may_have_and_no_more() {
    assert_eq!(asking(limits::QUESTIONS, limits::OPTIONS).violations(), []);
    assert_eq!(asking(1, 0).violations(), [], "one that is answered with text");
    assert_eq!(fields(&asking(0, 2).violations()), ["questions"]);
    assert_eq!(fields(&asking(limits::QUESTIONS + 1, 2).violations()), ["questions"]);
    let found = asking(1, limits::OPTIONS + 1).violations();
    assert_eq!(fields(&found), ["questions[0].options"]);
}

/// Of what is more than may be, one is looked at: who sends millions is told of the first.
#[test]
fn of_what_is_too_much_one_more_is_looked_at() {
    let mut content = asking(limits::QUESTIONS + 2, limits::OPTIONS + 2);
    content.questions.iter_mut().for_each(|question| question.question.clear());
    let named = |place: usize| format!("questions[{place}].question");
    let found = content.violations();
    assert!(fields(&found).contains(&named(limits::QUESTIONS).as_str()), "{found:?}");
    assert!(!fields(&found).contains(&named(limits::QUESTIONS + 1).as_str()), "{found:?}");
    let mut content = asking(1, limits::OPTIONS + 2);
    let labels = &mut content.questions[0].options;
    labels.iter_mut().for_each(|option| option.label = format!(" {}", option.label));
    let named = |place: usize| format!("questions[0].options[{place}].label");
    let found = content.violations();
    assert!(fields(&found).contains(&named(limits::OPTIONS).as_str()), "{found:?}");
    assert!(!fields(&found).contains(&named(limits::OPTIONS + 1).as_str()), "{found:?}");
}

#[test]
fn an_answer_selects_all_there_is_and_is_told_of_one_label_more() {
    let content = asking(1, limits::OPTIONS);
    let selecting = |labels: Vec<String>| {
        let answer = Answer { selected: labels, ..Answer::default() };
        crate::ask::answer::violations(
            "answers",
            &content,
            &BTreeMap::from([("q0".to_owned(), answer)]),
        )
    };
    let all: Vec<_> = (0..limits::OPTIONS).map(|number| format!("choice {number}")).collect();
    assert_eq!(selecting(all.clone()), []);
    let wrong = |count: usize| {
        let wrong = (0..count).map(|number| format!("wrong {number}"));
        selecting(wrong.collect())
    };
    let said = |found: &[Violation]| (found.len(), found.last().unwrap().description.clone());
    assert_eq!(wrong(limits::OPTIONS).len(), limits::OPTIONS);
    let more = "more labels than options".to_owned();
    assert_ne!(said(&wrong(limits::OPTIONS + 1)), (limits::OPTIONS + 1, more.clone()));
    assert_eq!(wrong(limits::OPTIONS + 1).len(), limits::OPTIONS + 1);
    assert_eq!(said(&wrong(limits::OPTIONS + 2)), (limits::OPTIONS + 2, more.clone()));
    assert_eq!(said(&wrong(limits::OPTIONS + 9)), (limits::OPTIONS + 2, more));
}

fn draft() -> Draft {
    filing(vec![to_people(&["owner"], None)], None).draft
}

#[test]
fn what_travels_is_as_long_as_it_may_be_and_no_longer() {
    let carrying = |state: usize, parent: usize, trace: usize| {
        let state = vec![7; state];
        let mut draft = draft();
        draft.carried = Carried::new(&state, "p".repeat(parent), "s".repeat(trace));
        draft.violations().iter().map(|found| found.field.clone()).collect::<Vec<_>>()
    };
    let (state, parent, trace) =
        (limits::ASKER_STATE_BYTES, limits::TRACE_PARENT_BYTES, limits::TRACE_STATE_BYTES);
    assert_eq!(carrying(state, parent, trace), [""; 0]);
    assert_eq!(carrying(state + 1, 0, 0), ["asker_state"]);
    assert_eq!(carrying(0, parent + 1, trace + 1), ["trace_parent", "trace_state"]);
    let mut bell = draft();
    bell.carried.trace_state = "\u{7}".into();
    assert_eq!(fields(&bell.violations()), ["trace_state"], "only what prints");
}

#[test]
fn defaults_are_for_an_expiry_with_default_and_their_faults_are_said_once() {
    let expiring = |action: ExpiryAction, content: Content, defaults: Answers| {
        let expire = Some((mins(30), action));
        let found = Draft { expire, content: content.into(), defaults, ..draft() }.violations();
        found.iter().map(|violation| violation.field.clone()).collect::<Vec<_>>()
    };
    let named = || answers("SQLite");
    assert_eq!(expiring(ExpiryAction::Default, content(), named()), [""; 0]);
    assert_eq!(expiring(ExpiryAction::Stop, content(), named()), ["defaults"]);
    assert_eq!(expiring(ExpiryAction::Stop, content(), Answers::new()), [""; 0]);
    assert!(!expiring(ExpiryAction::Default, content(), Answers::new()).is_empty());
    // What the content lacks is said of the content alone.
    let empty = Content { questions: Vec::new(), ..content() };
    assert_eq!(expiring(ExpiryAction::Default, empty, named()), ["questions"]);
}

#[test]
fn one_option_is_recommended_where_one_is_chosen_and_any_where_several_are() {
    let recommending = |multiple: bool, recommended: usize| {
        let mut content = asking(1, 3);
        let question = &mut content.questions[0];
        question.multiple = multiple;
        question.options[..recommended].iter_mut().for_each(|option| option.recommended = true);
        content.violations().len()
    };
    assert_eq!([0, 1, 2].map(|many| recommending(false, many)), [0, 0, 1]);
    assert_eq!([0, 1, 3].map(|many| recommending(true, many)), [0, 0, 0]);
}

/// Of options that are replaced for more questions than there can be, one is looked at.
#[test]
fn of_replaced_questions_one_more_than_there_can_be_is_looked_at() {
    let replacing = |count: usize| {
        let replaced = |number: usize| (format!("other{number}"), vec![option("Yes")]);
        let options = (0..count).map(replaced).collect();
        let standing = None;
        let by = worker();
        let command = Command::Reply { by, text: "2 GB".into(), options, standing };
        match rejected(&to_lead_then_owner(), &command, after(mins(1))) {
            Rejection::Invalid(found) => found.len(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(replacing(limits::QUESTIONS + 1), limits::QUESTIONS + 1);
    assert_eq!(replacing(limits::QUESTIONS + 9), limits::QUESTIONS + 1);
}
