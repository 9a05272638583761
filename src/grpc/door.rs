//! What every call passes on its way in and out: whether it comes from a page in a browser, whether
//! there is room for it, how long its message may take; and on the way out, what waits for its reader.

use super::admission::Kept;
use super::limits;
use super::shed::{Class, Crowd, Slot, Unproven, is_stream};
use super::status::status;
use super::{malformed, sent, stalls};
use crate::error::{Error, Reason};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use std::convert::Infallible;
use std::future::{Future, ready};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;
use tonic::Status;
use tonic::body::Body;
use tonic::service::Routes;
use tower::Service as _;

/// By which way a call came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The socket; whether from the daemon's own user.
    Socket {
        /// As the system says.
        is_own: bool,
    },
    /// TCP, at this port.
    Tcp {
        /// The listener's.
        port: u16,
        /// Whether by TLS.
        is_tls: bool,
    },
}

/// What all calls pass.
pub(super) struct Entrance {
    pub routes: Routes,
    pub crowd: Crowd,
    /// What the daemon may be called without TLS, beside loopback: `NAME` or `NAME:PORT`.
    pub names: Vec<String>,
    pub message_within: Duration,
    pub unproven_a_peer: usize,
}

/// The calls of one connection.
pub(super) struct Door {
    entrance: Arc<Entrance>,
    origin: Origin,
    unproven: Unproven,
    kept: Option<Kept>,
}

type Answer = Response<Leaving>;

impl Door {
    /// The calls of a connection that came by `origin`; `kept` where it is for people alone.
    pub(super) fn new(
        entrance: Arc<Entrance>,
        origin: Origin,
        unproven: Unproven,
        kept: Option<Kept>,
    ) -> Self {
        Self { entrance, origin, unproven, kept }
    }

    /// A place for this call.
    fn enter(&self, request: &Request<Incoming>) -> Result<Arc<Slot>, Status> {
        if let Origin::Tcp { port, is_tls } = self.origin {
            let from_page = page(request.headers()).or_else(|| {
                let is_ours = is_tls || is_called_so(request, port, &self.entrance.names);
                (!is_ours).then_some("the authority is not this daemon's: no name leads here")
            });
            if let Some(why) = from_page {
                return Err(status(Error::Denied(Reason::ForeignOrigin, why.to_owned())));
            }
        }
        let path = request.uri().path();
        let bearer = request.headers().get(AUTHORIZATION).map(|value| value.as_bytes());
        let is_person = bearer.and_then(token).is_some_and(|token| token.starts_with(b"askp_"));
        // Whether it is a person's indeed is known once somebody has looked it up.
        if let Some(kept) = self.kept.as_ref().filter(|_| !is_person) {
            kept.is_used(false);
            tracing::debug!("a call was shed: the connections that are left are for people");
            return Err(status(Error::Busy(limits::SHED_RETRY)));
        }
        let is_at_home = self.origin == Origin::Socket { is_own: true };
        let class = Class::of(path, is_person, is_at_home);
        let Entrance { crowd, unproven_a_peer, .. } = &*self.entrance;
        let unknown = self.unproven.enter(*unproven_a_peer).map_err(status)?;
        let slot = crowd.enter(class, is_stream(path)).map_err(status)?;
        Ok(Arc::new(slot.of_unknown(unknown)))
    }
}

impl hyper::service::Service<Request<Incoming>> for Door {
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let at_once = |response: Response<Body>| Box::pin(ready(Ok(Leaving::of(response, None))));
        if !is_grpc(request.headers()) {
            let mut response = Response::new(Body::default());
            *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return at_once(response);
        }
        let slot = match self.enter(&request) {
            Ok(slot) => slot,
            Err(status) => return at_once(status.into_http()),
        };
        let timeout = timeout(request.headers());
        let is_talk = request.uri().path().ends_with("/ServerReflectionInfo");
        let within = (!is_talk).then_some(self.entrance.message_within);
        let mut request = request.map(|body| Body::new(Arriving { body, within, over: None }));
        request.extensions_mut().insert(self.origin);
        request.extensions_mut().insert(slot.clone());
        if let Some(kept) = &self.kept {
            request.extensions_mut().insert(kept.clone());
        }
        let reply = self.entrance.routes.clone().call(request);
        Box::pin(async move {
            let replied = match timeout {
                Some(timeout) => tokio::time::timeout(timeout, reply).await,
                None => Ok(reply.await),
            };
            let response = match replied {
                Ok(Ok(response)) => sent::own_body(malformed::explained(response)),
                Ok(Err(never)) => match never {},
                Err(_) => too_slow("the call's own deadline is over").into_http(),
            };
            Ok(Leaving::of(response, Some(slot)))
        })
    }
}

/// The token of an `authorization`; its scheme is told in any case (RFC 9110, 11.1).
pub(super) fn token(authorization: &[u8]) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"bearer ";
    let (scheme, token) = authorization.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then_some(token)
}

/// Whether a page made this call: none of ours is made by one, and one that is made by a browser for
/// a page bears these.
fn page(headers: &HeaderMap) -> Option<&'static str> {
    let is_marked = headers.contains_key(ORIGIN)
        || headers.keys().any(|name| name.as_str().starts_with("sec-fetch-"));
    is_marked.then_some("calls from pages in a browser are not taken")
}

/// Whether the call names this daemon: what a page has a name lead here, it has named by that name.
fn is_called_so<B>(request: &Request<B>, port: u16, names: &[String]) -> bool {
    let authority = request.uri().authority().map(|authority| authority.as_str());
    let mut said = authority.into_iter().collect::<Vec<_>>();
    for host in request.headers().get_all(HOST) {
        let Ok(host) = host.to_str() else { return false };
        said.push(host);
    }
    !said.is_empty() && said.iter().all(|name| is_ours(name, port, names))
}

