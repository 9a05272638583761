//! The program on both ends of TLS: what the daemon demands, and where its clients find what it
//! demands.

use crate::daemon::{Daemon, Said};
use askway::cli::place;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// A certificate of the authority's, and its key, as files.
fn identity(of: &Authority, folder: &Path, name: &str) -> (PathBuf, PathBuf) {
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let cert = CertificateParams::new(names).unwrap().signed_by(&key, of).unwrap();
    let cert = written(folder, &format!("{name}.pem"), &cert.pem());
    (cert, written(folder, &format!("{name}.key"), &key.serialize_pem()))
}

#[test]
fn the_three_variables_of_a_client_lead_to_a_daemon_with_tls_and_each_fault_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (authority(), authority());
    let ca = written(folder.path(), "ca.pem", &ours.pem());
    let other = written(folder.path(), "other.pem", &theirs.pem());
    let (cert, key) = identity(&ours, folder.path(), "server");
    let (client_cert, client_key) = identity(&ours, folder.path(), "client");
    let (foreign_cert, foreign_key) = identity(&theirs, folder.path(), "foreign");
    let text = |path: &PathBuf| path.to_str().expect("UTF-8").to_owned();
    let file = format!(
        "tls_cert = \"{}\"\ntls_key = \"{}\"\ntls_client_ca = \"{}\"\n",
        text(&cert),
        text(&key),
        text(&ca)
    );
    let daemon = Daemon::start_with(&file, &["--listen", "127.0.0.1:0"]);
    let url = daemon.ready["address"].as_str().expect("it listens").to_owned();
    assert!(url.starts_with("https://"), "{url}");
    let status = |variables: &[(&str, &PathBuf)]| {
        let mut command = daemon.command(&["inbox", "--json"]);
        command.env(place::ADDRESS_VAR, &url);
        for (name, path) in variables {
            command.env(name, path);
        }
        Said::by(&mut command)
    };
    let (ca_var, cert_var, key_var) =
        (place::CA_VAR, place::CLIENT_CERT_VAR, place::CLIENT_KEY_VAR);
    let good = [(ca_var, &ca), (cert_var, &client_cert), (key_var, &client_key)];
    status(&good).ends(0);

    // A half of an identity, and what is not there, are told before anybody is called.
    let half = status(&good[..2]).ends(2);
    assert!(half.err.contains(key_var), "{half:?}");
    let gone = folder.path().join("gone.pem");
    let missing = status(&[(ca_var, &gone), good[1], good[2]]).ends(2);
    assert!(missing.err.contains(ca_var) && missing.err.contains("gone.pem"), "{missing:?}");
    // Whom they do not lead to: another authority's daemon, and one that does not know this client.
    let strangers: [&[(&str, &PathBuf)]; 4] = [
        &[(ca_var, &other), good[1], good[2]],
        &good[1..],
        &good[..1],
        &[good[0], (cert_var, &foreign_cert), (key_var, &foreign_key)],
    ];
    for (number, variables) in strangers.into_iter().enumerate() {
        let error = status(variables).ends(9).error();
        let next = error["next"].to_string();
        match number {
            // Ours to see: the daemon's is of nobody we know. The other way round it only closes.
            0 | 1 => {
                assert!(error["reason"] == "BAD_CERTIFICATE" && next.contains(ca_var), "{error}")
            }
            _ => assert!(next.contains(cert_var) && next.contains(key_var), "{error}"),
        }
    }
    // What is no certificate and no key, and what does not belong together.
    let swapped = [(ca_var, &key), (cert_var, &client_key), (key_var, &client_cert)];
    for (number, (name, wrong)) in swapped.into_iter().enumerate() {
        let mut variables = good;
        variables[number] = (name, wrong);
        let told = status(&variables).ends(2);
        assert!(told.err.contains(name) && told.err.contains("holds no"), "{told:?}");
    }
    let mixed = status(&[good[0], good[1], (key_var, &foreign_key)]).ends(2);
    assert!(mixed.err.contains(cert_var) && mixed.err.contains(key_var), "{mixed:?}");
    status(&good).ends(0);
}
