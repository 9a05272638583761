//! Who may have a connection: so many in all, so many of one peer, so many new ones a second. The
//! socket is counted by itself, so that nothing over TCP keeps out who is at this machine.

use super::limits::{self, Limits};
use super::shed::Unproven;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Whom a connection is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Peer {
    /// An address over TCP.
    Address(IpAddr),
    /// A process on the socket, by its id; none where the system does not say.
    Process(Option<i32>),
}

impl Peer {
    /// The peer at an address. Of IPv6 whoever has one has all of its /64.
    pub(super) fn at(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(six) if !six.is_loopback() => {
                Ipv6Addr::from_bits(six.to_bits() >> 64 << 64).into()
            }
            other => other,
        })
    }
}

/// Why a connection is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoSeat {
    /// There are as many as may be.
    Full,
    /// This peer has as many as it may have.
    PeerFull,
    /// This peer makes new ones too fast.
    TooFast,
}

/// The connections there are. Cheap to clone; the clones are one.
#[derive(Clone)]
pub(super) struct Admission(Arc<Counted>);

struct Counted {
    limits: Limits,
    rate: DefaultKeyedRateLimiter<IpAddr>,
    seats: Mutex<Seats>,
}

#[derive(Default)]
struct Seats {
    tcp: usize,
    socket: usize,
    by_peer: HashMap<Peer, OfPeer>,
}

/// What one peer has.
#[derive(Default)]
struct OfPeer {
    connections: usize,
    unproven: Unproven,
}

/// A connection's place; free again when this is dropped.
#[must_use]
pub(super) struct Seat {
    of: Admission,
    peer: Peer,
    /// The calls of its peer, on this connection and others, that nobody is known to make yet.
    pub unproven: Unproven,
    /// What keeps it for people; none where it is anybody's.
    pub kept: Option<Kept>,
}

/// A connection that only a person may have. Cheap to clone; the clones are one.
#[derive(Clone, Default)]
pub(super) struct Kept {
    is_persons: CancellationToken,
    is_others: CancellationToken,
}

impl Kept {
    /// A call on it was made by a person, or it was not.
    pub(super) fn is_used(&self, by_person: bool) {
        if by_person { self.is_persons.cancel() } else { self.is_others.cancel() }
    }

    /// Returns when it is to be given up: somebody else uses it, or nobody proved by `until` to be a
    /// person.
    pub(super) async fn given_up(&self, until: Instant) {
        tokio::select! {
            () = self.is_others.cancelled() => return,
            () = self.is_persons.cancelled() => {}
            () = tokio::time::sleep_until(until) => return,
        }
        self.is_others.cancelled().await;
    }
}

/// Peers whose rate is remembered before those that have been quiet are forgotten.
const PEERS_REMEMBERED: usize = 4_096;

impl Admission {
    pub(super) fn new(limits: Limits) -> Self {
        let at_least_one = |count| NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(at_least_one(limits.new_connections_a_second))
            .allow_burst(at_least_one(limits.new_connections_at_once));
        let rate = RateLimiter::dashmap(quota);
        Self(Arc::new(Counted { limits, rate, seats: Mutex::default() }))
    }

    /// A place for a connection of `peer`.
    ///
    /// # Errors
    ///
    /// Why it has none.
    pub(super) fn seat(&self, peer: Peer) -> Result<Seat, NoSeat> {
        let limits = &self.0.limits;
        if let Peer::Address(address) = peer {
            if self.0.rate.len() > PEERS_REMEMBERED {
                self.0.rate.retain_recent();
            }
            self.0.rate.check_key(&address).map_err(|_| NoSeat::TooFast)?;
        }
        let mut seats = self.0.seats.lock().unwrap_or_else(PoisonError::into_inner);
        let (most, most_of_peer) = match peer {
            Peer::Address(_) => (limits.connections, limits.connections_a_peer),
            Peer::Process(_) => (limits.socket_connections, limits.socket_connections_a_process),
        };
        if *seats.total(peer) >= most {
            return Err(NoSeat::Full);
        }
        let for_people = match peer {
            Peer::Address(_) => 0,
            Peer::Process(_) => {
                limits::SOCKET_CONNECTIONS_FOR_PEOPLE.min(most / limits::SOCKET_PART_FOR_PEOPLE)
            }
        };
        let kept = (*seats.total(peer) + for_people >= most).then(Kept::default);
        let kept = kept.filter(|_| for_people > 0);
        let of_peer = seats.by_peer.entry(peer).or_default();
        // A system that does not tell processes apart counts them all as one: then all may be it.
        let is_told_apart = peer != Peer::Process(None);
        if of_peer.connections >= most_of_peer && is_told_apart {
            return Err(NoSeat::PeerFull);
        }
        of_peer.connections += 1;
        let unproven = if is_told_apart { of_peer.unproven.clone() } else { Unproven::default() };
        *seats.total(peer) += 1;
        Ok(Seat { of: self.clone(), peer, unproven, kept })
    }
}

