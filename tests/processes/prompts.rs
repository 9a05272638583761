//! What a person is asked at a terminal, and what they press.

use super::daemon::{ASKWAY, Daemon, Said};
use super::terminal::{CTRL_C, DOWN, ENTER, ESC, Terminal, UP};
use askway::grpc::v1;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// The token of a session that nobody sent: what it asks waits on the owner.
fn asker(daemon: &Daemon) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let request = v1::EnrollRequest { agent: "asker".into(), ..Default::default() };
        daemon.client(None).enroll(request).await.expect("a root session").token
    })
}

/// The id of an ask with two options, of which the second is recommended.
fn ask(daemon: &Daemon, asker: &str, question: &str) -> String {
    let line =
        ["ask", question, "-o", "Postgres", "-o", "SQLite=one file", "--recommend", "SQLite"];
    daemon.verb(Some(asker), &line).ends(0).id()
}

fn show(daemon: &Daemon, id: &str) -> Value {
    daemon.verb(None, &["show", id]).ends(0).json()
}

const FIRST: &str = "> 1. SQLite (recommended): one file";
const SECOND: &str = "> 2. Postgres";

#[test]
fn arrows_choose_the_recommended_is_first_and_what_was_shown_is_answered() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see("asked by asker").see(FIRST);
    terminal.press(DOWN).see(SECOND);
    terminal.press(ENTER).see("Your answer: Which store? Postgres").see("> send it");
    terminal.press(ENTER).see(&format!("answered {id}; asker gets it when it next looks"));
    terminal.ends(0);
    let shown = show(&daemon, &id);
    assert_eq!(shown["outcome"]["answers"]["q1"]["selected"], serde_json::json!(["Postgres"]));
    let log = daemon.verb(None, &["log", &id]).ends(0).lines();
    let kinds: Vec<_> = log.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["filed", "seen", "answered"]);
}

#[test]
fn several_questions_selections_words_and_a_change_are_one_answer() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let file = daemon.data().join("ask.json");
    let questions = r#"{"questions":[
        {"question":"Which stores?","multiple":true,"options":[{"label":"A"},{"label":"B"},{"label":"C"}]},
        {"question":"Why?"}]}"#;
    fs::write(&file, questions).expect("written");
    let file = file.display().to_string();
    let id = daemon.verb(Some(&asker), &["ask", "--file", &file]).ends(0).id();
    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see("(1 of 2) Which stores?").see("> [ ] 1. A");
    terminal.press(" ").see("> [x] 1. A");
    terminal.press(DOWN).see("> [ ] 2. B").press(DOWN).see("> [ ] 3. C");
    terminal.press(" ").see("> [x] 3. C").press(ENTER);
    terminal.see("(2 of 2) Why?").see("esc: other ways").press("becauze\u{7f}\u{7f}se");
    terminal.see("because").press(ENTER);
    terminal.see("Your answer: Which stores? A, C; Why? \"because\"").see("> send it");
    // The first is changed, the second kept.
    terminal.press(DOWN).see("> add words").press(DOWN).see("> change it").press(ENTER);
    terminal.see("Change which?").press(ENTER).see("> [ ] 1. A").press(DOWN).see("> [ ] 2. B");
    terminal.press(" ").see("> [x] 2. B").press(ENTER);
    terminal
        .see("Your answer: Which stores? B; Why? \"because\"")
        .see("? Send it?")
        .press(ENTER)
        .see("answered ask_");
    terminal.ends(0);
    let answers = show(&daemon, &id)["outcome"]["answers"].clone();
    assert_eq!(answers["q1"]["selected"], serde_json::json!(["B"]));
    assert_eq!(answers["q2"]["text"], "because");
}

