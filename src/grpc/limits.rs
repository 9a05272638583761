//! Every limit of the wire: a name, a number and a reason. What an ask and its texts may be is said in
//! [`ask::limits`](crate::ask::limits); `docs/limits.md` has both.

use std::time::Duration;

/// Bytes of one message in: an ask at all its limits is under it; more is a mistake or mischief.
pub const MESSAGE_BYTES: usize = 256 << 10;
/// Connections over TCP at once. Watches share connections: this is as many programs.
pub const CONNECTIONS: usize = 2_048;
/// Connections of one address at once: half of all, so that no neighbour shuts out the others. On
/// loopback it is one machine.
pub const CONNECTIONS_A_PEER: usize = 1_024;
/// Connections by the socket at once. They are counted by themselves: whatever happens over TCP,
/// whoever is at this machine gets in.
pub const SOCKET_CONNECTIONS: usize = 2_048;
/// Connections by the socket of one process at once: a program that leaks them does not take the
/// place of a person at a terminal.
pub const SOCKET_CONNECTIONS_A_PROCESS: usize = 256;
/// Connections by the socket, of [`SOCKET_CONNECTIONS`], that only people have: those that come when
/// no others are free must prove within [`OPENS_WITHIN`] that they are a person's, by a call with their
/// token, and take no others. However many agents there are, who is to answer them gets in.
pub const SOCKET_CONNECTIONS_FOR_PEOPLE: usize = 64;
/// Where there are few connections, one in this many is for people.
pub const SOCKET_PART_FOR_PEOPLE: usize = 8;
/// New connections a second from one address, after [`NEW_CONNECTIONS_AT_ONCE`]: a verb of the command
/// line is one; a hundred a second are a loop that went wrong.
pub const NEW_CONNECTIONS_A_SECOND: u32 = 100;
/// New connections at once from one address: everybody comes back when a daemon was started again.
pub const NEW_CONNECTIONS_AT_ONCE: u32 = 1_024;
/// Connections over TCP that wait to be taken: all that may come at once, however busy the daemon is.
/// One more is lost half-way, and its client may not know for a minute.
pub const CONNECTIONS_WAITING: u32 = NEW_CONNECTIONS_AT_ONCE;
/// The most of any of these that may be configured: by then one process is the wrong size.
pub const CONNECTIONS_MAX: usize = 100_000;
/// From accepting a connection to the whole of its first settings, TLS included.
pub const OPENS_WITHIN: Duration = Duration::from_secs(5);
/// From the headers of a call to the whole of its message: it is 256 KiB at most.
pub const MESSAGE_WITHIN: Duration = Duration::from_secs(10);
/// How long what is sent may go nowhere, on a connection or a stream, before that is cut: whoever
/// does not read for a minute comes back and begins where it was.
pub const STALLED: Duration = Duration::from_secs(60);
/// How often an idle connection is asked whether it is there.
pub const KEEPALIVE: Duration = Duration::from_secs(20);
/// How long it has to say so: a dead one is noticed within half a minute.
pub const KEEPALIVE_WITHIN: Duration = Duration::from_secs(10);
/// How old a connection becomes, give or take [`AGE_JITTER`]: what it has gathered is given back, and
/// clients find their way to whoever serves now.
pub const AGE: Duration = Duration::from_secs(60 * 60);
/// One part in this many of its age is left to chance: those that came together do not go together.
pub const AGE_JITTER: u32 = 10;
/// How long the calls on an old connection have to end; watches are cut then, and taken up again.
pub const AGE_DRAIN: Duration = Duration::from_secs(30);
/// How long a stop waits for clients to take what is sent to them.
pub const STOP_DRAIN: Duration = Duration::from_secs(5);
/// Bytes of all headers of a call: a token, a trace and what proxies add are under 2 KiB.
pub const HEADER_BYTES: u32 = 8 << 10;
/// Calls a connection may have open at once. Watches share connections; a thousand are plenty.
pub const STREAMS_A_CONNECTION: u32 = 1_024;
/// Bytes that wait in a stream for its reader, beside the one message that is being sent.
pub const SEND_BUFFER_BYTES: usize = 64 << 10;
/// Bytes of a stream that may come before anybody reads them: the largest message.
pub const STREAM_WINDOW_BYTES: u32 = 256 << 10;
/// The same of a whole connection: what a peer can make the daemon hold, whatever it opens.
pub const CONNECTION_WINDOW_BYTES: u32 = 512 << 10;
/// Streams that a peer reset before they were looked at; more, and the connection is cut (rapid
/// reset, CVE-2023-44487). A client that gives up on many calls at once has them looked at before.
pub const RESETS_PENDING: usize = 64;
/// Streams that the daemon reset for a peer's faults; more, and the connection is cut.
pub const RESETS_BY_FAULT: usize = 256;
/// Calls in flight at once, watches included, over TCP and of sessions on the socket.
pub const CALLS: usize = 16_384;
/// Calls of one peer in flight of which it is not known yet who makes them: they wait for the rest of
/// their message, or have no token. It takes milliseconds, and whoever makes a pastime of it must not
/// take the place of everybody else's. A peer is an address, or a process on the socket.
pub const UNPROVEN_A_PEER: usize = 2_048;
/// The most that may be configured: at the few KiB that an idle watch takes, some GiB.
pub const CALLS_MAX: usize = 1_000_000;
/// Of [`CALLS`], in percent: from here on no watch and no list of a session's or host's begins.
pub const SHED_WATCHES_AT: usize = 75;
/// Of [`CALLS`], in percent: from here on nothing new is filed or sent either. Answers and all else
/// that ends or moves an ask go on.
pub const SHED_ASKS_AT: usize = 87;
/// Bytes of messages that wait for their readers, beyond which no watch or list begins.
pub const OWED_BYTES: usize = 64 << 20;
/// The same for new asks.
pub const OWED_BYTES_SHED_ASKS: usize = 128 << 20;
/// How long a call that was shed should wait: a listing takes milliseconds, a storm of clients that
/// come back some seconds.
pub const SHED_RETRY: Duration = Duration::from_secs(1);

