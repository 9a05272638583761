//! The trace that a command is part of, as its environment says: TRACEPARENT and TRACESTATE.

use std::env;

/// The W3C `traceparent` and `tracestate`; empty where there is none. As their specification says,
/// one that is not well formed is none: somebody else's mistake stops no ask.
pub fn of_environment() -> (String, String) {
    let value = |name| env::var(name).unwrap_or_default();
    read(value("TRACEPARENT"), value("TRACESTATE"))
}

fn read(parent: String, state: String) -> (String, String) {
    match (is_parent(&parent), is_state(&state)) {
        (true, true) => (parent, state),
        (true, false) => (parent, String::new()),
        (false, _) => (String::new(), String::new()),
    }
}

/// Version 00: `00-`, 32 digits of a trace, 16 of a span, 2 of flags; neither id is all zero.
fn is_parent(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let is_set = |part: &str| part.bytes().any(|b| b != b'0');
    let parts: Vec<_> = text.split('-').collect();
    let [version, trace, span, flags] = parts[..] else { return false };
    let lengths = [version, trace, span, flags].map(str::len);
    let all_hex = [version, trace, span, flags].into_iter().all(is_hex);
    lengths == [2, 32, 16, 2] && all_hex && version != "ff" && is_set(trace) && is_set(span)
}

/// At most what must be passed on, in printable characters.
fn is_state(text: &str) -> bool {
    text.len() <= 512 && text.bytes().all(|b| (b' '..=b'~').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_well_formed_trace_goes_along() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let of = |parent: &str, state: &str| read(parent.into(), state.into());
        assert_eq!(of(good, "a=1"), (good.into(), "a=1".into()));
        assert_eq!(of(good, "a\n"), (good.into(), String::new()));
        let zero = good.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32));
        for bad in ["", "00-1-2-3", &good.to_uppercase(), &zero, &good.replace("00-4", "ff-4")] {
            assert_eq!(of(bad, "a=1"), (String::new(), String::new()), "{bad}");
        }
    }
}