#[test]
fn numbers_choose_and_ctrl_keys_edit_the_line() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see(FIRST).press("2").see(SECOND).press("1").see(FIRST).press("\u{15}x").see(FIRST);
    terminal.press("2").see(SECOND).press(ENTER).see("Your answer: Which store? Postgres");
    terminal.see("> send it").press(DOWN).see("> add words").press(ENTER).see("Your words:");
    terminal.press("one two three").see("one two three");
    terminal.press("\u{17}").see_no("three").press("\u{1}zero \u{5}four").see("zero one two four");
    terminal.press("\u{1}\u{6}\u{4}\u{8}\u{1a}\u{7}").see("Your words: ro one two four");
    terminal.press("\u{5}\u{15}").see_no("four").press("at last").see("Your words: at last");
    terminal.press(ENTER).see("Postgres, \"at last\"").see("> send it").press(ENTER);
    terminal.see("answered ask_");
    terminal.ends(0);
    let answer = show(&daemon, &id)["outcome"]["answers"]["q1"].clone();
    assert_eq!((&answer["selected"][0], &answer["text"]), (&"Postgres".into(), &"at last".into()));
}

#[test]
fn ctrl_w_erases_the_word_before_the_cursor_and_nothing_after_it() {
    const LEFT: &str = "\u{1b}[D";
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = daemon.verb(Some(&asker), &["ask", "Why?"]).ends(0).id();
    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see("? Why?").press("one two-three  ").press("\u{17}x").see("one x");
    // Within a word what follows the cursor stays, and at the beginning all does.
    terminal.press("yz").press(&LEFT.repeat(2)).press("\u{17}w").see("one wyz");
    terminal.press(&LEFT.repeat(5)).press("\u{17}v").see("vone wyz");
    terminal.press("\u{5} größe\u{17}日本\u{17}!").see("vone wyz !");
    terminal.press(ENTER).see("> send it").press(ENTER).see("answered ask_");
    terminal.ends(0);
    assert_eq!(show(&daemon, &id)["outcome"]["answers"]["q1"]["text"], "vone wyz !");
}

#[test]
fn a_question_without_options_is_written_to_at_once_and_the_other_ways_are_behind_esc() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let open = |question: &str| daemon.verb(Some(&asker), &["ask", question]).ends(0).id();
    let one = open("Why is that?");
    let terminal = Terminal::run(&daemon, None, &["answer", &one]);
    terminal.see("? Why is that?").see("esc: other ways").press("so it is").see("so it is");
    terminal.press(ENTER).see("> send it").press(ENTER).see("answered ask_");
    terminal.ends(0);
    assert_eq!(show(&daemon, &one)["outcome"]["answers"]["q1"]["text"], "so it is");
    let other = open("And that?");
    let terminal = Terminal::run(&daemon, None, &["answer", &other]);
    terminal.see("esc: other ways").press(ESC).see("(esc)").see("> write an answer").press(DOWN);
    terminal.see("> say something").press(DOWN).see("> decline").press(DOWN).see("> leave");
    terminal.press(ENTER).see("nothing was sent");
    terminal.ends(5);
}

#[test]
fn an_editor_is_for_long_answers() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    let editor = daemon.data().join("editor");
    fs::write(&editor, "#!/bin/sh\nprintf 'one\\ntwo\\n' > \"$2\"\n").expect("written");
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let editor = format!("{} --wait", editor.display());
    let variables = [("VISUAL", editor.as_str()), ("EDITOR", "false")];
    let terminal = Terminal::run_with(&daemon, None, &["answer", &id], &variables);
    terminal.see(FIRST).press(DOWN).see(SECOND).press(DOWN).see("> write an answer");
    terminal.press(DOWN).see("> write an answer in").press(ENTER);
    terminal.see("> send it").press(ENTER).see("answered ask_");
    terminal.ends(0);
    assert_eq!(show(&daemon, &id)["outcome"]["answers"]["q1"]["text"], "one\ntwo");
}

#[test]
fn what_was_written_in_an_editor_is_not_lost_when_the_ask_is_another_by_then() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    // The editor is open for as long as the asker takes to change the ask.
    let editor = daemon.data().join("editor");
    let reply = format!("'{ASKWAY}' reply {id} Better. -o Redis -o Valkey > /dev/null");
    let script = format!("#!/bin/sh\nexport ASKWAY_TOKEN={asker}\n{reply}\necho long words > $1\n");
    fs::write(&editor, script).expect("written");
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let editor = editor.display().to_string();
    let terminal = Terminal::run_with(&daemon, None, &["answer", &id], &[("EDITOR", &*editor)]);
    terminal.see(FIRST).press(DOWN).see(SECOND).press(DOWN).see("> write an answer");
    terminal.press(DOWN).see("> write an answer in").press(ENTER);
    terminal.see("What you had typed: long words").see("> I have looked").press(ENTER);
    terminal.see("> 1. Redis").press(CTRL_C);
    terminal.ends(130);
    assert_eq!(show(&daemon, &id)["outcome"], Value::Null);
}

