//! The notice hook's table: what is put in where, and every fault with its place.

use super::*;
use crate::config::notify::ARGUMENTS;

fn hook(command: &str) -> Hook {
    let folder = folder(&format!("[notify]\ncommand = {command}\n"));
    let config = load(folder.path(), Args::default(), &[]);
    config.unwrap_or_else(|faults| panic!("{faults}")).notify.expect("there is one")
}

/// Every fault as `line: keys: message`.
fn faults(file: &str) -> Vec<String> {
    let folder = folder(file);
    let prefix = format!("{}:", folder.path().join(FILE).display());
    let faults = load(folder.path(), Args::default(), &[]).unwrap_err().to_string();
    faults.lines().map(|line| line.replace(&prefix, "")).collect()
}

fn only_fault(command: &str) -> String {
    let found = faults(&format!("[notify]\ncommand = {command}\n"));
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// What the arguments become, with each placeholder's name in it where `of` says nothing else.
fn filled(command: &str, value: impl Fn(Placeholder) -> String) -> Vec<String> {
    hook(command).command.iter().map(|argument| argument.fill(&value)).collect()
}

#[test]
fn placeholders_are_replaced_in_one_pass_each_within_its_argument() {
    let value = |placeholder| match placeholder {
        Placeholder::Header => "{id} \" $(x) `y` ' a b".to_owned(),
        Placeholder::Question => String::new(),
        _ => "ask_1".to_owned(),
    };
    let found =
        filled("[\"say\", \"--\", \"{header}\", \"<{id}>{{id}}\", \"{question}\", \"\"]", value);
    assert_eq!(found, ["say", "--", "{id} \" $(x) `y` ' a b", "<ask_1>{id}", "", ""]);
    for (name, placeholder) in Placeholder::ALL {
        let argument = Argument::read(&format!("{{{name}}}")).expect(name);
        assert_eq!(argument.fill(|asked| format!("{asked:?}")), format!("{placeholder:?}"));
    }
}

#[test]
fn what_is_put_in_is_never_an_option_nor_a_file() {
    for value in ["-rf", "--help", "@/etc/passwd", "+x"] {
        let put = |_| value.to_owned();
        let found = filled("[\"say\", \"{header}\", \"{id}{header}\", \"a{header}\"]", put);
        assert_eq!(found[1], format!(" {value}"));
        assert_eq!(found[2], format!(" {value}{value}"));
        assert_eq!(found[3], format!("a{value}"), "an argument that begins otherwise is left");
    }
    let found = filled("[\"say\", \"{question}{header}\"]", |placeholder| match placeholder {
        Placeholder::Question => String::new(),
        _ => "-x".to_owned(),
    });
    assert_eq!(found[1], " -x");
    assert_eq!(filled("[\"say\", \"-u\", \"normal\"]", |_| String::new()), ["say", "-u", "normal"]);
}

#[test]
fn without_a_table_there_is_no_hook() {
    assert_eq!(load(folder("").path(), Args::default(), &[]).unwrap().notify, None);
}

#[test]
fn every_fault_of_the_hook_is_told_with_its_line() {
    let list = "2: notify.command: must be a list in brackets, the program and its arguments: it is \
                no line for a shell";
    assert_eq!(only_fault("\"notify-send {header}\""), list);
    assert_eq!(only_fault("[]"), list);
    assert_eq!(
        faults("[notify]\n"),
        ["1: notify: needs command, a list: the program and its arguments"]
    );
    assert_eq!(
        faults("notify = 3\n"),
        ["1: notify: must be a table, [notify]; its key is command"]
    );
    assert_eq!(
        faults("[notify]\ncommand = [\"say\"]\nshell = true\n"),
        ["3: notify.shell: is no key; the key is command"]
    );
    let lines = "[\n  \"say\",\n  \"{titel}\",\n  3,\n  \"{header\",\n  \"a}\",\n]";
    let names = "{id} {header} {question} {asker} {agent} {priority} {people} {reason} {notice}";
    assert_eq!(
        faults(&format!("[notify]\ncommand = {lines}\n")),
        [
            &format!("4: notify.command[1]: has no {{titel}} to put in; there are {names}"),
            "5: notify.command[2]: must be a string, in quotes",
            "6: notify.command[3]: has a stray {; {{ stands for one",
            "7: notify.command[4]: has a stray }; }} stands for one",
        ]
    );
}

#[test]
fn the_program_is_named_by_whoever_runs_the_daemon_and_by_nobody_else() {
    for (program, wrong) in [
        ("{header}", "is the program"),
        ("", "must name a program"),
        ("./say", "must be a program on PATH, or its whole path"),
        ("bin/say", "must be a program on PATH, or its whole path"),
        ("a\\u0000b", "must not hold a zero byte"),
    ] {
        let fault = only_fault(&format!("[\"{program}\", \"x\"]"));
        assert!(fault.starts_with("2: notify.command[0]: ") && fault.contains(wrong), "{fault}");
    }
    assert_eq!(hook("[\"/usr/bin/say\"]").command.len(), 1);
    let many = format!("[{}]", "\"x\", ".repeat(ARGUMENTS + 1));
    assert!(only_fault(&many).contains("at most 64 may be"));
}

#[test]
fn a_script_for_an_interpreter_has_nothing_put_in() {
    for command in [
        "[\"sh\", \"-c\", \"echo {header}\"]",
        "[\"env\", \"-S\", \"sh -c {question}\"]",
        "[\"env\", \"-Snotify-send {question}\"]",
        "[\"env\", \"--split-string\", \"say {question}\"]",
        "[\"su\", \"-c\", \"say {question}\", \"ann\"]",
        "[\"ssh\", \"desk\", \"notify-send\", \"{header}\"]",
        "[\"xargs\", \"{header}\"]",
        "[\"/bin/bash\", \"-lc\", \"{question}\"]",
        "[\"env\", \"python3.13\", \"-c\", \"print('{id}')\"]",
        "[\"perl\", \"-e\", \"{id}\"]",
    ] {
        let fault = only_fault(command);
        assert!(fault.contains("would run what is put in"), "{fault}");
    }
    assert_eq!(
        hook("[\"sh\", \"-c\", \"echo \\\"$1\\\"\", \"sh\", \"{header}\"]").command.len(),
        5
    );
    assert_eq!(hook("[\"notify-send\", \"-c\", \"{priority}\"]").command.len(), 3);
}
