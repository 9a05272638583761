//! Files that nobody would write who means well: each is an error that names it, at once.

use super::*;
use std::os::unix::fs::symlink;

/// What is said of whatever lies where the file should.
fn said(folder: &Path) -> String {
    let faults = load(folder, Args::default(), &[]).expect_err("it is no configuration");
    let named = |fault: &Fault| fault.place.contains(FILE);
    assert!(faults.0.iter().all(named), "{faults}");
    faults.to_string()
}

#[test]
fn a_file_without_end_of_other_bytes_or_too_deep_is_refused_by_its_name() {
    let large = "#".repeat(file::FILE_BYTES as usize);
    assert!(load(folder(&large).path(), Args::default(), &[]).is_ok(), "it just fits");
    assert!(said(folder(&format!("{large}#")).path()).contains("larger than 1024 KiB"));
    let binary = tempfile::tempdir().expect("a folder");
    fs::write(binary.path().join(FILE), [0, 159, 146, 150]).expect("written");
    assert!(said(binary.path()).contains("not text"));
    let folder = folder("");
    for (open, close) in [("[", "]"), ("{a=", "}"), ("[{a=", "}]")] {
        let deep = format!("log = {}1{}\n", open.repeat(50_000), close.repeat(50_000));
        fs::write(folder.path().join(FILE), deep).expect("written");
        assert!(said(folder.path()).contains("is not TOML"), "{open}");
    }
    let dotted = format!("[{}a]\n", "a.".repeat(50_000));
    fs::write(folder.path().join(FILE), dotted).expect("written");
    said(folder.path());
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(FILE);
    fs::create_dir(&path).expect("made");
    assert!(said(folder.path()).contains("is no file"));
    fs::remove_dir(&path).expect("removed");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
    assert!(made.success());
    assert!(said(folder.path()).contains("is no file"), "nobody writes to it");
    fs::remove_file(&path).expect("removed");
    for other in [Path::new("/dev/zero"), &path, &folder.path().join("elsewhere.toml")] {
        symlink(other, &path).expect("made");
        assert!(said(folder.path()).contains("is a symbolic link"));
        fs::remove_file(&path).expect("removed");
    }
}

/// It says what is run and who is asked: whoever may write to it decides that.
#[test]
fn a_file_that_others_may_write_to_configures_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("log = \"info\"\n");
    let path = folder.path().join(FILE);
    for (mode, is_taken) in [(0o666, false), (0o602, false), (0o660, true), (0o600, true)] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
        if is_taken {
            load(folder.path(), Args::default(), &[]).expect("nobody else may write to it");
        } else {
            let said = said(folder.path());
            assert!(said.contains("by others") && said.contains("chmod go-w"), "{said}");
        }
    }
}

/// Each fault has its line, and a line is not counted for by reading all before it again.
#[test]
fn a_file_of_nothing_but_faults_is_read_once() {
    let lines: String = (0..40_000).map(|number| format!("key_{number} = {number}\n")).collect();
    let folder = folder(&lines);
    let faults = load(folder.path(), Args::default(), &[]).unwrap_err();
    assert_eq!(faults.0.len(), 40_000);
    let last = faults.0.iter().find(|fault| fault.place.contains("key_39999")).expect("it is told");
    assert!(last.place.contains("askway.toml:40000: "), "{}", last.place);
}
