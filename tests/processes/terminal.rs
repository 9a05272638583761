//! A terminal of its own for a program, and what a person sees on it. Keys are pressed when something
//! stands on screen, never after a time.

use super::daemon::{ASKWAY, Daemon, PATIENCE, Said};
use askway::cli::place;
use portable_pty::{Child, ChildKiller, CommandBuilder, MasterPty, PtySize, SlavePty};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::Instant;

pub const UP: &str = "\u{1b}[A";
pub const DOWN: &str = "\u{1b}[B";
pub const ENTER: &str = "\r";
pub const ESC: &str = "\u{1b}";
pub const CTRL_C: &str = "\u{3}";

/// Runs to the end with a terminal of so many columns for its input and output; gives all that the
/// terminal was sent, what was said beside it, and the code.
pub fn on_terminal(command: &mut Command, columns: u16) -> Said {
    let pair = portable_pty::native_pty_system().openpty(size(24, columns)).expect("a terminal");
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(OFlags::NOCTTY.bits().cast_signed());
    let slave = options.open(pair.master.tty_name().expect("a name")).expect("its other side");
    let side = || Stdio::from(slave.try_clone().expect("another"));
    command.env("TERM", "xterm").stdin(side()).stdout(side()).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    // The command keeps its own handles until it is dropped; the terminal ends when all are closed.
    command.stdin(Stdio::null()).stdout(Stdio::null());
    drop(slave);
    drop(pair.slave);
    let (mut shown, mut part) = (Vec::new(), [0; 4_096]);
    let mut output = pair.master.try_clone_reader().expect("its output");
    // A terminal whose other side is closed says so with an error.
    while let Ok(length @ 1..) = output.read(&mut part) {
        shown.extend_from_slice(&part[..length]);
    }
    let mut ended = child.wait_with_output().expect("it ends");
    ended.stdout = shown;
    Said::of(ended)
}

/// High enough that nothing of a test scrolls away.
const ROWS: u16 = 90;
const COLUMNS: u16 = 100;

/// A program on a terminal. It dies with this.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    // Kept open, so that the modes are there to be looked at when the program is gone.
    slave: Option<Box<dyn SlavePty + Send>>,
    keys: Mutex<Box<dyn Write + Send>>,
    killer: Box<dyn ChildKiller + Send + Sync>,
    ended: mpsc::Receiver<u32>,
    pid: u32,
    screen: Arc<Screen>,
    modes: String,
}

/// What text from elsewhere must never do to a terminal, beside what stands on it.
#[derive(Default)]
struct Calls {
    rung: bool,
    named: bool,
}

impl vt100::Callbacks for Calls {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.rung = true;
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, _: &[u8]) {
        self.named = true;
    }

    fn set_window_icon_name(&mut self, _: &mut vt100::Screen, _: &[u8]) {
        self.named = true;
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], _: &[u8]) {
        self.named = true;
    }
}

#[derive(Default)]
struct Screen {
    shown: Mutex<Option<vt100::Parser<Calls>>>,
    changed: Condvar,
}