#[test]
fn an_answer_that_found_no_daemon_is_sent_again_and_once() {
    let mut daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see(FIRST).press(ENTER).see("> send it");
    daemon.kill();
    terminal.press(ENTER).see("Not sent: try again?").see("> try again");
    daemon.restart();
    terminal.press(ENTER).see(&format!("answered {id}"));
    terminal.ends(0);
    let log = daemon.verb(None, &["log", &id]).ends(0).lines();
    assert_eq!(log.iter().filter(|event| event["kind"] == "answered").count(), 1);
}

#[test]
fn a_person_says_something_or_says_no() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see(FIRST).press(DOWN).see(SECOND).press(DOWN).see("> write an").press(DOWN);
    terminal.see("> say something").press(ENTER).see("To the asker:").press("How many?");
    terminal.see("How many?").press(ENTER).see("said on ask_");
    terminal.ends(5);
    let shown = show(&daemon, &id);
    assert_eq!(
        (&shown["turns"][0]["text"], &shown["outcome"]),
        (&"How many?".into(), &Value::Null)
    );

    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see(FIRST).press(DOWN).see(SECOND).press(DOWN).see("> write an").press(DOWN);
    terminal.see("> say something").press(DOWN).see("> decline").press(ENTER);
    terminal.see("Why?").press("no money").see("no money").press(ENTER);
    terminal.see("> decline it").press(ENTER).see("declined ask_");
    terminal.ends(0);
    let outcome = show(&daemon, &id)["outcome"].clone();
    assert_eq!((&outcome["kind"], &outcome["note"]), (&"declined".into(), &"no money".into()));
}

#[test]
fn leaving_sends_nothing_and_leaves_the_terminal_as_it_was() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    for (key, code) in [(ESC, 5), (CTRL_C, 130)] {
        let terminal = Terminal::run(&daemon, None, &["answer", &id, "--claim"]);
        terminal.see(FIRST).press(key);
        terminal.ends(code);
        let terminal = Terminal::run(&daemon, None, &["answer", &id]);
        terminal.see(FIRST).press(ENTER).see("> send it").press(key);
        terminal.ends(code);
        assert_eq!(show(&daemon, &id)["claim"], Value::Null, "who has left is not on it");
    }
    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see(FIRST).press(DOWN).see(SECOND).press(DOWN).see("> write an").press(ENTER);
    // Esc while writing goes back; a line without words is no answer.
    terminal.see("Your answer:").press("half").see("half").press(ESC).see(FIRST);
    for way in [SECOND, "> write an", "> say", "> decline", "> leave"] {
        terminal.press(DOWN).see(way);
    }
    terminal.press(ENTER).see("nothing was sent");
    terminal.ends(5);
    let terminal = Terminal::run(&daemon, Some(&asker), &["wait", &id]);
    terminal.see("waiting on owner for").press(CTRL_C).see_no("waiting on");
    terminal.ends(130);
    let terminal = Terminal::run(&daemon, None, &["inbox", "--watch"]);
    terminal.see("Which store?").press(CTRL_C);
    terminal.ends(130);
    assert_eq!(show(&daemon, &id)["outcome"], Value::Null);
}

#[test]
fn a_prompt_has_colour_where_everything_else_has() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    let table: [(&[(&str, &str)], bool); 4] = [
        (&[], true),
        (&[("NO_COLOR", "1")], false),
        (&[("NO_COLOR", "")], true),
        (&[("CLICOLOR", "0")], false),
    ];
    for (variables, coloured) in table {
        let terminal = Terminal::run_with(&daemon, None, &["answer", &id], variables);
        terminal.see(FIRST).see("esc leaves");
        assert_eq!(terminal.is_coloured(), coloured, "{variables:?}");
        terminal.press(ESC);
        terminal.ends(5);
    }
}

