//! Connections that fail, before and after the request left.

use std::time::{Duration, Instant};

use sendonce::notification::UnknownBasis::{ConnectionLost, Timeout, UnreadableSuccess};
use sendonce::notification::{Outcome, Provider, ProviderCode, Reference, RefusalClass};
use sendonce::ports::Carrier;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::codes::{assert_answers, refused};
use crate::endpoint::{Endpoint, Script};
use crate::setup::{Bench, PATIENCE, accepted, carrier, carrier_that_connects_within, text};
use crate::wire::{self, BOTH, REQUEST_ID, accept, http};

/// Asserts what one text comes to under each script, with either provider.
async fn assert_each(cases: impl IntoIterator<Item = (Script, Outcome)> + Clone) {
    for provider in BOTH {
        assert_answers(provider, cases.clone()).await;
    }
}

const NEVER_CONNECTED: Outcome = refused(RefusalClass::Retryable, ProviderCode::NotConnected);

#[tokio::test]
async fn s1_accepted_and_then_silence_is_one_request_and_unknown() {
    assert_each([(Script::SayAndStay(String::new()), Outcome::Unknown(Timeout))]).await;
}

#[tokio::test]
async fn s2_after_a_timeout_no_further_call_is_made() {
    for provider in BOTH {
        let mut bench = Bench::start(provider).await;
        let begun = Instant::now();
        assert_eq!(bench.send(Script::SayAndStay(String::new())).await, Outcome::Unknown(Timeout), "{provider:?}");
        assert!(begun.elapsed() < Duration::from_secs(5), "the text's own limit: {:?}", begun.elapsed());
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        bench.assert_nothing_follows().await;
    }
}

#[tokio::test]
async fn a_good_answer_is_accepted_with_and_without_an_id() {
    let nameless = Outcome::Accepted { message_id: None, request_id: Reference::parse(REQUEST_ID) };
    for provider in BOTH {
        let cases = [
            (accept(provider), accepted()),
            (Script::Say(wire::nameless(provider)), nameless.clone()),
            // A number in the id's place is no id.
            (Script::Say(wire::named(provider, "+15550142973")), nameless.clone()),
        ];
        assert_answers(provider, cases).await;
    }
}

#[tokio::test]
async fn what_breaks_after_connecting_is_unknown() {
    let said = |text: &str| (Script::Say(text.into()), Outcome::Unknown(ConnectionLost));
    assert_each([
        (Script::Reset, Outcome::Unknown(ConnectionLost)),
        said(""),
        said("HTTP/1.1 200 O"),
        said("HTTP/1.1 200 OK\r\ncontent-le"),
        said("220 smtp.example ESMTP\r\n"),
        (Script::SayAndStay("HTTP/1.1 100 Continue\r\n\r\n".into()), Outcome::Unknown(Timeout)),
    ])
    .await;
}

#[tokio::test]
async fn a_success_that_cannot_be_read_is_unknown() {
    for provider in BOTH {
        let whole = wire::accepted(provider);
        let cut = whole[..whole.len() - 30].to_owned();
        let garbage = |body: &str| (Script::Say(http("200 OK", body)), Outcome::Unknown(UnreadableSuccess));
        let cases = [
            (Script::Say(cut.clone()), Outcome::Unknown(UnreadableSuccess)),
            (Script::SayAndStay(cut), Outcome::Unknown(Timeout)),
            garbage("neither XML nor JSON"),
            garbage("<html><body>Welcome</body></html>"),
            garbage(match provider {
                Provider::Sns => "{}",
                Provider::Eum => "{\"MessageId\":5}",
            }),
        ];
        assert_answers(provider, cases).await;
    }
}

/// An empty body is a broken one in XML; the protocol of End User Messaging reads it as an answer without members.
#[tokio::test]
async fn an_empty_success_is_as_its_protocol_reads_it() {
    let empty = || Script::Say(http("200 OK", ""));
    assert_answers(Provider::Sns, [(empty(), Outcome::Unknown(UnreadableSuccess))]).await;
    let nameless = Outcome::Accepted { message_id: None, request_id: Reference::parse(REQUEST_ID) };
    assert_answers(Provider::Eum, [(empty(), nameless)]).await;
}

