//! TLS to the database: who is believed, in each of the words PostgreSQL's own clients have for it.

use super::cluster::{Cluster, name_of};
use super::opened;
use askway::store::postgres::Postgres;
use askway::store::{Fault, Key, Store};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::fs;

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Nobody gets in without TLS, and with it by password, which SCRAM binds to the channel.
const HBA: &str = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";

#[tokio::test]
async fn the_database_is_believed_as_far_as_the_url_says() {
    let (ours, other) = (authority(), authority());
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned()];
    let cert = CertificateParams::new(names).unwrap().signed_by(&key, &ours).unwrap().pem();
    let key = key.serialize_pem();
    let files = [("server.crt", &*cert), ("server.key", &*key), ("pg_hba.conf", HBA)];
    let cluster = Cluster::start("-c ssl=on", &files);
    let name = name_of(&cluster.database("t")).to_owned();
    cluster.sql(&name, "alter role askway password 'hunter2'");
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (ours, other) = (file("ours.pem", &ours.pem()), file("other.pem", &other.pem()));
    let empty = file("empty.pem", "");
    let port = cluster.address().port();
    let url = |host: &str, settings: &str| {
        format!("postgres://askway:hunter2@{host}:{port}/{name}?{settings}")
    };
    // By its name; by another that it has not; and of an authority that is not its.
    for (host, settings, is_believed) in [
        ("localhost", format!("sslmode=verify-full&sslrootcert={ours}"), true),
        ("localhost", format!("sslrootcert={ours}"), true),
        ("localhost", format!("sslmode=verify-full&sslrootcert={other}"), false),
        ("localhost", "sslmode=verify-full".to_owned(), false),
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={ours}"), false),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={ours}"), true),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={other}"), false),
        ("127.0.0.1", format!("sslmode=require&sslrootcert={other}"), false),
        ("127.0.0.1", "sslmode=require".to_owned(), true),
        ("127.0.0.1", "sslmode=require&channel_binding=require".to_owned(), true),
        ("127.0.0.1", String::new(), true),
        ("127.0.0.1", "sslmode=disable".to_owned(), false),
        ("localhost", format!("sslrootcert={empty}"), false),
    ] {
        match Postgres::open(&url(host, &settings)).await {
            Ok(store) => {
                assert!(is_believed, "{host} {settings}");
                assert_eq!(store.load(&[Key::Clock]).await, Ok(vec![None]));
            }
            Err(fault) => {
                let Fault::Unavailable(why) = fault else { panic!("{settings}: {fault}") };
                assert!(!is_believed, "{host} {settings}: {why}");
                assert!(!why.contains("hunter2"), "{why}");
                if settings.contains("other") {
                    assert!(why.contains("name its authority with sslrootcert=FILE"), "{why}");
                }
            }
        }
    }
    // All that go on a connection of their own are secured as well.
    let store = opened(&url("localhost", &format!("sslrootcert={ours}"))).await;
    store.snapshot().await.unwrap();
    store.tell(&mut [1].into_iter());
    let secured = "select bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid) \
                   where application_name = 'askway'";
    assert_eq!(cluster.sql(&name, secured), "t");
}
