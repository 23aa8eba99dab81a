//! What the network between two hosts gives to an application: messages over one TCP connection, of one size.
//!
//! Where this stands in the flow: the conductor starts two of these, a server and a client, on the two hosts. The server chooses a
//! port, and the number goes to the client with the barrier at which they meet ([`Company`]); so no port is ever taken. Then the
//! client plays its part and the server answers.
//!
//! * `latency`: a message goes there and comes back, again and again ([`ping_pong`]). Half of each round trip is recorded, as qperf
//!   and perftest count it.
//! * `one_way`, `both_ways`: messages follow each other without pause ([`stream`]). Whoever receives them counts them, so that what
//!   still lies in a sender's buffer is not taken for carried.
//!
//! TCP_NODELAY is set: a message is sent when it is written. One write a message; the receiver of a stream takes what is there.

mod connection;
pub mod outcome;
mod ping_pong;
mod stream;

use std::io::{stdin, stdout};
use std::net::{IpAddr, SocketAddr, TcpStream};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Moment;
use crate::metadata::company::Company;
use crate::{Refusal, Workload};
use outcome::{NetworkOutcome, Use};

/// One side of a test between two hosts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Network {
    pub role: Role,
    /// The server's: where it listens, and where the client finds it.
    pub address: IpAddr,
    /// 0: the server takes any that is free, and tells it at the barrier.
    #[serde(default)]
    pub port: u16,
    pub test: Test,
    pub message_size_bytes: u64,
    /// Before anything is counted.
    #[serde(default)]
    pub ramp_ns: u64,
    pub runtime_ns: u64,
    /// Whether the two meet through whoever started them (`barrier` and `go` lines); needed for port 0.
    #[serde(default)]
    pub external_barriers: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Listens and answers.
    Server,
    /// Connects and sets the pace.
    Client,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// One message in flight, there and back.
    Latency,
    /// From the client to the server.
    OneWay,
    /// Over the same connection in both directions at once.
    BothWays,
}

const LARGEST_MESSAGE_BYTES: u64 = 1 << 30;

impl Workload for Network {
    type Outcome = NetworkOutcome;

    fn perform(&self) -> Result<NetworkOutcome, Refusal> {
        self.check()?;
        let connection = self.connect()?;
        let start = Moment::now();
        let before = Use::now();
        let mut outcome = match (self.test, self.role) {
            (Test::Latency, Role::Client) => ping_pong::ask(&connection, self),
            (Test::Latency, Role::Server) => ping_pong::answer(&connection, self),
            (Test::OneWay, Role::Client) => stream::send_only(&connection, self),
            (Test::OneWay, Role::Server) => stream::receive_only(&connection, self),
            (Test::BothWays, _) => stream::both(&connection, self),
        }
        .map_err(|error| Refusal(format!("the connection between the two hosts broke: {error}")))?;
        outcome.start = start;
        outcome.use_of_processor = Use::now().since(&before);
        outcome.retransmitted_segments = connection::retransmitted_segments(&connection);
        Ok(outcome)
    }
}

