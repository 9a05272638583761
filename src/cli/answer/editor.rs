//! A long answer, written in the editor of whoever is at the terminal.

use crate::cli::{Failure, file};
use std::env;
use std::process::Stdio;
use tokio::process::Command;

/// The editor as `VISUAL` or `EDITOR` names it: a program and what goes before the file. None where
/// neither does.
pub(super) fn named() -> Option<Vec<String>> {
    let set = |name| env::var(name).ok().map(|value| words(&value)).filter(|all| !all.is_empty());
    set("VISUAL").or_else(|| set("EDITOR"))
}

/// Words between spaces. No shell reads them, so none of them can be more than a word.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// What was written, beginning with `initial`; empty where nothing was.
///
/// # Errors
///
/// When the editor cannot be run, says that it failed, or leaves no text.
pub(super) async fn write(editor: &[String], initial: &str) -> Result<String, Failure> {
    let [program, arguments @ ..] = editor else {
        return Err(Failure::usage("no editor is named").then("export EDITOR=vi"));
    };
    let io = |error| Failure::io("a file for the editor", &error);
    // Readable by its owner alone, and gone with this.
    let mut draft = tempfile::Builder::new();
    let draft = draft.prefix("askway-").suffix(".md").tempfile().map_err(io)?;
    std::fs::write(draft.path(), initial).map_err(io)?;
    let mut command = Command::new(program);
    command.args(arguments).arg(draft.path()).stdin(Stdio::inherit()).kill_on_drop(true);
    let other = "export EDITOR with another program, or write the answer on a line";
    let ended = command
        .status()
        .await
        .map_err(|error| Failure::usage(format!("{program} cannot be run: {error}")).then(other))?;
    if !ended.success() {
        return Err(Failure::usage(format!("{program} ended with {ended}")).then(other));
    }
    let text = file::read(draft.path().to_owned()).await?;
    Ok(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_editor_is_a_program_and_no_line_of_a_shell() {
        let folder = tempfile::tempdir().expect("a folder");
        let trap = folder.path().join("trap");
        let line = format!("false ; touch {} ;", trap.display());
        let failed = write(&words(&line), "kept").await.expect_err("false fails");
        assert!(failed.message.starts_with("false ended with"), "{failed}");
        assert!(!trap.exists(), "a shell has read it");
        assert_eq!(write(&words("true --wait"), "kept\n\n").await.expect("it ends well"), "kept");
        assert!(write(&words("no-such-editor"), "").await.is_err());
        assert!(write(&[], "").await.is_err());
    }
}
