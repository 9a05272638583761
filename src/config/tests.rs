//! Where each setting comes from, and what is refused with its place.

mod hostile;
mod notify;
mod routes;

use super::*;
use std::fs;
use std::path::Path;

fn folder(file: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(FILE), file).expect("written");
    folder
}

fn load(folder: &Path, args: Args, set: &[(&str, &str)]) -> Result<Config, Faults> {
    let args = Args { data: args.data.or(Some(folder.to_owned())), ..args };
    Config::from(args, |name| {
        set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
    })
}

#[test]
fn the_defaults_need_no_argument() {
    let home = [("HOME", "/h")];
    let variable = |name: &str| {
        home.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
    };
    let config = Config::from(Args::default(), variable).expect("it is whole");
    assert_eq!(config, Config::of("/h/.local/share/askway"));
    assert_eq!((config.listen, config.route_timeout), (Listen::Off, Span::from_mins(15)));
    assert!(Config::from(Args::default(), |_| None).is_err());
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file_and_that_over_the_default() {
    let folder = folder("route_timeout = \"3m\"\nlisten = \"127.0.0.1:3\"\nsocket = \"s\"\n");
    let timeout = |args, set: &[_]| load(folder.path(), args, set).unwrap().route_timeout;
    let typed = || Args { route_timeout: Some(Span::from_mins(1)), ..Args::default() };
    let set = [("ASKWAY_ROUTE_TIMEOUT", "2m")];
    assert_eq!(timeout(typed(), &set), Span::from_mins(1));
    assert_eq!(timeout(Args::default(), &set), Span::from_mins(2));
    assert_eq!(timeout(Args::default(), &[]), Span::from_mins(3));
    assert_eq!(timeout(Args::default(), &[("ASKWAY_ROUTE_TIMEOUT", "")]), Span::from_mins(3));

    let config = load(folder.path(), Args::default(), &[("ASKWAY_LISTEN", "off")]).unwrap();
    assert_eq!((config.listen, config.log.as_str()), (Listen::Off, LOG));
    assert_eq!(config.socket, folder.path().join("s"));
}

#[test]
fn every_fault_is_told_with_its_place() {
    let folder = folder("# ours\nlisten = \"0.0.0.0:1\"\nport = 7\nlog = 3\ndata = \"/x\"\n");
    let file = folder.path().join(FILE).display().to_string();
    let set = [("ASKWAY_ROUTE_TIMEOUT", "soon"), ("ASKWAY_LOG", "askway=loud")];
    let faults = load(folder.path(), Args::default(), &set).unwrap_err();
    let mut places: Vec<_> = faults.0.iter().map(|fault| fault.place.clone()).collect();
    places.sort();
    let mut expected = [
        format!("{file}:2: listen"),
        format!("{file}:3: port"),
        format!("{file}:4: log"),
        format!("{file}:5: data"),
        "ASKWAY_LOG".to_owned(),
        "ASKWAY_ROUTE_TIMEOUT".to_owned(),
    ];
    expected.sort();
    assert_eq!(places, expected);
    assert!(faults.to_string().contains("port: is no key; keys are socket, listen"));
}

#[test]
fn a_file_that_is_not_toml_is_told_with_its_line() {
    let folder = folder("log = \"info\"\nlisten = \n");
    let faults = load(folder.path(), Args::default(), &[]).unwrap_err();
    assert!(faults.to_string().contains("askway.toml:2: is not TOML"), "{faults}");
}

#[test]
fn values_are_what_they_must_be() {
    for good in ["off", "127.0.0.1:0", "127.1.2.3:9", "[::1]:7700", "0.0.0.0:1", "[::]:1"] {
        assert!(listen::listen(good).is_ok(), "{good}");
    }
    for bad in ["", "on", "7700", "localhost:7700", "10.0.0.1"] {
        assert!(listen::listen(bad).is_err(), "{bad}");
    }
    for (text, millis) in
        [("2s", 2_000), ("15m", 900_000), ("1h 30m", 5_400_000), ("2d", 172_800_000), ("1ms", 1)]
    {
        assert_eq!(route_timeout(text), Ok(Span::from_millis(millis)), "{text}");
    }
    for bad in ["", "5", "0s", "-1m", "8d", "169h", "soon", "1us"] {
        assert!(route_timeout(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_three_lengths_are_bounded_and_one_may_be_off() {
    let (secs, hours) = (Span::from_secs, Span::from_hours);
    for (text, span) in [("1s", secs(1)), ("60s", secs(60)), ("1h", hours(1))] {
        assert_eq!(person_window(text), Ok(span), "{text}");
    }
    for (text, span) in [("1m", Some(secs(60))), ("30d", Some(hours(720))), ("off", None)] {
        assert_eq!(decline_stands(text), Ok(span), "{text}");
    }
    for (text, span) in [("7d", hours(168)), ("720h", hours(720)), ("90d", hours(2_160))] {
        assert_eq!(keep(text), Ok(span), "{text}");
    }
    let bad = |read: &dyn Fn(&str) -> bool, texts: &[&str]| {
        texts.iter().find(|text| read(text)).map(ToString::to_string)
    };
    assert_eq!(bad(&|text| person_window(text).is_ok(), &["999ms", "61m", "off", "60"]), None);
    assert_eq!(bad(&|text| decline_stands(text).is_ok(), &["59s", "31d", "Off", ""]), None);
    assert_eq!(bad(&|text| keep(text).is_ok(), &["6d", "91d", "off", "0s"]), None);
}

#[test]
fn off_is_a_value_that_a_flag_and_a_file_can_say() {
    let folder = folder("decline_stands = \"off\"\nperson_window = \"5s\"\nkeep = \"8d\"\n");
    let config = load(folder.path(), Args::default(), &[("ASKWAY_KEEP", "9d")]).unwrap();
    assert_eq!((config.decline_stands, config.person_window), (None, Span::from_secs(5)));
    assert_eq!(config.keep, Span::from_days(9));
    let set = [("ASKWAY_DECLINE_STANDS", "1h")];
    let stands = |args| load(folder.path(), args, &set).unwrap().decline_stands;
    assert_eq!(stands(Args::default()), Some(Span::from_hours(1)));
    assert_eq!(stands(Args { decline_stands: Some(None), ..Args::default() }), None);
}

#[test]
fn every_key_stands_in_the_table_of_this_module_and_of_the_readme() {
    let module = include_str!("mod.rs").lines().filter(|line| line.starts_with("//! |"));
    let readme = include_str!("../../README.md").lines().filter(|line| line.starts_with("| `--"));
    let (module, readme): (Vec<_>, Vec<_>) = (module.collect(), readme.collect());
    for key in File::KEYS {
        let (flag, variable) = (key.replace('_', "-"), key.to_uppercase());
        let spelled = [format!("`--{flag}"), format!("`ASKWAY_{variable}`"), format!("`{key}`")];
        for table in [&module, &readme] {
            let says = |line: &&&str| spelled.iter().all(|word| line.contains(word.as_str()));
            assert_eq!(table.iter().filter(says).count(), 1, "{key}");
        }
    }
}

#[test]
fn where_it_is_kept_is_said_without_its_password() {
    let secret = "postgres://askway:hunter2@db.lan:5432/asks?sslmode=disable";
    let folder = folder(&format!("store = \"{secret}\"\n"));
    let config = load(folder.path(), Args::default(), &[]).unwrap();
    let KeptIn::Postgres(url) = &config.store else { panic!("{:?}", config.store) };
    assert_eq!(url.expose(), secret);
    assert_eq!(url.to_string(), "postgres://db.lan:5432/asks");
    assert!(!format!("{config:?}").contains("hunter2"));
    let typed = |text: &str| {
        let args = Args { store: Some(store::read(text).unwrap()), ..Args::default() };
        load(folder.path(), args, &[("ASKWAY_STORE", "postgres:///other")])
    };
    let faults = typed(secret).expect_err("it is refused").to_string();
    assert!(faults.contains("ASKWAY_STORE") && !faults.contains("hunter2"), "{faults}");
    assert!(typed("postgres:///d?password=hunter2").is_err());
    assert_eq!(typed("folder").map(|config| config.store), Ok(KeptIn::Folder));
    let bare = tempfile::tempdir().unwrap();
    let bad = load(bare.path(), Args::default(), &[("ASKWAY_STORE", "mysql://a:hunter2@b/c")]);
    let faults = bad.expect_err("it is none").to_string();
    assert_eq!(faults, "ASKWAY_STORE: must be folder, or postgres://USER@HOST/DATABASE");
}

#[test]
fn that_others_are_not_listened_to_is_said_of_a_database_alone() {
    let listens = |file: &str, no_listen, set: &[(&str, &str)]| {
        let folder = folder(file);
        let config = load(folder.path(), Args { no_listen, ..Args::default() }, set)?;
        match config.store {
            KeptIn::Postgres(url) => Ok::<_, Faults>(url.listens()),
            KeptIn::Folder => Ok(true),
        }
    };
    let shared = "store = \"postgres:///asks\"\n";
    let said = &format!("{shared}no_listen = \"yes\"\n");
    assert_eq!(listens(shared, false, &[]), Ok(true));
    assert_eq!(listens(shared, true, &[]), Ok(false));
    assert_eq!(listens(said, false, &[]), Ok(false));
    assert_eq!(listens(said, false, &[("ASKWAY_NO_LISTEN", "no")]), Ok(true));
    assert_eq!(listens(shared, false, &[("ASKWAY_NO_LISTEN", "yes")]), Ok(false));
    assert_eq!(listens("", false, &[("ASKWAY_NO_LISTEN", "no")]), Ok(true));
    let idle = listens("", true, &[]).unwrap_err().to_string();
    assert!(idle.starts_with("--no-listen: does nothing"), "{idle}");
    let idle = listens("no_listen = \"yes\"\n", false, &[]).unwrap_err().to_string();
    assert!(idle.contains(":1: no_listen: does nothing"), "{idle}");
    assert!(listens(shared, false, &[("ASKWAY_NO_LISTEN", "1")]).is_err());
}

#[test]
fn a_socket_whose_path_is_too_long_says_what_to_type() {
    let folder = folder("");
    let long = Args { socket: Some(format!("/{}", "x".repeat(107)).into()), ..Args::default() };
    let faults = load(folder.path(), long, &[]).unwrap_err();
    assert!(faults.to_string().contains("--socket"), "{faults}");
    let fits = format!("/{}", "x".repeat(SOCKET_PATH_BYTES - 1));
    let fits = Args { socket: Some(fits.into()), ..Args::default() };
    assert!(load(folder.path(), fits, &[]).is_ok());
    let deep = Args { data: Some(format!("/{}", "x".repeat(100)).into()), ..Args::default() };
    let faults = load(folder.path(), deep, &[]).unwrap_err();
    assert_eq!(faults.0[0].place, "--data");
}

#[test]
fn beyond_loopback_without_tls_is_refused_wherever_it_is_said() {
    let folder = folder("listen = \"10.0.0.1:7\"\n");
    let file = folder.path().join(FILE).display().to_string();
    let place = |args, set: &[_]| {
        let faults = load(folder.path(), args, set).expect_err("it is refused");
        assert!(faults.0[0].message.contains("--tls-cert"), "{faults}");
        faults.0[0].place.clone()
    };
    let typed = Args { listen: Some(listen::listen("0.0.0.0:1").unwrap()), ..Args::default() };
    assert_eq!(place(typed, &[]), "--listen");
    assert_eq!(place(Args::default(), &[("ASKWAY_LISTEN", "[::]:1")]), "ASKWAY_LISTEN");
    assert_eq!(place(Args::default(), &[]), format!("{file}:1: listen"));
    let set = [("ASKWAY_TLS_CERT", "/c"), ("ASKWAY_TLS_KEY", "/k")];
    let config = load(folder.path(), Args::default(), &set).expect("with TLS it may");
    assert_eq!(config.tls.unwrap().cert, Path::new("/c"));
}

/// Who sets what does nothing takes it for something.
#[test]
fn what_does_nothing_where_nobody_listens_is_told() {
    let told = |file: &str| {
        let faults = load(folder(file).path(), Args::default(), &[]).expect_err("it does nothing");
        assert!(faults.0.iter().all(|fault| fault.message.contains("does nothing")), "{faults}");
        faults.0.len()
    };
    let (tls, names) = ("tls_cert = \"/c\"\ntls_key = \"/k\"\n", "listen_names = \"here\"\n");
    assert_eq!((told(tls), told(names), told(&format!("{tls}{names}"))), (1, 1, 2));
    let listen = "listen = \"127.0.0.1:0\"\n";
    assert_eq!(told(&format!("{listen}{tls}{names}")), 1, "a certificate has the names");
    for file in [format!("{listen}{tls}"), format!("{listen}{names}")] {
        load(folder(&file).path(), Args::default(), &[]).expect("it does something");
    }
}

#[test]
fn tls_is_a_certificate_and_its_key_and_paths_of_the_file_lie_in_the_data_folder() {
    let folder = folder(
        "listen = \"[::1]:0\"\ntls_cert = \"c.pem\"\ntls_key = \"/k.pem\"\ntls_client_ca = \"ca\"\n",
    );
    let tls = load(folder.path(), Args::default(), &[]).unwrap().tls.unwrap();
    assert_eq!((tls.cert, tls.key), (folder.path().join("c.pem"), "/k.pem".into()));
    assert_eq!(tls.client_ca, Some(folder.path().join("ca")));
    let bare = tempfile::tempdir().unwrap();
    for (alone, needs) in [
        ("ASKWAY_TLS_CERT", "--tls-key"),
        ("ASKWAY_TLS_KEY", "--tls-cert"),
        ("ASKWAY_TLS_CLIENT_CA", "--tls-cert"),
    ] {
        let faults = load(bare.path(), Args::default(), &[(alone, "/x")]).unwrap_err();
        assert_eq!(faults.0[0].place, alone);
        assert!(faults.0[0].message.contains(needs), "{faults}");
    }
}

#[test]
fn names_of_the_daemon_are_hosts_with_a_port_or_without() {
    let read = |text| Names::read(text).map(|names| names.0);
    assert_eq!(read("box.lan, tunnel:9"), Ok(vec!["box.lan".into(), "tunnel:9".into()]));
    for bad in ["", ",", "a b", "http://a", "a:b", "a:99999", "*", "a/b"] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn limits_are_numbers_within_their_bounds_and_each_fault_has_its_line() {
    let good = folder("[limits]\ntree = 9\nnamespace = 100_000\nasks_a_minute = 7\n");
    let limits = load(good.path(), Args::default(), &[]).unwrap().limits;
    assert_eq!((limits.tree, limits.namespace, limits.rates.asks_a_minute), (9, 100_000, 7));
    assert_eq!(limits.wire, Limits::default().wire);
    for (key, min, max, _) in bounds::KEYS {
        let numbers = [(min, true), (max, true), (min - 1, false), (max + 1, false)];
        for (number, fits) in numbers {
            let folder = folder(&format!("[limits]\n{key} = {number}\n"));
            let loaded = load(folder.path(), Args::default(), &[]);
            assert_eq!(loaded.is_ok(), fits, "{key} = {number}");
        }
    }
    let bad = folder("[limits]\ntree = \"9\"\nopen_asks = 5\nnamespace = -1\n");
    let faults = load(bad.path(), Args::default(), &[]).unwrap_err().to_string();
    for said in [
        "askway.toml:2: limits.tree: must be a number from 1 to",
        "askway.toml:3: limits.open_asks: is no limit to be set; those are tree, namespace",
        "askway.toml:4: limits.namespace: must be",
    ] {
        assert!(faults.contains(said), "{faults}");
    }
    let faults = load(folder("limits = 3\n").path(), Args::default(), &[]).unwrap_err();
    assert!(faults.to_string().contains("askway.toml:1: limits: must be a table"), "{faults}");
}
