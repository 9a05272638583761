//! Whether this runs where a coding agent runs its commands, and what a person may type there.
//!
//! A guard against mistakes: an agent that is asked to "clear the inbox" must not do so in a person's
//! name unasked. It is none against an agent that means ill, which can unset a variable; against that
//! there is a token that it cannot read (SECURITY.md).

use super::{Exit, Failure, Verb, place, shell};
use std::ffi::OsString;

/// The variables that coding agents set for the commands they run, and which of them does. A variable
/// that is also set where a person types, as by an editor for its terminals, is none; nor is what
/// only configures an agent, which stands in its user's own shell, too.
pub const MARKERS: [(&str, &str); 21] = [
    ("AI_AGENT", "any agent, by its name"),
    ("AGENT", "the same, as Amp, Goose, Crush and OpenCode spell it"),
    ("CLAUDECODE", "Claude Code"),
    ("CODEX_SANDBOX", "Codex, where it runs them in a sandbox"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "Codex, in one without a network"),
    ("CODEX_THREAD_ID", "Codex, outside of one"),
    ("CODEX_CI", "Codex, in a shell that it keeps"),
    ("CURSOR_AGENT", "Cursor"),
    ("GEMINI_CLI", "Gemini CLI"),
    ("QWEN_CODE", "Qwen Code"),
    ("OPENCODE", "OpenCode"),
    ("CLINE_ACTIVE", "Cline"),
    ("ROO_ACTIVE", "Roo Code"),
    ("COPILOT_CLI", "GitHub Copilot CLI"),
    ("AUGMENT_AGENT", "Augment"),
    ("ANTIGRAVITY_AGENT", "Antigravity"),
    ("GOOSE_TERMINAL", "Goose"),
    ("CRUSH", "Crush"),
    ("AMP_CURRENT_THREAD_ID", "Amp"),
    ("PI_CODING_AGENT", "Pi"),
    ("TRAE_AI_SHELL_ID", "Trae"),
];

/// The first marker that is set here; none where a person types.
pub(super) fn marker() -> Option<&'static str> {
    marker_of(|name| std::env::var_os(name))
}

/// Empty, `0` and `false` are what switches one off.
fn marker_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<&'static str> {
    let off = |value: &OsString| value.is_empty() || value == "0" || value == "false";
    let set = |name: &&str| variable(name).is_some_and(|value| !off(&value));
    MARKERS.iter().map(|(name, _)| *name).find(set)
}

impl Verb {
    /// Whether it is a person's to do, where it is not a session that does it. Reading is everybody's,
    /// and so is what concerns the caller's own ask or session.
    pub(super) fn is_a_persons(&self) -> bool {
        match self {
            Verb::Answer(_)
            | Verb::Decline(_)
            | Verb::Escalate(_)
            | Verb::Say(_)
            | Verb::Claim(_)
            | Verb::Release(_) => true,
            Verb::Person(args) => args.changes(),
            Verb::Token(args) => args.changes(),
            _ => false,
        }
    }
}

/// Refuses what a person does, typed where `marker` is set and no person is named.
pub(super) fn refused(marker: &str) -> Failure {
    let person = place::person();
    let typed_person =
        person.map_or_else(|_| "NAME".to_owned(), |p| shell::word_or(p.as_str(), "NAME"));
    let message = format!(
        "this is a person's to do, and {marker} says that an agent runs it; a person who means it \
         says so, and it is recorded"
    );
    Failure::new(Exit::Refused, "AS_PERSON", message)
        .then(format!("the same with --as-person {typed_person}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_marker_is_found_unless_it_is_switched_off() {
        for (name, _) in MARKERS {
            let set = |value: &'static str| {
                marker_of(|asked| (asked == name).then(|| OsString::from(value)))
            };
            assert_eq!([set("1"), set("true"), set("x")], [Some(name); 3]);
            assert_eq!([set(""), set("0"), set("false")], [None; 3], "{name}");
        }
        let others =
            ["TERM_PROGRAM", "CURSOR_TRACE_ID", "AGENT_ID", "AIDER_MODEL", "SSH_AUTH_SOCK"];
        assert_eq!(marker_of(|asked| others.contains(&asked).then(|| "1".into())), None);
    }
}
