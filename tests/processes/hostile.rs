//! Hostile texts through the whole program: filed, spoken and escalated with, and then looked at.

#[path = "../../src/cli/render/corpus.rs"]
mod corpus;

use super::daemon::Daemon;
use super::terminal::on_terminal;
use askway::grpc::v1;

/// Asks in a session before another is needed.
const A_SESSION: usize = 4;

/// Files an ask for each text that the daemon lets in somewhere, and gives their ids.
async fn file(daemon: &Daemon, texts: &[String]) -> Vec<String> {
    let host = daemon.client(None);
    let mut ids = Vec::new();
    for four in texts.chunks(A_SESSION) {
        let request = v1::EnrollRequest { agent: "asker".into(), ..Default::default() };
        let token = host.enroll(request).await.expect("a session").token;
        let asker = daemon.client(Some(&token));
        for text in four {
            let option =
                v1::Option { label: "A".into(), description: text.clone(), ..Default::default() };
            let question = v1::Question {
                header: "Of it".into(),
                question: format!("Which? {text}"),
                options: vec![option],
                ..Default::default()
            };
            let request = v1::AskRequest {
                questions: vec![question],
                context: text.clone(),
                ..Default::default()
            };
            let id = asker.ask(request).await.expect("it is filed").ask.expect("the ask").id;
            let said = v1::SayRequest {
                ask_id: id.clone(),
                text: format!("So: {text}"),
                ..Default::default()
            };
            daemon.owner().say(said).await.expect("said");
            ids.push(id);
        }
    }
    ids
}

/// Rule 21, of the program as a whole: what it sends to a terminal holds no escape sequence but its own
/// weight and colour, and no control character but line feeds.
#[test]
fn rule_21_the_program_sends_a_terminal_nothing_of_theirs() {
    let daemon = Daemon::start(&["--log", "error"]);
    let texts = corpus::texts();
    assert!(texts.len() >= 200, "{} texts", texts.len());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let ids = runtime.expect("a runtime").block_on(file(&daemon, &texts));
    let mut all = vec![vec!["inbox".to_owned()], vec!["inbox".to_owned(), "--all".to_owned()]];
    // Some of each wrapping: the others are looked at where that needs no process for each.
    for id in ids.iter().step_by(13) {
        all.push(vec!["show".to_owned(), id.clone()]);
        all.push(vec!["log".to_owned(), id.clone()]);
    }
    for line in all {
        let line: Vec<_> = line.iter().map(String::as_str).collect();
        let mut command = daemon.command(&line);
        let shown = on_terminal(command.env("PAGER", "cat"), 60).ends(0).out;
        let plain =
            ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[3m", "\u{1b}[33m", "\u{1b}[36m"];
        let plain =
            plain.iter().fold(shown.replace("\r\n", "\n"), |text, ours| text.replace(ours, ""));
        let hidden: Vec<_> = plain.chars().filter(|&c| c != '\n' && c.is_control()).collect();
        assert!(hidden.is_empty(), "{line:?}: {hidden:?} in {plain}");
    }
}
