//! Streams of messages on their way out. tonic's encoder keeps, for as long as a stream lasts, the
//! buffer in which it made the largest message, and never less than eight KiB; a watch sends one
//! message and then waits for hours. So streams are encoded here, each message into memory that is
//! exactly as large and goes when it went.
//!
//! A handler has to give tonic a stream. It gives one of nothing, and what is sent instead travels
//! beside it: [`own_body`] puts it in its place.

use super::server::Reply;
use http::HeaderMap;
use http_body::{Body as HttpBody, Frame};
use hyper::body::Bytes;
use prost::Message;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio_stream::{Empty, Stream};
use tonic::body::Body;
use tonic::codegen::http::Response as HttpResponse;
use tonic::{Response, Status};

/// Bytes before a message: whether it is compressed, and how long it is.
const HEAD: usize = 5;

/// What tonic is given in the place of a stream.
pub(super) type Elsewhere<T> = Empty<Result<T, Status>>;

/// What is sent instead. Extensions are cloned at will, a body is not: it is taken once.
#[derive(Clone)]
struct Beside(Arc<Mutex<Option<Body>>>);

/// The reply that sends `messages`, and at their end how they ended.
pub(super) fn streamed<T, S>(messages: S) -> Reply<Elsewhere<T>>
where
    T: Message,
    S: Stream<Item = Result<T, Status>> + Send + 'static,
{
    let body = Body::new(Sending { messages: Box::pin(messages), is_over: false });
    let mut response = Response::new(tokio_stream::empty());
    response.extensions_mut().insert(Beside(Arc::new(Mutex::new(Some(body)))));
    Ok(response)
}

/// The response with the body its handler made for it, where it made one.
pub(super) fn own_body(mut response: HttpResponse<Body>) -> HttpResponse<Body> {
    let beside = response.extensions_mut().remove::<Beside>();
    let body =
        beside.and_then(|Beside(body)| body.lock().unwrap_or_else(PoisonError::into_inner).take());
    match body {
        Some(body) => response.map(|_| body),
        None => response,
    }
}

struct Sending<S> {
    messages: Pin<Box<S>>,
    is_over: bool,
}

impl<T, S> HttpBody for Sending<S>
where
    T: Message,
    S: Stream<Item = Result<T, Status>>,
{
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let end = match std::task::ready!(self.messages.as_mut().poll_next(context)) {
            Some(Ok(message)) => return Poll::Ready(Some(framed(&message).map(Frame::data))),
            Some(Err(status)) => status,
            None => Status::ok(""),
        };
        self.is_over = true;
        let mut trailers = HeaderMap::new();
        Poll::Ready(Some(end.add_header(&mut trailers).map(|()| Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.is_over
    }
}

/// The bytes of a message on the wire.
fn framed(message: &impl Message) -> Result<Bytes, Status> {
    let length = message.encoded_len();
    let said = u32::try_from(length);
    let said = said.map_err(|_| Status::internal("a message is larger than gRPC can say"))?;
    let mut bytes = Vec::with_capacity(HEAD + length);
    bytes.push(0);
    bytes.extend_from_slice(&said.to_be_bytes());
    message.encode(&mut bytes).map_err(|error| Status::internal(error.to_string()))?;
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::v1::Idle;
    use std::future::poll_fn;

    async fn frames(items: Vec<Result<Idle, Status>>) -> Vec<Frame<Bytes>> {
        let reply = streamed(tokio_stream::iter(items)).unwrap();
        let mut response = HttpResponse::new(Body::default());
        *response.extensions_mut() = reply.into_parts().2;
        let mut body = own_body(response).into_body();
        let mut frames = Vec::new();
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            frames.push(frame.unwrap());
        }
        frames
    }

    #[tokio::test]
    async fn each_message_is_a_frame_of_its_own_size_and_the_end_says_how_it_ended() {
        let frames_of =
            frames(vec![Ok(Idle { revision: 7, stale: false }), Err(Status::not_found("gone"))])
                .await;
        let [message, end] = &frames_of[..] else { panic!("{frames_of:?}") };
        assert_eq!(&message.data_ref().unwrap()[..], [0, 0, 0, 0, 2, 8, 7]);
        let status = Status::from_header_map(end.trailers_ref().unwrap()).unwrap();
        assert_eq!((status.code(), status.message()), (tonic::Code::NotFound, "gone"));
        let frames_of = frames(Vec::new()).await;
        let [end] = &frames_of[..] else { panic!("{frames_of:?}") };
        assert_eq!(end.trailers_ref().unwrap()["grpc-status"], "0");
    }
}