#[test]
fn who_ends_the_program_gets_the_terminal_back() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    for sent in [Signal::TERM, Signal::HUP] {
        let terminal = Terminal::run(&daemon, None, &["answer", &id]);
        terminal.see(FIRST).signal(sent);
        terminal.ends(130);
    }
    assert_eq!(show(&daemon, &id)["outcome"], Value::Null);
}

#[test]
fn rule_21_hostile_text_does_nothing_to_a_terminal_that_asks_about_it() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}]52;c;b3duZWQ=\u{7}\u{1b}[2J\u{1b}[H\u{9b}31m\u{202e}";
    let question = format!("Which?{hostile}");
    let described = format!("Yes=sure{hostile}\n> leave\n");
    let context = format!("{hostile}\n? Send it?\n> send it");
    let line = ["ask", &*question, "-o", &*described, "-o", "leave it", "--context", &*context];
    let id = daemon.verb(Some(&asker), &line).ends(0).id();
    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see("│ > send it").see("│ > leave").see("> 1. Yes: sure\\u{1b}]0;owned\\u{7}");
    // A label like it has a number; what leaves has none.
    terminal.press(DOWN).see("> 2. leave it").press(DOWN).see("> write an").press(ENTER);
    terminal.see("Your answer:").press(ESC).see("> 1. Yes").press(ESC).see("nothing was sent");
    let contents = terminal.contents();
    assert!(contents.starts_with("ask_"), "nothing was cleared: {contents}");
    assert!(!contents.contains('\u{202e}') && !terminal.is_rung_or_named(), "{contents}");
    terminal.ends(5);
}

#[test]
fn a_key_beside_a_change_of_size_is_not_left_lying() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see(FIRST);
    for _ in 0..20 {
        terminal.resize(30, 60);
        terminal.press(DOWN).see(SECOND);
        terminal.resize(60, 120);
        terminal.press(UP).see(FIRST);
    }
    terminal.resize(30, 60);
    terminal.press(DOWN).see(SECOND);
    terminal.resize(60, 120);
    terminal.press(ENTER).see("> send it").press(ENTER).see("answered ask_");
    terminal.ends(0);
}

#[test]
fn c47_a_key_never_answers_what_has_just_replaced_what_was_on_screen() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see(FIRST).press(DOWN).see(SECOND).press(DOWN).see("> write an").press(ENTER);
    terminal.see("Your answer:").press("the first one").see("the first one");
    let line = ["reply", &id, "Better these.", "-o", "Redis", "-o", "Valkey"];
    daemon.verb(Some(&asker), &line).ends(0);
    terminal.see("Better these.").see("What you had typed: the first one");
    terminal.see("It has been changed. Go on?").see("> I have looked");
    // The key that was on its way confirms that it was seen, and nothing else.
    terminal.press(ENTER).see("> 1. Redis");
    assert_eq!(show(&daemon, &id)["outcome"], Value::Null);
    // Something else comes: it queues, and what is on screen stays.
    let other = ask(&daemon, &asker, "Another?");
    terminal.press(DOWN).see("> 2. Valkey").press(ENTER).see("> send it").press(ENTER);
    terminal.see(&format!("answered {id}"));
    terminal.ends(0);
    let selected = show(&daemon, &id)["outcome"]["answers"]["q1"]["selected"].clone();
    assert_eq!(selected, serde_json::json!(["Valkey"]));
    assert_eq!(show(&daemon, &other)["outcome"], Value::Null);
}

#[test]
fn c159_c117_a_prompt_ends_by_itself_when_somebody_else_has_settled_it() {
    let daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let id = ask(&daemon, &worker, "Which store?");
    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see(FIRST).press(DOWN).see(SECOND).press(DOWN).see("> write an").press(ENTER);
    terminal.see("Your answer:").press("my words").see("my words");
    daemon.verb(Some(&lead), &["escalate", &id, "-m", "not mine"]).ends(0);
    terminal.see("It waits on owner now").see(FIRST);
    terminal.press(DOWN).see(SECOND).press(DOWN).see("> write an").press(ENTER);
    terminal.see("Your answer: my words");
    daemon.verb(None, &["answer", &id, "Postgres"]).ends(0);
    terminal.see("What you had typed: my words").see("settled before: answered by owner");
    terminal.see("with Postgres").see("nothing of yours was sent");
    terminal.ends(6);
    let withdrawn = ask(&daemon, &worker, "And the cache?");
    let terminal = Terminal::run(&daemon, None, &["answer", &withdrawn]);
    terminal.see(FIRST);
    daemon.verb(Some(&worker), &["withdraw", &withdrawn, "-m", "found it"]).ends(0);
    terminal.see("settled before: withdrawn by worker").see("found it");
    terminal.ends(6);
    let terminal = Terminal::run(&daemon, None, &["answer", &withdrawn]);
    terminal.see("settled before: withdrawn by worker");
    terminal.ends(6);
}

