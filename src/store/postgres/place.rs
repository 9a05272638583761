//! Where the database is: one or several hosts, of which the one that may be written to is meant.

use super::tls::{Tls, Wanted};
use super::trouble::fault;
use crate::store::Fault;
use futures_util::future::select_ok;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};

/// How long a server may take to let somebody in.
pub(super) const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// After how long without a word a connection is probed.
const PROBE_AFTER: Duration = Duration::from_secs(2);
/// How long after a probe the next is sent, and then the connection given up: a dead machine is noticed
/// within four seconds.
const PROBE_AGAIN: Duration = Duration::from_secs(1);
const PROBES: u32 = 2;
/// How long what was sent may be without a sign that it came.
const UNHEARD: Duration = Duration::from_secs(5);

/// What drives a connection.
pub(super) type Link = Connection<Socket, <Tls as MakeTlsConnect<Socket>>::Stream>;

/// Where the database is, as somebody said it. Its password is in it: it is never printed.
#[derive(Clone)]
pub(super) struct Place {
    hosts: Arc<[Config]>,
    tls: Tls,
}

impl Place {
    /// Reads a URL, `postgres://user@host/database`, or `host=… dbname=…`.
    pub fn read(text: &str) -> Result<Self, Fault> {
        let (text, wanted) = Wanted::taken_from(text)?;
        // What the parser says may repeat what it was given.
        let unread = || {
            Fault::Unavailable("the store is to be named as postgres://USER@HOST/DATABASE".into())
        };
        let mut config: Config = text.parse().map_err(|_| unread())?;
        if config.get_ssl_mode() != SslMode::Prefer {
            // Said where it was not looked for: nobody is to be less sure than they mean to be.
            return Err(unread());
        }
        config
            .application_name("askway")
            .connect_timeout(CONNECT_WITHIN)
            .keepalives(true)
            .keepalives_idle(PROBE_AFTER)
            .keepalives_interval(PROBE_AGAIN)
            .keepalives_retries(PROBES)
            .tcp_user_timeout(UNHEARD)
            // After a failover the one that may be written to is looked for among the hosts.
            .target_session_attrs(TargetSessionAttrs::ReadWrite)
            .ssl_mode(wanted.mode());
        let hosts = each_host(&config).ok_or_else(unread)?;
        Ok(Self { hosts, tls: wanted.connector()? })
    }

    /// A connection to the host that may be written to. All are tried at once: one that says nothing
    /// holds up nobody who waits for another.
    pub async fn open(&self) -> Result<(Client, Link), Fault> {
        let each = self.hosts.iter().map(|host| {
            Box::pin(async move {
                let opened = timeout(CONNECT_WITHIN, host.connect(self.tls.clone())).await;
                let opened = opened.map_err(|_| Fault::Unavailable("no server answers".into()))?;
                opened.map_err(|error| fault(&error))
            })
        });
        select_ok(each).await.map(|(opened, _)| opened)
    }
}

/// The same for each host alone; none where there is no host, or not a port for each.
fn each_host(whole: &Config) -> Option<Arc<[Config]>> {
    let (hosts, addresses) = (whole.get_hosts(), whole.get_hostaddrs());
    let (count, ports) = (hosts.len().max(addresses.len()), whole.get_ports());
    let fits = |length: usize| length == 0 || length == count;
    if count == 0
        || !fits(hosts.len())
        || !fits(addresses.len())
        || !(fits(ports.len()) || ports.len() == 1)
    {
        return None;
    }
    let one = |number: usize| {
        let mut one = bare(whole);
        match hosts.get(number) {
            Some(Host::Tcp(host)) => {
                one.host(host);
            }
            #[cfg(unix)]
            Some(Host::Unix(folder)) => {
                // Nobody is between, and the server speaks no TLS there.
                one.host_path(folder).ssl_mode(SslMode::Disable);
            }
            None => {}
        }
        if let Some(address) = addresses.get(number) {
            one.hostaddr(*address);
        }
        if let Some(port) = ports.get(number).or(ports.first()) {
            one.port(*port);
        }
        one
    };
    Some((0..count).map(one).collect())
}

/// Everything but the hosts.
fn bare(whole: &Config) -> Config {
    let mut bare = Config::new();
    if let Some(user) = whole.get_user() {
        bare.user(user);
    }
    if let Some(password) = whole.get_password() {
        bare.password(password);
    }
    if let Some(name) = whole.get_dbname() {
        bare.dbname(name);
    }
    if let Some(options) = whole.get_options() {
        bare.options(options);
    }
    if let Some(name) = whole.get_application_name() {
        bare.application_name(name);
    }
    bare.ssl_mode(whole.get_ssl_mode())
        .ssl_negotiation(whole.get_ssl_negotiation())
        .channel_binding(whole.get_channel_binding())
        .target_session_attrs(whole.get_target_session_attrs())
        .keepalives(whole.get_keepalives())
        .keepalives_idle(whole.get_keepalives_idle());
    if let Some(timeout) = whole.get_connect_timeout() {
        bare.connect_timeout(*timeout);
    }
    if let Some(timeout) = whole.get_tcp_user_timeout() {
        bare.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = whole.get_keepalives_interval() {
        bare.keepalives_interval(interval);
    }
    if let Some(retries) = whole.get_keepalives_retries() {
        bare.keepalives_retries(retries);
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Place {
        Place::read(text).unwrap_or_else(|fault| panic!("{fault}"))
    }

    #[test]
    fn each_host_of_a_url_is_tried_by_itself_and_all_with_the_same_manners() {
        let url =
            "postgres://a:b@one:5433,two:5434/d?tcp_user_timeout=900&keepalives=0&options=-ca";
        let place = read(url);
        let of = |host: &Config| (host.get_hosts().to_vec(), host.get_ports().to_vec());
        let hosts: Vec<_> = place.hosts.iter().map(of).collect();
        let host = |name: &str, port| (vec![Host::Tcp(name.into())], vec![port]);
        assert_eq!(hosts, [host("one", 5433), host("two", 5434)]);
        for host in place.hosts.iter() {
            assert_eq!((host.get_user(), host.get_password()), (Some("a"), Some(&b"b"[..])));
            assert_eq!((host.get_dbname(), host.get_options()), (Some("d"), Some("-ca")));
            // What a URL counts in seconds is a length of time here, and nobody sets it longer.
            assert_eq!(host.get_tcp_user_timeout(), Some(&Duration::from_secs(5)));
            assert!(host.get_keepalives());
            let probed = host.get_keepalives_idle() + PROBES * PROBE_AGAIN;
            assert!(probed <= Duration::from_secs(5), "{probed:?}");
            // The system counts these in whole seconds.
            assert_eq!(host.get_keepalives_idle().subsec_nanos(), 0);
            assert_eq!(host.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        }
    }

    #[test]
    fn on_a_socket_there_is_no_tls_and_beside_it_what_was_asked_for() {
        let place = read("host=/run/db,far user=a sslmode=require");
        let modes: Vec<_> = place.hosts.iter().map(Config::get_ssl_mode).collect();
        assert_eq!(modes, [SslMode::Disable, SslMode::Require]);
    }

    #[test]
    fn hosts_and_ports_that_do_not_belong_together_are_refused() {
        for text in ["host=a,b,c port=1,2 user=x", "user=x", "host=a,b hostaddr=127.0.0.1 user=x"] {
            assert!(matches!(Place::read(text), Err(Fault::Unavailable(_))), "{text}");
        }
    }
}
