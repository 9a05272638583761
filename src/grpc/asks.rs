//! AskService: read the request, establish the caller, call the service, say what came of it.

use super::convert;
use super::read::Fields;
use super::sent::{Elsewhere, streamed};
use super::server::{Api, Reply, reply};
use super::status::{cut, status};
use super::v1::{self, ask_service_server::AskService};
use crate::ask::Ask;
use crate::error::Error;
use crate::service::{Away, DeliveryMessage, InboxMessage, Receipt, WatchMessage, unread};
use std::mem::take;
use std::sync::Arc;
use tokio_stream::StreamExt;
use tonic::{Request, Status, async_trait};

#[async_trait]
impl AskService for Api {
    async fn ask(&self, request: Request<v1::AskRequest>) -> Reply<v1::AskResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let id = fields.request_id(&request.request_id);
        let work = fields.optional("work_id", &request.work_id);
        let draft = fields.draft(request);
        let ((id, work), draft) = fields.done(id.zip(work).zip(draft))?;
        let receipt = receipt(self.service.ask(&caller, id, work, draft).await)?;
        reply(v1::AskResponse { receipt })
    }

    async fn get_ask(&self, request: Request<v1::GetAskRequest>) -> Reply<v1::GetAskResponse> {
        let (caller, request) = self.enter(request).await?;
        let (ask, presence) = self.service.get(&caller, &request.ask_id).await.map_err(status)?;
        let asker = convert::presence(presence).into();
        let receives = ask.is_delivered_to(&caller.principal.into());
        let carried = receives.then(|| convert::carried(&ask));
        let away = self.service.away([ask.asker.session]).await.map_err(status)?;
        reply(v1::GetAskResponse { ask: Some(convert::read_ask(&ask, &away)), asker, carried })
    }

    async fn list_asks(
        &self,
        request: Request<v1::ListAsksRequest>,
    ) -> Reply<v1::ListAsksResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let scope = fields.scope(request.scope);
        let after = fields.page_token(&request.page_token);
        let page = fields.page_size(request.page_size);
        let filter = fields.filter(request.filter.unwrap_or_default());
        let read = scope.zip(filter).zip(after.zip(page));
        let ((scope, filter), (after, page)) = fields.done(read)?;
        let page = self.service.list(&caller, scope, &filter, after, page).await.map_err(status)?;
        let askers = page.asks.iter().map(|ask| ask.asker.session);
        let away = self.service.away(askers).await.map_err(status)?;
        reply(v1::ListAsksResponse {
            asks: page.asks.iter().map(|ask| convert::read_ask(ask, &away)).collect(),
            next_page_token: page.next.map(|id| id.to_string()).unwrap_or_default(),
        })
    }

    async fn list_events(
        &self,
        request: Request<v1::ListEventsRequest>,
    ) -> Reply<v1::ListEventsResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let ask = fields.ask_id(&request.ask_id);
        let page = fields.page_size(request.page_size);
        let (ask, page) = fields.done(ask.zip(page))?;
        let events = self.service.events(&caller, ask, request.after_revision, page).await;
        let events = events.map_err(status)?;
        let events = events.iter().map(|(event, after)| convert::event(event, after)).collect();
        reply(v1::ListEventsResponse { events })
    }

    type WatchAskStream = Elsewhere<v1::WatchAskResponse>;

    async fn watch_ask(
        &self,
        request: Request<v1::WatchAskRequest>,
    ) -> Reply<Self::WatchAskStream> {
        use v1::watch_ask_response::Message;
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let ask = fields.ask_id(&request.ask_id);
        let ask = fields.done(ask)?;
        let after = request.after_revision;
        if after.is_some() {
            self.service.is_of_this_store(&request.incarnation).map_err(status)?;
        }
        let mut incarnation = self.service.incarnation();
        let watch = self.service.watch_ask(&caller, ask, after).await.map_err(status)?;
        let mut last = after;
        let messages = watch.map(move |item| match item {
            Ok(WatchMessage::Ask(ask)) => {
                last = Some(ask.revision);
                Ok(Message::Ask(convert::ask(&ask)))
            }
            Ok(WatchMessage::Event(event, after)) => {
                last = Some(event.revision);
                Ok(Message::Event(convert::event(&event, &after)))
            }
            Ok(WatchMessage::Idle { revision, stale }) => {
                Ok(Message::Idle(v1::Idle { revision, stale }))
            }
            Ok(WatchMessage::End(revision)) => Ok(Message::End(v1::End { revision })),
            Err(error) => Err(cut(error, last)),
        });
        let mut wrap = move |message| {
            // The ask comes once, and first; whoever waits after it holds nothing of this.
            let is_first = matches!(message, Message::Ask(_));
            let incarnation = if is_first { take(&mut incarnation) } else { String::new() };
            v1::WatchAskResponse { message: Some(message), incarnation }
        };
        streamed(messages.map(move |message| message.map(&mut wrap)))
    }

    type WatchInboxStream = Elsewhere<v1::WatchInboxResponse>;

    async fn watch_inbox(
        &self,
        request: Request<v1::WatchInboxRequest>,
    ) -> Reply<Self::WatchInboxStream> {
        use v1::watch_inbox_response::Message;
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let scope = fields.scope(request.scope);
        let tree = fields.optional("tree_work_id", &request.tree_work_id);
        let (scope, tree) = fields.done(scope.zip(tree))?;
        let watch = self.service.watch_inbox(&caller, scope, tree).await.map_err(status)?;
        let asks = |asks: Vec<Arc<Ask>>, away: &Away| {
            asks.iter().map(|ask| convert::read_ask(ask, away)).collect()
        };
        let messages = watch.map(move |item| match item {
            Ok(InboxMessage::Snapshot { asks: all, total, away }) => {
                let snapshot = v1::InboxSnapshot { asks: asks(all, &away), total: total as u64 };
                Ok(Message::Snapshot(snapshot))
            }
            Ok(InboxMessage::Change { came, changed, left, total, away }) => {
                Ok(Message::Change(v1::InboxChange {
                    came: asks(came, &away),
                    changed: asks(changed, &away),
                    left_ask_ids: left.iter().map(ToString::to_string).collect(),
                    total: total as u64,
                }))
            }
            Ok(InboxMessage::Idle { stale }) => Ok(Message::Idle(v1::Idle { revision: 0, stale })),
            Err(error) => Err(status(error)),
        });
        let wrap = |message| v1::WatchInboxResponse { message: Some(message) };
        streamed(messages.map(move |message| message.map(wrap)))
    }

    async fn answer(&self, request: Request<v1::AnswerRequest>) -> Reply<v1::AnswerResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let ids = fields.ids(&request.request_id, &request.ask_id);
        let digest = fields.digest(&request.content_digest);
        let answers = fields.answers("answers", request.answers);
        let ((id, ask), (digest, answers)) = fields.done(ids.zip(digest.zip(answers)))?;
        let receipt = receipt(self.service.answer(&caller, id, ask, digest, answers).await)?;
        reply(v1::AnswerResponse { receipt })
    }

    async fn answer_agent(
        &self,
        request: Request<v1::AnswerAgentRequest>,
    ) -> Reply<v1::AnswerAgentResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let ids = fields.ids(&request.request_id, &request.ask_id);
        let digest = fields.digest(&request.content_digest);
        let answers = fields.answers("answers", request.answers);
        let ((id, ask), (digest, answers)) = fields.done(ids.zip(digest.zip(answers)))?;
        let receipt = receipt(self.service.answer_agent(&caller, id, ask, digest, answers).await)?;
        reply(v1::AnswerAgentResponse { receipt })
    }

    async fn decline(&self, request: Request<v1::DeclineRequest>) -> Reply<v1::DeclineResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let ids = fields.ids(&request.request_id, &request.ask_id);
        let digest = fields.digest(&request.content_digest);
        let note = fields.note("note", request.note);
        let ((id, ask), (digest, note)) = fields.done(ids.zip(digest.zip(note)))?;
        let receipt = receipt(self.service.decline(&caller, id, ask, digest, note).await)?;
        reply(v1::DeclineResponse { receipt })
    }

    async fn escalate(&self, request: Request<v1::EscalateRequest>) -> Reply<v1::EscalateResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let ids = fields.ids(&request.request_id, &request.ask_id);
        let reason = fields.note("reason", request.reason);
        let ((id, ask), reason) = fields.done(ids.zip(reason))?;
        let hop = request.hop as usize;
        let receipt = receipt(self.service.escalate(&caller, id, ask, hop, reason).await)?;
        reply(v1::EscalateResponse { receipt })
    }

    async fn withdraw(&self, request: Request<v1::WithdrawRequest>) -> Reply<v1::WithdrawResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let ids = fields.ids(&request.request_id, &request.ask_id);
        let note = fields.note("note", request.note);
        let ((id, ask), note) = fields.done(ids.zip(note))?;
        let receipt = receipt(self.service.withdraw(&caller, id, ask, note).await)?;
        reply(v1::WithdrawResponse { receipt })
    }

    async fn say(&self, request: Request<v1::SayRequest>) -> Reply<v1::SayResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let ids = fields.ids(&request.request_id, &request.ask_id);
        let text = fields.turn(request.text);
        let ((id, ask), text) = fields.done(ids.zip(text))?;
        let receipt = receipt(self.service.say(&caller, id, ask, text).await)?;
        reply(v1::SayResponse { receipt })
    }

    async fn reply(&self, request: Request<v1::ReplyRequest>) -> Reply<v1::ReplyResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let ids = fields.ids(&request.request_id, &request.ask_id);
        let text = fields.turn(request.text);
        let replaced = fields.replaced(request.replaced);
        let ((id, ask), (text, replaced)) = fields.done(ids.zip(text.zip(replaced)))?;
        let receipt = receipt(self.service.reply(&caller, id, ask, text, replaced).await)?;
        reply(v1::ReplyResponse { receipt })
    }

    async fn mark_seen(
        &self,
        request: Request<v1::MarkSeenRequest>,
    ) -> Reply<v1::MarkSeenResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let ids = fields.ids(&request.request_id, &request.ask_id);
        let digest = fields.digest(&request.content_digest);
        let ((id, ask), digest) = fields.done(ids.zip(digest))?;
        let receipt = receipt(self.service.mark_seen(&caller, id, ask, digest).await)?;
        reply(v1::MarkSeenResponse { receipt })
    }

    async fn claim(&self, request: Request<v1::ClaimRequest>) -> Reply<v1::ClaimResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let ids = fields.ids(&request.request_id, &request.ask_id);
        let length = fields.claim_length(request.length);
        let ((id, ask), length) = fields.done(ids.zip(length))?;
        let over = request.take_over;
        let receipt = receipt(self.service.claim(&caller, id, ask, length, over).await)?;
        reply(v1::ClaimResponse { receipt })
    }

    async fn release(&self, request: Request<v1::ReleaseRequest>) -> Reply<v1::ReleaseResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let ids = fields.ids(&request.request_id, &request.ask_id);
        let (id, ask) = fields.done(ids)?;
        let receipt = receipt(self.service.release(&caller, id, ask).await)?;
        reply(v1::ReleaseResponse { receipt })
    }

    type WatchDeliveriesStream = Elsewhere<v1::WatchDeliveriesResponse>;

    async fn watch_deliveries(
        &self,
        request: Request<v1::WatchDeliveriesRequest>,
    ) -> Reply<Self::WatchDeliveriesStream> {
        use v1::watch_deliveries_response::Message;
        let (caller, _) = self.enter(request).await?;
        let watch = self.service.watch_deliveries(&caller).await.map_err(status)?;
        let messages = watch.map(|item| match item {
            Ok(DeliveryMessage::Delivery(ask, revision)) => {
                Ok(Message::Delivery(convert::delivery(&ask, revision, None)))
            }
            Ok(DeliveryMessage::Idle { stale }) => {
                Ok(Message::Idle(v1::Idle { revision: 0, stale }))
            }
            Err(error) => Err(status(error)),
        });
        let wrap = |message| v1::WatchDeliveriesResponse { message: Some(message) };
        streamed(messages.map(move |message| message.map(wrap)))
    }

    async fn acknowledge_delivery(
        &self,
        request: Request<v1::AcknowledgeDeliveryRequest>,
    ) -> Reply<v1::AcknowledgeDeliveryResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let id = fields.request_id(&request.request_id);
        let delivery = fields.delivery(&request.delivery_id);
        let lease = fields.optional("lease_token", &request.lease_token);
        let ((id, (ask, revision)), lease) = fields.done(id.zip(delivery).zip(lease))?;
        let done = self.service.acknowledge(&caller, id, ask, revision, lease).await;
        reply(v1::AcknowledgeDeliveryResponse { receipt: receipt(done)? })
    }

    async fn take_deliveries(
        &self,
        request: Request<v1::TakeDeliveriesRequest>,
    ) -> Reply<v1::TakeDeliveriesResponse> {
        let (caller, request) = self.enter(request).await?;
        let mut fields = Fields::default();
        let id = fields.request_id(&request.request_id);
        let max = fields.take_max(request.max);
        let worker = fields.worker(request.lease, request.holder);
        let extend = fields.leases(request.extend);
        let ((id, max), (worker, extend)) = fields.done(id.zip(max).zip(worker.zip(extend)))?;
        let taken = match extend.is_empty() {
            true => self.service.take_deliveries(&caller, &id, max, &worker).await,
            false => self.service.extend_leases(&caller, extend, &worker).await,
        };
        let taken = taken.map_err(status)?;
        let until = taken.asks.iter().filter_map(|(ask, _)| Some(ask.lease.as_ref()?.until)).min();
        let deliveries = taken.asks.iter().flat_map(|(ask, lease)| {
            unread(ask).map(|revision| convert::delivery(ask, revision, Some(*lease)))
        });
        reply(v1::TakeDeliveriesResponse {
            deliveries: deliveries.collect(),
            expire_time: until.map(convert::timestamp),
            refused: taken.refused.iter().map(convert::receipt).collect(),
        })
    }
}

fn receipt(receipt: Result<Receipt, Error>) -> Result<Option<v1::Receipt>, Status> {
    receipt.map(|receipt| Some(convert::receipt(&receipt))).map_err(status)
}