#[tokio::test]
async fn s14_a_connection_taken_away_in_mid_request_is_unknown() {
    assert_each([(Script::ResetWithin, Outcome::Unknown(ConnectionLost))]).await;
    for provider in BOTH {
        let endpoint = Endpoint::start(Script::CloseAtOnce).await;
        let outcome = carrier(provider, &endpoint.url).await.send(&text()).await;
        let lost = Outcome::Unknown(ConnectionLost);
        assert_eq!(outcome, lost, "{provider:?}: it had connected; what was read of it nobody can say");
        assert_eq!((endpoint.requests(), endpoint.connections()), (0, 1));
    }
}

#[tokio::test]
async fn s6_a_connection_closed_between_two_sends_costs_neither() {
    for provider in BOTH {
        // It says nothing of closing, and then closes.
        let endpoint = Endpoint::start(Script::Say(wire::accepted(provider))).await;
        let carrier = carrier(provider, &endpoint.url).await;
        for sent in 1..=100 {
            assert_eq!(carrier.send(&text()).await, accepted(), "{provider:?}");
            assert_eq!((endpoint.requests(), endpoint.connections()), (sent, sent));
        }
    }
}

#[tokio::test]
async fn no_connection_is_used_twice() {
    for provider in BOTH {
        let endpoint = Endpoint::start(accept(provider)).await;
        let carrier = carrier(provider, &endpoint.url).await;
        for sent in 1..=10 {
            assert_eq!(carrier.send(&text()).await, accepted(), "{provider:?}");
            assert_eq!(endpoint.connections(), sent);
        }
    }
}

#[tokio::test]
async fn a_refused_connection_is_a_refusal() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for provider in BOTH {
        assert_eq!(carrier(provider, &url).await.send(&text()).await, NEVER_CONNECTED, "{provider:?}");
    }
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_a_refusal() {
    // A label of 64 characters is no name: the resolver says so without asking anybody.
    let url = format!("http://{}.invalid", "a".repeat(64));
    for provider in BOTH {
        assert_eq!(carrier(provider, &url).await.send(&text()).await, NEVER_CONNECTED, "{provider:?}");
    }
}

#[tokio::test]
async fn a_connection_that_never_comes_about_is_a_refusal() {
    // With its queue full, the kernel leaves further connections unanswered.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(Ok(stream)) = tokio::time::timeout(Duration::from_millis(100), TcpStream::connect(address)).await {
        waiting.push(stream);
        assert!(waiting.len() < 64, "the queue never fills");
    }
    for provider in BOTH {
        let carrier = carrier_that_connects_within(PATIENCE, provider, &format!("http://{address}")).await;
        let begun = Instant::now();
        assert_eq!(carrier.send(&text()).await, NEVER_CONNECTED, "{provider:?}");
        assert!(begun.elapsed() < Duration::from_secs(5), "the connect limit strikes first: {:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn a_handshake_that_fails_is_a_refusal() {
    // Neither speaks TLS: one hangs up, one keeps quiet. No request was ever in clear sight of them.
    for provider in BOTH {
        for script in [Script::Say("HTTP/1.1 400 Bad Request\r\n\r\n".into()), Script::CloseAtOnce] {
            let endpoint = Endpoint::start(script.clone()).await;
            let url = endpoint.url.replace("http:", "https:");
            let outcome = carrier(provider, &url).await.send(&text()).await;
            assert_eq!(outcome, NEVER_CONNECTED, "{provider:?} {script:?}");
        }
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", silent.local_addr().unwrap());
        let carrier = carrier_that_connects_within(PATIENCE, provider, &url).await;
        assert_eq!(carrier.send(&text()).await, NEVER_CONNECTED, "{provider:?}");
    }
}