/// Those of them that whoever runs the daemon, or a test, may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// See [`CONNECTIONS`].
    pub connections: usize,
    /// See [`CONNECTIONS_A_PEER`].
    pub connections_a_peer: usize,
    /// See [`SOCKET_CONNECTIONS`].
    pub socket_connections: usize,
    /// See [`SOCKET_CONNECTIONS_A_PROCESS`].
    pub socket_connections_a_process: usize,
    /// See [`NEW_CONNECTIONS_A_SECOND`]; not zero.
    pub new_connections_a_second: u32,
    /// See [`NEW_CONNECTIONS_AT_ONCE`]; not zero.
    pub new_connections_at_once: u32,
    /// See [`OPENS_WITHIN`].
    pub opens_within: Duration,
    /// See [`MESSAGE_WITHIN`].
    pub message_within: Duration,
    /// See [`STALLED`].
    pub stalled: Duration,
    /// See [`AGE`].
    pub age: Duration,
    /// See [`AGE_DRAIN`].
    pub age_drain: Duration,
    /// See [`CALLS`].
    pub calls: usize,
    /// See [`UNPROVEN_A_PEER`].
    pub unproven_a_peer: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS,
            connections_a_peer: CONNECTIONS_A_PEER,
            socket_connections: SOCKET_CONNECTIONS,
            socket_connections_a_process: SOCKET_CONNECTIONS_A_PROCESS,
            new_connections_a_second: NEW_CONNECTIONS_A_SECOND,
            new_connections_at_once: NEW_CONNECTIONS_AT_ONCE,
            opens_within: OPENS_WITHIN,
            message_within: MESSAGE_WITHIN,
            stalled: STALLED,
            age: AGE,
            age_drain: AGE_DRAIN,
            calls: CALLS,
            unproven_a_peer: UNPROVEN_A_PEER,
        }
    }
}

impl Limits {
    /// The same with no more connections than the process has file descriptors for: `files` of them,
    /// of which some are the store's and the log's.
    pub fn within(self, files: usize) -> Self {
        let each = files.saturating_sub(FILES_KEPT) / 2;
        Self {
            connections: self.connections.min(each),
            socket_connections: self.socket_connections.min(each),
            ..self
        }
    }
}

/// File descriptors that are no connections: the store, the log, the runtime, a hook's pipes.
pub const FILES_KEPT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_few_files_takes_fewer_connections_and_shares_them_out() {
        let few = Limits::default().within(1_024);
        assert_eq!((few.connections, few.socket_connections), (480, 480));
        assert_eq!(Limits::default().within(1 << 20), Limits::default());
        assert_eq!(Limits::default().within(10).connections, 0);
    }
}