fn is_ours(authority: &str, port: u16, names: &[String]) -> bool {
    let Ok(authority) = authority.parse::<http::uri::Authority>() else { return false };
    if authority.as_str().contains('@') {
        return false;
    }
    let (host, said) = (authority.host(), authority.port_u16());
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_loopback = host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    let named = |name: &String| {
        name.eq_ignore_ascii_case(authority.as_str()) || name.eq_ignore_ascii_case(host)
    };
    (is_loopback && said == Some(port)) || names.iter().any(named)
}

/// Whether this is gRPC at all; what pages speak instead, gRPC-Web, is not.
fn is_grpc(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let rest = kind.and_then(|kind| kind.strip_prefix("application/grpc"));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['+', ';']))
}

/// What the caller itself gives the call: `grpc-timeout`, up to eight digits and a unit.
fn timeout(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.len() > 8 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let count = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(count * 60 * 60)),
        "M" => Some(Duration::from_secs(count * 60)),
        "S" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_millis(count)),
        "u" => Some(Duration::from_micros(count)),
        "n" => Some(Duration::from_nanos(count)),
        _ => None,
    }
}

fn too_slow(what: &str) -> Status {
    status(Error::TooSlow(what.to_owned()))
}

/// A message on its way in, which has to be whole in time.
struct Arriving {
    body: Incoming,
    /// None where it may take as long as its connection lasts.
    within: Option<Duration>,
    over: Option<Pin<Box<Sleep>>>,
}

impl HttpBody for Arriving {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            let broken = |error: hyper::Error| Status::cancelled(error.to_string());
            return Poll::Ready(frame.map(|frame| frame.map_err(broken)));
        }
        let Some(within) = self.within else { return Poll::Pending };
        let over = self.over.get_or_insert_with(|| Box::pin(tokio::time::sleep(within)));
        let late = || Some(Err(too_slow("the message did not come in time")));
        over.as_mut().poll(context).map(|()| late())
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A reply on its way out.
pub(super) struct Leaving {
    body: Body,
    /// The call's place, for as long as it is not sent.
    slot: Option<Arc<Slot>>,
    /// Bytes that were given and not yet asked past.
    owed: usize,
}

impl Leaving {
    fn of(response: Response<Body>, slot: Option<Arc<Slot>>) -> Answer {
        response.map(|body| Self { body, slot, owed: 0 })
    }

    fn owes(&mut self, bytes: usize) {
        if let Some(slot) = &self.slot {
            slot.owes(self.owed, bytes);
            self.owed = bytes;
        }
    }
}

impl HttpBody for Leaving {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        let bytes = match &frame {
            Poll::Ready(Some(Ok(frame))) => frame.data_ref().map(Bytes::len),
            _ => None,
        };
        self.owes(bytes.unwrap_or_default());
        stalls::note(bytes.is_some());
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.owes(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_called_by_its_own_name_is_this_daemon() {
        let names = ["box.lan".to_owned(), "tunnel:9".to_owned()];
        for ours in ["127.0.0.1:7", "LOCALHOST:7", "[::1]:7", "127.9.9.9:7", "Box.lan:1", "box.lan"]
        {
            assert!(is_ours(ours, 7, &names), "{ours}");
        }
        assert!(is_ours("tunnel:9", 7, &names));
        let foreign = [
            "evil.example:7",
            "127.0.0.1:8",
            "localhost",
            "localhost.evil.example:7",
            "127.0.0.1.evil.example:7",
            "tunnel:8",
            "x@localhost:7",
            "10.0.0.1:7",
            "0.0.0.0:7",
            "",
        ];
        for foreign in foreign {
            assert!(!is_ours(foreign, 7, &names), "{foreign}");
        }
    }

    #[test]
    fn every_name_that_a_call_gives_must_be_ours_and_one_must_be_there() {
        let request = |uri: &str, hosts: &[&str]| {
            let request = hosts
                .iter()
                .fold(Request::builder().uri(uri), |so_far, host| so_far.header(HOST, *host));
            is_called_so(&request.body(()).unwrap(), 7, &[])
        };
        assert!(request("http://localhost:7/a", &[]));
        assert!(request("/a", &["localhost:7"]));
        assert!(!request("/a", &[]));
        assert!(!request("http://localhost:7/a", &["evil.example"]));
        assert!(!request("/a", &["localhost:7", "evil.example:7"]));
    }

    #[test]
    fn grpc_is_known_by_its_type_and_a_deadline_by_its_unit() {
        let headers = |name: &'static str, value: &'static str| {
            HeaderMap::from_iter([(http::HeaderName::from_static(name), value.parse().unwrap())])
        };
        for good in ["application/grpc", "application/grpc+proto", "application/grpc;a=b"] {
            assert!(is_grpc(&headers("content-type", good)), "{good}");
        }
        for bad in ["application/grpc-web", "application/grpc-web-text", "text/plain", ""] {
            assert!(!is_grpc(&headers("content-type", bad)), "{bad}");
        }
        let given = |text| timeout(&headers("grpc-timeout", text));
        assert_eq!(given("5S"), Some(Duration::from_secs(5)));
        assert_eq!(given("99999999H"), Some(Duration::from_secs(99_999_999 * 3_600)));
        assert_eq!(given("250m"), Some(Duration::from_millis(250)));
        for bad in ["", "S", "5", "-5S", "+5S", "999999999S", "5s", "5 S"] {
            assert_eq!(given(bad), None, "{bad}");
        }
    }
}