impl Network {
    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless((1..=LARGEST_MESSAGE_BYTES).contains(&self.message_size_bytes), || {
            format!("message_size_bytes is {}: give a size from 1 byte to 1 GiB", self.message_size_bytes)
        })?;
        Refusal::unless(self.runtime_ns > 0, || "runtime_ns is 0: give a time to measure for".to_owned())?;
        Refusal::unless(self.port != 0 || self.external_barriers, || {
            "port is 0, which needs external_barriers: else the client cannot know the port".to_owned()
        })
    }

    fn message_size(&self) -> usize {
        self.message_size_bytes as usize
    }

    fn connect(&self) -> Result<TcpStream, Refusal> {
        match self.role {
            Role::Server => {
                let listener = connection::listen(SocketAddr::new(self.address, self.port))?;
                let port = listener.local_addr().map_or(self.port, |address| address.port());
                self.meet(u64::from(port))?;
                connection::accept(&listener)
            }
            Role::Client => {
                let told = self.meet(u64::from(self.port))?;
                let port = u16::try_from(told)
                    .map_err(|_| Refusal(format!("the server told the port {told}, which is none")))?;
                connection::reach(SocketAddr::new(self.address, port))
            }
        }
    }

    /// Returns the greatest port that one of the two has brought.
    fn meet(&self, port: u64) -> Result<u64, Refusal> {
        if !self.external_barriers {
            return Ok(port);
        }
        Company { answers: &mut stdin().lock(), questions: &mut stdout().lock() }.meet(1, port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    use leadline_attempts::attempts;

    /// A port that was free a moment ago. Tests that run at once have a loopback address each, or one could take the other's.
    fn free_port(address: IpAddr) -> u16 {
        connection::listen(SocketAddr::new(address, 0)).unwrap().local_addr().unwrap().port()
    }

    /// Both sides in one process, over the loopback of this host.
    fn between(last_of_address: u8, test: Test, message_size_bytes: u64) -> (NetworkOutcome, NetworkOutcome) {
        let address = IpAddr::from([127, 0, 0, last_of_address]);
        let client = Network {
            role: Role::Client,
            address,
            port: free_port(address),
            test,
            message_size_bytes,
            ramp_ns: 10_000_000,
            runtime_ns: 100_000_000,
            external_barriers: false,
        };
        let server = Network { role: Role::Server, ..client.clone() };
        thread::scope(|scope| {
            let serving = scope.spawn(move || server.perform().unwrap());
            (client.perform().unwrap(), serving.join().unwrap())
        })
    }

    /// Whether so much came in a window of 100 ms, and up to its end.
    fn came(receiver: &NetworkOutcome, bytes: u64) -> bool {
        receiver
            .received
            .as_ref()
            .is_some_and(|received| received.bytes > bytes && received.runtime_ns >= 90_000_000)
    }

    #[test]
    fn half_of_every_round_trip_is_recorded_and_fills_the_time() {
        let measure = || between(2, Test::Latency, 64);
        let (client, server) = attempts(measure, |(client, _)| client.round_trips > 100);
        let latency = client.latency.unwrap();
        assert!(latency.count > 100 && server.latency.is_none());
        assert_eq!(client.round_trips, latency.count);
        let waited_ns = 2.0 * latency.mean_ns.unwrap() * latency.count as f64;
        let filled = waited_ns / client.runtime_ns as f64;
        assert!((0.8..=1.01).contains(&filled), "{filled} of the window was spent in round trips");
        assert!(client.runtime_ns >= 100_000_000);
    }

    #[test]
    fn what_one_side_streams_the_other_receives_and_no_more() {
        let measure = || between(3, Test::OneWay, 65_536);
        let (client, server) = attempts(measure, |(_, server)| came(server, 1 << 20));
        let received = server.received.unwrap();
        assert!(client.received.is_none() && received.bytes > 1 << 20);
        // The ramp and what was on its way at the end were sent beside it.
        assert!(client.sent_bytes >= received.bytes, "{} sent, {received:?}", client.sent_bytes);
        let in_series: u64 = received.series.iter().map(|interval| interval.bytes).sum();
        assert_eq!(in_series, received.bytes);
        assert!((90_000_000..=100_000_001).contains(&received.runtime_ns), "{}", received.runtime_ns);
    }

    #[test]
    fn both_ways_each_side_counts_what_it_received() {
        let measure = || between(4, Test::BothWays, 4096);
        let (client, server) =
            attempts(measure, |(client, server)| came(client, 1 << 16) && came(server, 1 << 16));
        for (sender, receiver) in [(&client, &server), (&server, &client)] {
            let received = receiver.received.as_ref().unwrap();
            assert!(received.bytes > 1 << 16 && received.bytes <= sender.sent_bytes, "{received:?}");
        }
    }

    #[test]
    fn a_server_that_is_not_there_is_said_in_one_sentence() {
        let address = IpAddr::from([127, 0, 0, 5]);
        let step = Network {
            role: Role::Client,
            address,
            port: free_port(address),
            test: Test::Latency,
            message_size_bytes: 1,
            ramp_ns: 0,
            runtime_ns: 1,
            external_barriers: false,
        };
        let sentence = step.perform().unwrap_err().0;
        assert!(sentence.contains("127.0.0.5") && sentence.contains("refused"), "{sentence}");
    }

    #[test]
    fn sizes_times_and_ports_that_mean_nothing_are_refused() {
        let step = Network {
            role: Role::Client,
            address: "127.0.0.1".parse().unwrap(),
            port: 1,
            test: Test::Latency,
            message_size_bytes: 1,
            ramp_ns: 0,
            runtime_ns: 1,
            external_barriers: false,
        };
        let refused = |step: Network| step.perform().unwrap_err().0;
        assert!(refused(Network { message_size_bytes: 0, ..step.clone() }).contains("message_size_bytes"));
        assert!(refused(Network { runtime_ns: 0, ..step.clone() }).contains("runtime_ns"));
        assert!(refused(Network { port: 0, ..step }).contains("external_barriers"));
    }
}
