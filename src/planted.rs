//! Bugs on purpose: `planted!("name")` is where one is, and what it does instead. `scripts/planted`
//! builds the tests with `--cfg askway_planted`, chooses one bug after another by the environment, and
//! fails when the tests do not find it. Without that cfg the macro is `false`, and nothing of them is in
//! the program.

/// Whether this bug is planted.
#[cfg(not(askway_planted))]
macro_rules! planted {
    ($name:literal) => {
        false
    };
}

/// Whether this bug is planted.
#[cfg(askway_planted)]
macro_rules! planted {
    ($name:literal) => {
        crate::planted::is($name)
    };
}

/// Whether `ASKWAY_PLANTED` names this bug.
#[cfg(askway_planted)]
pub(crate) fn is(name: &str) -> bool {
    static CHOSEN: std::sync::OnceLock<Option<std::ffi::OsString>> = std::sync::OnceLock::new();
    let chosen = CHOSEN.get_or_init(|| std::env::var_os("ASKWAY_PLANTED"));
    chosen.as_ref().is_some_and(|chosen| chosen == name)
}
