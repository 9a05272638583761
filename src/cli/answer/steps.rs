//! What a person is asked about one ask, step by step: each question, the summary, the words of a no.
//! Nothing is sent here, and what happens beside it is the dialog's to hear.

use super::dialog::{Deed, Dialog, Stop};
use super::entries::{self, Way};
use super::{editor, labels};
use crate::ask::text::is_one_safe_line;
use crate::cli::prompt::{Prompt, Reply};
use crate::grpc::v1;

/// What esc does where a line is written.
const BACK: &str = "enter goes on, esc goes back";
/// The same where a line is all that is asked for.
const OTHER_WAYS: &str = "enter goes on, esc: other ways (say something, decline, leave)";

impl Dialog<'_> {
    /// What the person decides to do.
    pub(super) async fn decide(&mut self) -> Result<Deed, Stop> {
        if self.is_replaced {
            // Whatever key was on its way was meant for what stood here before.
            let entries = ["I have looked: go on", "leave"];
            if self.choose("It has been changed. Go on?", &entries).await? != Some(0) {
                return Err(Stop::Left);
            }
            self.is_replaced = false;
        }
        loop {
            let open = |question: &v1::Question| !self.answers.contains_key(&question.id);
            let deed = match self.ask.questions.iter().position(open) {
                Some(place) => self.question(place).await?,
                None => self.summary().await?,
            };
            if let Some(deed) = deed {
                return Ok(deed);
            }
        }
    }

    /// One question: an answer to it is kept, anything else is done at once.
    async fn question(&mut self, place: usize) -> Result<Option<Deed>, Stop> {
        let question = self.ask.questions[place].clone();
        let message = entries::message(&self.ask, place, self.out.look);
        let editor = editor::named();
        let program = editor.as_ref().and_then(|words| words.first()).map(String::as_str);
        let mut marks = question.multiple && !question.options.is_empty();
        // Where nothing is offered, the answer is written; the other ways are behind esc.
        let mut writes = question.options.is_empty();
        loop {
            if writes {
                match self.line(&message, OTHER_WAYS).await? {
                    Some(text) => return Ok(self.keep(place, Vec::new(), Some(text))),
                    None => writes = false,
                }
            }
            if marks {
                match self.mark(&message, &question).await? {
                    Some(selected) => return Ok(self.keep(place, selected, None)),
                    None => marks = false,
                }
            }
            let (ways, lines): (Vec<_>, Vec<_>) =
                entries::ways(&question, program, self.out.look).into_iter().unzip();
            let lines: Vec<_> = lines.iter().map(String::as_str).collect();
            let chosen = self.choose(&message, &lines).await?;
            match chosen.and_then(|chosen| ways.get(chosen)).unwrap_or(&Way::Leave) {
                Way::Option(at) => {
                    let selected = vec![question.options[*at].label.clone()];
                    return Ok(self.keep(place, selected, None));
                }
                Way::Options => marks = true,
                Way::Write => {
                    if let Some(text) = self.write("Your answer:").await? {
                        return Ok(self.keep(place, Vec::new(), Some(text)));
                    }
                }
                Way::Editor => {
                    if let Some(text) = self.edit(editor.as_deref().unwrap_or_default()).await? {
                        return Ok(self.keep(place, Vec::new(), Some(text)));
                    }
                }
                Way::Say => {
                    if let Some(text) = self.write("To the asker:").await? {
                        return Ok(Some(Deed::Say(text)));
                    }
                }
                Way::Decline => {
                    if let Some(note) = self.note().await? {
                        return Ok(Some(Deed::Decline(note)));
                    }
                }
                Way::Leave => return Err(Stop::Left),
            }
        }
    }

    fn keep(&mut self, place: usize, selected: Vec<String>, text: Option<String>) -> Option<Deed> {
        let id = self.ask.questions[place].id.clone();
        self.answers.insert(id, v1::Answer { selected, text, default: false });
        None
    }

    /// The labels that were marked; none where nothing was.
    async fn mark(
        &mut self,
        message: &str,
        question: &v1::Question,
    ) -> Result<Option<Vec<String>>, Stop> {
        let (message, entries) = (message.to_owned(), entries::options(question, self.out.look));
        let prompt = Prompt::Mark { message, entries, marked: Vec::new() };
        let Reply::Marked(marked) = self.prompt(&prompt).await? else { return Err(Stop::Left) };
        let order = entries::order(question);
        let label = |at: usize| order.get(at).map(|place| question.options[*place].label.clone());
        let labels: Vec<_> = marked.into_iter().filter_map(label).collect();
        Ok(Some(labels).filter(|labels| !labels.is_empty()))
    }

    /// What will be sent, and whether it is to be.
    async fn summary(&mut self) -> Result<Option<Deed>, Stop> {
        self.out.note(&format!("\nYour answer: {}", labels::in_brief(&self.ask, &self.answers)));
        let entries = ["send it", "add words of your own", "change it", "leave"];
        match self.choose("Send it?", &entries).await? {
            Some(0) => Ok(Some(Deed::Answer)),
            Some(1) => {
                let Some(place) = self.which("Words to which?").await? else { return Ok(None) };
                let id = self.ask.questions[place].id.clone();
                let before = self.answers.get(&id).and_then(|answer| answer.text.clone());
                self.draft = before.unwrap_or_default();
                let Some(text) = self.write("Your words:").await? else { return Ok(None) };
                self.answers.entry(id).or_default().text = Some(text);
                Ok(None)
            }
            Some(2) => {
                if let Some(place) = self.which("Change which?").await? {
                    self.answers.remove(&self.ask.questions[place].id);
                }
                Ok(None)
            }
            _ => Err(Stop::Left),
        }
    }

    /// The place of a question; the only one without being asked.
    async fn which(&mut self, message: &str) -> Result<Option<usize>, Stop> {
        let count = self.ask.questions.len();
        if count == 1 {
            return Ok(Some(0));
        }
        let line = |place| entries::message(&self.ask, place, self.out.look);
        let lines: Vec<_> = (0..count).map(line).collect();
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        self.choose(message, &lines).await
    }

    /// The note of a no that is meant; empty without one.
    async fn note(&mut self) -> Result<Option<String>, Stop> {
        let (message, initial) = ("Why? (enter for no note)".into(), self.one_line());
        let written = self.prompt(&Prompt::Write { message, initial, help: BACK.into() }).await?;
        let Reply::Written(note) = written else { return Ok(None) };
        self.draft.clone_from(&note);
        let entries = ["decline it", "go back", "leave"];
        match self.choose("Decline it?", &entries).await? {
            Some(0) => Ok(Some(note)),
            Some(2) => Err(Stop::Left),
            _ => Ok(None),
        }
    }

    /// A line of text, beginning with what was typed before; none where nothing was written.
    async fn write(&mut self, message: &str) -> Result<Option<String>, Stop> {
        self.line(message, BACK).await
    }

    async fn line(&mut self, message: &str, help: &str) -> Result<Option<String>, Stop> {
        let (message, help) = (message.to_owned(), help.to_owned());
        let prompt = Prompt::Write { message, initial: self.one_line(), help };
        let Reply::Written(text) = self.prompt(&prompt).await? else { return Ok(None) };
        self.draft.clear();
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }

    /// Nobody ends an editor: what has happened meanwhile is told by the next prompt.
    async fn edit(&mut self, editor: &[String]) -> Result<Option<String>, Stop> {
        let written = editor::write(editor, &self.draft).await;
        self.prompter.restore();
        match written {
            Ok(text) if text.is_empty() => {
                self.out.note("Nothing was written.");
                Ok(None)
            }
            Ok(text) => {
                // Should the content have changed, it is not lost with the answer.
                self.draft.clone_from(&text);
                Ok(Some(text))
            }
            Err(failure) => {
                self.out.note(&failure.message);
                Ok(None)
            }
        }
    }

    /// The draft, where a line can hold it.
    fn one_line(&self) -> String {
        Some(&self.draft).filter(|draft| is_one_safe_line(draft)).cloned().unwrap_or_default()
    }

    async fn choose(&mut self, message: &str, entries: &[&str]) -> Result<Option<usize>, Stop> {
        let entries = entries.iter().map(|&entry| entry.to_owned()).collect();
        let prompt = Prompt::Choose { message: message.to_owned(), entries };
        Ok(match self.prompt(&prompt).await? {
            Reply::Chosen(place) => Some(place),
            _ => None,
        })
    }
}