impl Seats {
    fn total(&mut self, peer: Peer) -> &mut usize {
        match peer {
            Peer::Address(_) => &mut self.tcp,
            Peer::Process(_) => &mut self.socket,
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut seats = self.of.0.seats.lock().unwrap_or_else(PoisonError::into_inner);
        *seats.total(self.peer) -= 1;
        if let Some(of_peer) = seats.by_peer.get_mut(&self.peer) {
            of_peer.connections -= 1;
            if of_peer.connections == 0 {
                seats.by_peer.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> Peer {
        Peer::at([10, 0, 0, last].into())
    }

    #[test]
    fn connections_are_counted_in_all_and_by_peer_and_a_seat_is_free_again() {
        let limits = Limits { connections: 3, connections_a_peer: 2, ..Limits::default() };
        let admission = Admission::new(limits);
        let seats = [admission.seat(peer(1)), admission.seat(peer(1)), admission.seat(peer(2))];
        let mut seats = seats.map(|seat| seat.map_err(|why| panic!("{why:?}")).unwrap());
        assert_eq!(admission.seat(peer(1)).err(), Some(NoSeat::Full));
        seats[0] = admission.seat(Peer::Process(Some(1))).expect("the socket has its own");
        assert!(admission.seat(peer(1)).is_ok());
        let _second = admission.seat(peer(1)).expect("room again");
        assert_eq!(admission.seat(peer(1)).err(), Some(NoSeat::Full));
        drop(seats);
        assert!(admission.seat(peer(2)).is_ok());
        drop(_second);
        let seats = admission.0.seats.lock().unwrap();
        assert!(seats.by_peer.is_empty() && seats.tcp == 0 && seats.socket == 0);
    }

    #[test]
    fn one_peer_does_not_shut_out_another_nor_one_process_the_others() {
        let limits =
            Limits { connections_a_peer: 1, socket_connections_a_process: 1, ..Limits::default() };
        let admission = Admission::new(limits);
        let process = |id| Peer::Process(Some(id));
        let _held = [admission.seat(peer(1)), admission.seat(process(1))];
        assert_eq!(admission.seat(peer(1)).err(), Some(NoSeat::PeerFull));
        assert_eq!(admission.seat(process(1)).err(), Some(NoSeat::PeerFull));
        assert!(admission.seat(peer(2)).is_ok());
        assert!(admission.seat(process(2)).is_ok());
        let _unknown = [admission.seat(Peer::Process(None)), admission.seat(Peer::Process(None))];
        assert!(_unknown.iter().all(Result::is_ok));
    }

    #[test]
    fn new_connections_of_one_peer_come_no_faster_than_they_may() {
        let (new_connections_a_second, new_connections_at_once) = (1, 3);
        let limits =
            Limits { new_connections_a_second, new_connections_at_once, ..Limits::default() };
        let admission = Admission::new(limits);
        let refused = (0..1_000).filter(|_| admission.seat(peer(1)).is_err()).count();
        assert!(refused > 900, "{refused} of a thousand at once");
        assert!(admission.seat(peer(2)).is_ok(), "another peer has its own rate");
    }

    #[test]
    fn an_ipv6_peer_is_its_network_and_a_mapped_address_is_its_own() {
        let at = |text: &str| Peer::at(text.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:1"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:127.0.0.1"), at("127.0.0.1"));
        assert_ne!(at("::1"), at("::2"));
    }
}
