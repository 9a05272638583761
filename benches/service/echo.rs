//! The limit of a call: a plain tonic server that reads 1.5 KB and answers 200 bytes, as a process of
//! its own like the daemon, with the daemon's settings for connections.

use prost::Message;
use std::convert::Infallible;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::task::{Context, Poll};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::body::Body;
use tonic::client::Grpc as ClientGrpc;
use tonic::codegen::http::{Request as HttpRequest, Response as HttpResponse, uri::PathAndQuery};
use tonic::codegen::{BoxFuture, Service};
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

/// The argument that makes this program the echo's server.
pub const SERVE: &str = "--serve-echo";
/// Bytes of a question, and of its answer.
const SIZES: (usize, usize) = (1_500, 200);

/// What goes either way.
#[derive(Clone, PartialEq, Message)]
struct Bytes {
    #[prost(bytes = "vec", tag = "1")]
    bytes: Vec<u8>,
}

#[derive(Clone)]
struct Answers;

impl UnaryService<Bytes> for Answers {
    type Response = Bytes;
    type Future = BoxFuture<Response<Bytes>, Status>;

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        Box::pin(async { Ok(Response::new(Bytes { bytes: vec![b'y'; SIZES.1] })) })
    }
}

impl Service<HttpRequest<Body>> for Answers {
    type Response = HttpResponse<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest<Body>) -> Self::Future {
        Box::pin(async {
            Ok(Grpc::new(ProstCodec::<Bytes, Bytes>::default()).unary(Answers, request).await)
        })
    }
}

impl NamedService for Answers {
    const NAME: &'static str = "bench.Echo";
}

/// Serves until it is killed; says its address on stdout.
pub fn serve() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().expect("the system gives threads");
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a port");
        println!("http://{}", listener.local_addr().expect("it is bound"));
        let incoming = TcpListenerStream::new(listener);
        let server = Server::builder().tcp_nodelay(true).add_service(Answers);
        server.serve_with_incoming(incoming).await.expect("it serves");
    });
    ExitCode::SUCCESS
}

/// The server, until it is dropped.
pub struct Echo {
    child: Child,
    address: String,
}

impl Echo {
    pub fn start() -> Self {
        let program = std::env::current_exe().expect("it has a path");
        let mut command = Command::new(program);
        let mut child = command.arg(SERVE).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut address = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut address).expect("it says where");
        Self { child, address: address.trim().to_owned() }
    }

    /// A connection of its own.
    pub fn channel(&self) -> Channel {
        let endpoint = Endpoint::from_shared(self.address.clone()).expect("an address");
        endpoint.tcp_nodelay(true).connect_lazy()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One call.
pub async fn call(channel: &Channel) {
    let mut client = ClientGrpc::new(channel.clone());
    client.ready().await.expect("it is connected");
    let path = PathAndQuery::from_static("/bench.Echo/Call");
    let request = Request::new(Bytes { bytes: vec![b'x'; SIZES.0] });
    let codec = ProstCodec::<Bytes, Bytes>::default();
    let answer = client.unary(request, path, codec).await.expect("it answers").into_inner();
    assert_eq!(answer.bytes.len(), SIZES.1);
}