#[test]
fn c49_c52_the_most_pressing_comes_first_and_the_next_is_offered() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let old = ask(&daemon, &asker, "The old one?");
    let young = ask(&daemon, &asker, "The young one?");
    let line = ["ask", "The pressing one?", "-o", "Yes", "--priority", "high"];
    let pressing = daemon.verb(Some(&asker), &line).ends(0).id();
    let terminal = Terminal::run(&daemon, None, &["answer"]);
    terminal.see("The pressing one?").see("> 1. Yes").press(ENTER).see("> send it").press(ENTER);
    terminal.see(&format!("answered {pressing}")).see("2 more wait on you: go on?").press(ENTER);
    terminal.see("The old one?").see(FIRST);
    // Because of the first answer the asker does not need the second any more.
    daemon.verb(Some(&asker), &["withdraw", &old, "-m", "settled by the first"]).ends(0);
    terminal.see("withdrawn by asker").see("settled by the first");
    terminal.see("1 more waits on you: go on?").press(ENTER).see("? The young one?").see(FIRST);
    terminal.press(ESC).see("nothing was sent");
    terminal.ends(5);
    assert_eq!(show(&daemon, &young)["outcome"], Value::Null);
    // What was left is there again; with nothing left it says so.
    let terminal = Terminal::run(&daemon, None, &["answer"]);
    terminal.see("The young one?").see(FIRST).press(ENTER).see("> send it").press(ENTER);
    terminal.see("answered ask_");
    terminal.ends(0);
    let terminal = Terminal::run(&daemon, None, &["answer"]);
    terminal.see("Nothing waits on you");
    terminal.ends(0);
}

#[test]
fn c05_where_nobody_can_be_asked_nobody_is_and_it_says_what_to_type() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    let missing = Said::by(&mut daemon.command(&["answer", &id])).ends(2);
    assert!(missing.err.contains("q1 offers `Postgres`, `SQLite`"), "{missing:?}");
    assert!(missing.err.contains("--text TEXT"), "{missing:?}");
    Said::by(&mut daemon.command(&["answer"])).ends(2);
    let slip = Said::by(&mut daemon.command(&["answer", &id, "SQLit"])).ends(2);
    assert!(slip.err.contains("Did you mean `SQLite`?"), "{slip:?}");
    for (typed, meant) in [("answr", "answer"), ("inbx", "inbox")] {
        let verb = Said::by(&mut daemon.command(&[typed])).ends(2);
        assert!(verb.err.contains(meant), "{verb:?}");
    }
    for (line, variables) in
        [(vec!["answer", &id, "--json"], vec![]), (vec!["answer", &id], vec![("TERM", "dumb")])]
    {
        let terminal = Terminal::run_with(&daemon, None, &line, &variables);
        terminal.see("offers `Postgres`, `SQLite`");
        assert_eq!(terminal.contents().contains("(TERM=dumb)"), !variables.is_empty());
        terminal.ends(2);
    }
    let session = Terminal::run(&daemon, Some(&asker), &["answer", &id]);
    session.see("offers `Postgres`");
    session.ends(2);
    // It was not shown here before: what was answered to is said.
    let blind = Said::by(&mut daemon.command(&["answer", &id, "SQLite"])).ends(0);
    assert!(blind.err.contains("what you answered to: Which store? SQLite"), "{blind:?}");
    assert!(blind.out.contains("asker gets it when it next looks"), "{blind:?}");
}

