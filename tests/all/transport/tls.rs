//! TLS: who may listen with it, and who may come.

use super::*;
use askway::client::{Address, Client};
use askway::config::{Config, Listen, Tls};
use askway::serve::{self, CannotServe};
use askway::session::Secret;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::Code;

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for these names, and its key, in PEM.
fn certificate(of: &Authority, names: &[&str]) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
    let cert = CertificateParams::new(names).unwrap().signed_by(&key, of).unwrap();
    (cert.pem(), key.serialize_pem())
}

fn written(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// A daemon of the whole program, on a folder of its own.
struct Secured {
    folder: TempDir,
    address: String,
    shutdown: CancellationToken,
    serving: JoinHandle<Result<(), CannotServe>>,
}

impl Secured {
    /// On the address of all interfaces, where no daemon without TLS may listen.
    async fn start(of: &Authority, client_ca: Option<&Authority>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (cert, key) = certificate(of, &["localhost", "127.0.0.1"]);
        let data = folder.path().join("data");
        let tls = Tls {
            cert: written(folder.path(), "cert.pem", &cert, 0o644),
            key: written(folder.path(), "key.pem", &key, 0o600),
            client_ca: client_ca.map(|ca| written(folder.path(), "ca.pem", &ca.pem(), 0o644)),
        };
        let listen = Listen::On("0.0.0.0:0".parse().unwrap());
        let mut config = Config { listen, tls: Some(tls), ..Config::of(data) };
        config.limits.wire.opens_within = Duration::from_secs(5);
        let daemon = serve::Daemon::start(&config).await.expect("it starts");
        assert!(daemon.url().unwrap().starts_with("https://0.0.0.0:"));
        let address = format!("https://localhost:{}", daemon.address().unwrap().port());
        let shutdown = CancellationToken::new();
        let serving = tokio::spawn(daemon.serve(shutdown.clone()));
        Self { folder, address, shutdown, serving }
    }

    fn owner(&self, ca: Option<&Authority>, identity: Option<(String, String)>) -> Client {
        let token = fs::read_to_string(self.folder.path().join("data/owner.token")).unwrap();
        let identity = identity.map(|(cert, key)| (cert.into_bytes(), key.into_bytes()));
        let address = Address::parse(&self.address).unwrap();
        let address = address.with_tls(ca.map(|ca| ca.pem().into_bytes()), identity).unwrap();
        Client::new(address, Secret::read(token.trim_end())).with_patience(Duration::ZERO)
    }

    async fn tcp(&self) -> TcpStream {
        TcpStream::connect(self.address.strip_prefix("https://").unwrap()).await.unwrap()
    }

    async fn stop(self) {
        self.shutdown.cancel();
        soon(self.serving).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn with_tls_a_client_that_knows_the_authority_is_served_and_nobody_else() {
    let (ours, other) = (authority(), authority());
    let daemon = Secured::start(&ours, None).await;
    let status = soon(daemon.owner(Some(&ours), None).status()).await.expect("it is served");
    assert_eq!(status.caller, "person owner");
    let stranger = soon(daemon.owner(Some(&other), None).status()).await.unwrap_err();
    assert_eq!(stranger.code, Code::Unavailable, "{stranger:?}");
    let plain = Address::parse(&daemon.address.replace("https", "http")).unwrap();
    let plain = Client::new(plain, None).with_patience(Duration::ZERO);
    assert!(soon(plain.status()).await.is_err(), "without TLS nothing is said");
    // Half a handshake is cut, and by then the others were served.
    let (mut half, mut rest) = (daemon.tcp().await, Vec::new());
    let (_, served) = tokio::join!(async { soon(half.read_to_end(&mut rest)).await }, async {
        soon(daemon.owner(Some(&ours), None).status()).await
    },);
    served.expect("it is served meanwhile");
    daemon.stop().await;
}

#[tokio::test]
async fn with_a_client_authority_a_token_alone_does_not_get_in() {
    let (ours, theirs, other) = (authority(), authority(), authority());
    let daemon = Secured::start(&ours, Some(&theirs)).await;
    let known = daemon.owner(Some(&ours), Some(certificate(&theirs, &["someone"])));
    assert_eq!(soon(known.status()).await.expect("it is served").caller, "person owner");
    for identity in [None, Some(certificate(&other, &["someone"]))] {
        let refused = soon(daemon.owner(Some(&ours), identity).status()).await.unwrap_err();
        assert!(refused.reason.is_none(), "no call came through: {refused:?}");
    }
    daemon.stop().await;
}

#[tokio::test]
async fn a_key_that_others_may_read_and_files_that_hold_none_are_refused_with_what_to_do() {
    let ours = authority();
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = certificate(&ours, &["localhost"]);
    let (_, stray) = certificate(&ours, &["localhost"]);
    let file = |name: &str, text: &str, mode| written(folder.path(), name, text, mode);
    let (cert, empty) = (file("cert", &cert, 0o644), file("empty", "", 0o600));
    let starts = async |cert: &Path, key: &Path, client_ca: Option<&Path>| {
        let (cert, key, client_ca) = (cert.into(), key.into(), client_ca.map(Path::to_owned));
        let tls = Some(Tls { cert, key, client_ca });
        let config = Config { tls, ..Config::of(folder.path().join("data")) };
        serve::Daemon::start(&config).await.map(drop)
    };
    let open = starts(&cert, &file("open", &key, 0o640), None).await.unwrap_err();
    assert!(open.next.starts_with("chmod 600 "), "{open}");
    let key = file("key", &key, 0o600);
    let nowhere = folder.path().join("nowhere");
    for (cert, key, client_ca) in [
        (&cert, &nowhere, None),
        (&nowhere, &key, None),
        (&cert, &empty, None),
        (&empty, &key, None),
        (&cert, &file("stray", &stray, 0o600), None),
        (&cert, &key, Some(empty.as_path())),
    ] {
        let refused = starts(cert, key, client_ca).await.unwrap_err();
        assert!(refused.next.contains("--tls-cert"), "{refused}");
    }
    starts(&cert, &key, None).await.expect("these are good");
}

#[test]
fn what_a_client_is_given_for_tls_is_looked_at_when_it_is_given() {
    let address = |text| Address::parse(text).unwrap();
    let junk = Some(b"-----BEGIN CERTIFICATE-----\nx".to_vec());
    assert!(address("https://localhost:1").with_tls(junk.clone(), None).is_err());
    assert!(address("http://127.0.0.1:1").with_tls(junk, None).unwrap_err().contains("https://"));
    let key = certificate(&authority(), &["a"]).1.into_bytes();
    let secure = address("https://localhost:1").with_tls(
        Some(authority().pem().into_bytes()),
        Some((certificate(&authority(), &["a"]).0.into_bytes(), key.clone())),
    );
    // A certificate with another's key is none.
    assert!(secure.is_err() || !format!("{:?}", secure).contains("PRIVATE"));
}
