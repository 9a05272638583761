//! The files of the command line: read whole, or refused with the place.

use askway::cli::fuzzed::{answers, questions};

pub fn run(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let placed = |why: &str| assert!(why.contains(" line ") && why.contains(" column "), "{why}");
    let asked = questions(text);
    if let Err(why) = &asked {
        placed(why);
    }
    let answered = answers(text);
    match &answered {
        Ok(answers) => assert!(answers.values().all(|answer| !answer.default)),
        Err(why) => placed(why),
    }
    asked.is_ok() || answered.is_ok()
}