#[test]
fn an_answer_on_the_line_is_bound_to_the_digest_that_is_given_or_was_shown() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    Said::by(&mut daemon.command(&["show", &id])).ends(0);
    let digest = show(&daemon, &id)["content_digest"].as_str().unwrap().to_owned();
    daemon.verb(Some(&asker), &["reply", &id, "These.", "-o", "SQLite", "-o", "Redis"]).ends(0);
    for line in [vec!["answer", &id, "SQLite"], vec!["answer", &id, "SQLite", "--digest", &digest]]
    {
        assert_eq!(daemon.verb(None, &line).ends(7).error()["reason"], "STALE", "{line:?}");
    }
    let digest = show(&daemon, &id)["content_digest"].as_str().unwrap().to_owned();
    let line = ["answer", &id, "Redis", "--digest", &digest];
    let known = Said::by(&mut daemon.command(&line)).ends(0);
    assert!(!known.err.contains("what you answered to"), "{known:?}");
}

#[test]
fn who_is_named_as_a_person_is_one_inside_a_session_too() {
    let file = "[route.default]\nhops = [{ to = \"person:ann\" }]\n";
    let daemon = Daemon::start_with(file, &[]);
    let asker = asker(&daemon);
    let id = ask(&daemon, &asker, "Which store?");
    let mine = daemon.verb(Some(&asker), &["answer", &id, "SQLite"]).ends(7);
    assert_eq!(mine.error()["reason"], "NOT_SENDER");
    daemon.verb(Some(&asker), &["--as-person", "ann", "answer", &id, "SQLite"]).ends(0);
    assert_eq!(show(&daemon, &id)["outcome"]["by"]["person"], "ann");
    daemon.verb(Some(&asker), &["ask", "Which?", "--as-person", "ann"]).ends(7);
    daemon.verb(None, &["inbox", "--as-person", "nobody"]).ends(7);
}

#[test]
fn a_wait_says_meanwhile_on_whom_and_that_the_daemon_is_away() {
    let mut daemon = Daemon::start(&[]);
    let (lead, worker) = daemon.pair();
    let id = ask(&daemon, &worker, "Which store?");
    let (line, plain) = (["wait", &id], [("TERM", "dumb")]);
    let waits = Terminal::run(&daemon, Some(&worker), &line);
    let listens = Terminal::run_with(&daemon, None, &line, &plain);
    for terminal in [&waits, &listens] {
        terminal.see("waiting on lead for").see("unless lead answers");
    }
    daemon.kill();
    waits.see("daemon away since").see_no("waiting on lead");
    listens.see("daemon away since");
    daemon.restart();
    waits.see("waiting on lead for").see_no("daemon away");
    listens.see_that_times("waiting on lead for", 2);
    daemon.verb(Some(&lead), &["escalate", &id]).ends(0);
    waits.see("waiting on owner for");
    listens.see("waiting on you for");
    daemon.verb(None, &["answer", &id, "SQLite"]).ends(0);
    waits.see("answered by owner").see_no("waiting on");
    waits.ends(0);
    let heard = listens.contents();
    assert_eq!(heard.matches("waiting on").count(), 3, "a line for each change: {heard}");
    listens.ends(0);
    // Nobody looks: nothing is said.
    let open = ask(&daemon, &worker, "And then?");
    let silent = Said::by(&mut daemon.command(&["wait", &open, "--for", "1s"])).ends(5);
    assert!(!silent.err.contains("since"), "{silent:?}");
}

#[test]
fn a_long_text_above_a_prompt_is_cut_and_says_so_and_counts_as_seen_by_nobody() {
    let daemon = Daemon::start(&[]);
    let asker = asker(&daemon);
    let points: Vec<_> = (1..=60).map(|point| format!("- point {point}")).collect();
    let context = format!("Points:\n\n{}", points.join("\n"));
    let line = ["ask", "Which store?", "-o", "Postgres", "-o", "SQLite", "--context", &context];
    let id = daemon.verb(Some(&asker), &line).ends(0).id();
    let terminal = Terminal::run(&daemon, None, &["answer", &id]);
    terminal.see("point 30").see("more lines of this; askway show").see("> 1. Postgres");
    assert!(!terminal.contents().contains("point 60"));
    terminal.press(ESC);
    terminal.ends(5);
    assert_eq!(show(&daemon, &id)["seen"], serde_json::json!([]), "it was not shown whole");
}