fn size(rows: u16, cols: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn some(size: u16) -> NonZeroU16 {
    NonZeroU16::new(size).expect("a terminal has a size")
}

impl Terminal {
    /// The program with these arguments, as the session of the token, else as the person.
    pub fn run(daemon: &Daemon, token: Option<&str>, arguments: &[&str]) -> Self {
        Self::run_with(daemon, token, arguments, &[])
    }

    /// The same, with these variables.
    pub fn run_with(
        daemon: &Daemon,
        token: Option<&str>,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        Self::begin(ASKWAY, ROWS, daemon, token, arguments, variables)
    }

    /// The program as the person, on a terminal of so many rows. What scrolls away is not seen.
    pub fn of_rows(
        rows: u16,
        daemon: &Daemon,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        Self::begin(ASKWAY, rows, daemon, None, arguments, variables)
    }

    /// Another program as the person.
    pub fn of_program(
        program: &str,
        daemon: &Daemon,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        Self::begin(program, ROWS, daemon, None, arguments, variables)
    }

    fn begin(
        program: &str,
        rows: u16,
        daemon: &Daemon,
        token: Option<&str>,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let pair = portable_pty::native_pty_system().openpty(size(rows, COLUMNS));
        let pair = pair.expect("a terminal");
        let mut command = CommandBuilder::new(program);
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        command.env(place::DATA_VAR, daemon.data());
        if let Some(token) = token {
            command.env(place::TOKEN_VAR, token);
        }
        for (name, value) in variables {
            command.env(name, value);
        }
        command.args(arguments);
        let modes = modes(&*pair.master);
        let child = pair.slave.spawn_command(command).expect("it starts");
        let screen = Arc::new(Screen::default());
        *screen.shown.lock().unwrap() =
            Some(vt100::Parser::new_with_callbacks(some(rows), some(COLUMNS), 0, Calls::default()));
        let mut output = pair.master.try_clone_reader().expect("its output");
        let shown = screen.clone();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                if let Some(parser) = &mut *shown.shown.lock().unwrap() {
                    parser.process(&bytes[..count]);
                }
                shown.changed.notify_all();
            }
        });
        let keys = Mutex::new(pair.master.take_writer().expect("its keys"));
        let pid = child.process_id().expect("it runs");
        let (killer, ended) = (child.clone_killer(), wait(child));
        let (master, slave) = (pair.master, Some(pair.slave));
        Self { master, slave, keys, killer, ended, pid, screen, modes }
    }

    /// Waits until this stands on screen.
    pub fn see(&self, text: &str) -> &Self {
        self.see_that(text, |screen| screen.contents().contains(text));
        self
    }

    /// Waits until this does not stand on screen.
    pub fn see_no(&self, text: &str) -> &Self {
        self.see_that(&format!("no {text}"), |screen| !screen.contents().contains(text));
        self
    }

    /// Waits until this stands on screen so often.
    pub fn see_that_times(&self, text: &str, times: usize) {
        let is_seen = |screen: &vt100::Screen| screen.contents().matches(text).count() == times;
        self.see_that(&format!("{times} times {text}"), is_seen);
    }

    fn see_that(&self, what: &str, is_seen: impl Fn(&vt100::Screen) -> bool) {
        let until = Instant::now() + PATIENCE;
        let mut shown = self.screen.shown.lock().unwrap();
        loop {
            let screen = shown.as_ref().expect("a screen").screen();
            if is_seen(screen) {
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "never seen: {what}\non:\n{}", screen.contents());
            shown = self.screen.changed.wait_timeout(shown, left).unwrap().0;
        }
    }

    /// What stands on screen now.
    pub fn contents(&self) -> String {
        self.screen.shown.lock().unwrap().as_ref().expect("a screen").screen().contents()
    }

    pub fn press(&self, keys: &str) -> &Self {
        let mut pressed = self.keys.lock().unwrap();
        let done = pressed.write_all(keys.as_bytes()).and_then(|()| pressed.flush());
        done.expect("keys are pressed");
        self
    }

    /// Whether anything on screen has a colour of its own.
    pub fn is_coloured(&self) -> bool {
        let shown = self.screen.shown.lock().unwrap();
        let screen = shown.as_ref().expect("a screen").screen();
        let (rows, columns) = screen.size();
        let is_plain = |row, column| {
            let cell = screen.cell(row, column);
            cell.is_none_or(|cell| cell.fgcolor() == vt100::Color::Default)
        };
        (0..rows.get()).any(|row| (0..columns.get()).any(|column| !is_plain(row, column)))
    }

    /// Sends the program a signal.
    pub fn signal(&self, sent: Signal) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(pid, sent).expect("it runs");
    }

    /// Whether anything rang its bell, named its window, or wrote to its clipboard.
    pub fn is_rung_or_named(&self) -> bool {
        let shown = self.screen.shown.lock().unwrap();
        let calls = shown.as_ref().expect("a screen").callbacks();
        calls.rung || calls.named
    }

    /// Makes it so wide and high, as whoever drags its corner does.
    pub fn resize(&self, rows: u16, columns: u16) {
        if let Some(parser) = &mut *self.screen.shown.lock().unwrap() {
            parser.screen_mut().set_size(some(rows), some(columns));
        }
        self.master.resize(size(rows, columns)).expect("it has another size");
    }

    /// The program ends so, and the terminal is as it was before: its modes, its cursor, its pasting.
    pub fn ends(self, code: u32) {
        let ended = self.ended.recv_timeout(PATIENCE);
        let contents = self.contents();
        let ended = ended.unwrap_or_else(|_| panic!("it does not end:\n{contents}"));
        assert_eq!(ended, code, "{contents}");
        assert_eq!(modes(&*self.master), self.modes, "the modes differ:\n{contents}");
        self.see_that("a cursor", |screen| !screen.hide_cursor());
        self.see_that("plain pasting", |screen| !screen.bracketed_paste());
        // A key that ends a program is echoed by the terminal itself.
        let is_plain = |screen: &vt100::Screen| {
            screen.cursor_position().1 == 0 || screen.contents().trim_end().ends_with("^C")
        };
        self.see_that("a cursor on a line of its own", is_plain);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.killer.kill();
        self.slave = None;
    }
}

/// How it ends, once it does.
fn wait(mut child: Box<dyn Child + Send + Sync>) -> mpsc::Receiver<u32> {
    let (send, ended) = mpsc::channel();
    thread::spawn(move || {
        if let Ok(status) = child.wait() {
            let _ = send.send(status.exit_code());
        }
    });
    ended
}

fn modes(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("a terminal has modes"))
}
