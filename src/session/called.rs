//! What an agent may be called.

use crate::ask::{AgentName, Violation};

/// Names that are read as somebody else: the person who looks after a daemon, whoever reads, what the
/// daemon does by itself. `answered by owner` is then a person's word, and no agent's.
const RESERVED: [&str; 7] = ["askway", "daemon", "nobody", "owner", "person", "timer", "you"];

/// Whether a session's agent may be called so.
///
/// # Errors
///
/// What is wrong with it.
pub fn may_be_called(agent: &AgentName) -> Result<(), Violation> {
    let plain = agent.as_str().to_lowercase();
    match RESERVED.contains(&plain.as_str()) {
        false => Ok(()),
        true => {
            let why =
                format!("must not be `{plain}`, which is read as somebody else; name another");
            Err(Violation::new("agent", why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_agent_is_called_as_a_person_or_the_daemon_is() {
        for name in RESERVED {
            for spelled in [name.to_owned(), name.to_uppercase()] {
                let agent: AgentName = spelled.parse().expect("it is a name");
                let wrong = may_be_called(&agent).expect_err("it is read as somebody else");
                assert_eq!(wrong.field, "agent");
            }
        }
        for name in ["lead", "owner-bot", "your-agent", "persona"] {
            assert_eq!(may_be_called(&name.parse().expect("a name")), Ok(()));
        }
    }
}
