//! Connections that fail, before and after the request left.

use std::time::{Duration, Instant};

use sendonce::notification::UnknownBasis::{ConnectionLost, Timeout, UnreadableSuccess};
use sendonce::notification::{Outcome, ProviderCode, Reference, Refusal, RefusalClass};
use sendonce::ports::Carrier;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::endpoint::{self, Endpoint, REQUEST_ID, Script};
use crate::setup::{Bench, PATIENCE, accepted, carrier, carrier_that_connects_within, text};

/// Asserts what one text comes to under each script.
async fn assert_each(cases: impl IntoIterator<Item = (Script, Outcome)>) {
    let mut bench = Bench::start().await;
    for (script, expected) in cases {
        assert_eq!(bench.send(script.clone()).await, expected, "{script:?}");
    }
    bench.assert_nothing_follows().await;
}

fn never_connected() -> Outcome {
    Outcome::Refused(Refusal { class: RefusalClass::Retryable, code: ProviderCode::NotConnected })
}

#[tokio::test]
async fn s1_accepted_and_then_silence_is_one_request_and_unknown() {
    assert_each([(Script::SayAndStay(String::new()), Outcome::Unknown(Timeout))]).await;
}

#[tokio::test]
async fn s2_after_a_timeout_no_further_call_is_made() {
    let mut bench = Bench::start().await;
    let begun = Instant::now();
    assert_eq!(bench.send(Script::SayAndStay(String::new())).await, Outcome::Unknown(Timeout));
    assert!(begun.elapsed() < Duration::from_secs(5), "the text's own limit: {:?}", begun.elapsed());
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    bench.assert_nothing_follows().await;
}

#[tokio::test]
async fn a_good_answer_is_accepted_with_and_without_an_id() {
    let id_less = Outcome::Accepted { message_id: None, request_id: Reference::parse(REQUEST_ID) };
    let without = endpoint::http("200 OK", &endpoint::publish_response(""));
    // A number in the id's place is no id.
    let odd = endpoint::publish_response("<MessageId>+15550142973</MessageId>");
    let odd = endpoint::http("200 OK", &odd);
    assert_each([(Script::Accept, accepted()), (Script::Say(without), id_less.clone()), (Script::Say(odd), id_less)])
        .await;
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
    let whole = endpoint::accepted();
    let cut = whole[..whole.len() - 60].to_owned();
    let garbage = |body: &str| (Script::Say(endpoint::http("200 OK", body)), Outcome::Unknown(UnreadableSuccess));
    assert_each([
        (Script::Say(cut.clone()), Outcome::Unknown(UnreadableSuccess)),
        (Script::SayAndStay(cut), Outcome::Unknown(Timeout)),
        garbage("not XML"),
        garbage("<html><body>Welcome</body></html>"),
        garbage("{}"),
        garbage(""),
    ])
    .await;
}

#[tokio::test]
async fn s14_a_connection_taken_away_in_mid_request_is_unknown() {
    assert_each([(Script::ResetWithin, Outcome::Unknown(ConnectionLost))]).await;
    let endpoint = Endpoint::start(Script::CloseAtOnce).await;
    let outcome = carrier(&endpoint.url).await.send(&text()).await;
    assert_eq!(outcome, Outcome::Unknown(ConnectionLost), "it had connected; what was read of it nobody can say");
    assert_eq!((endpoint.requests(), endpoint.connections()), (0, 1));
}

#[tokio::test]
async fn s6_a_connection_closed_between_two_sends_costs_neither() {
    let endpoint = Endpoint::start(Script::AcceptAndClose).await;
    let carrier = carrier(&endpoint.url).await;
    for sent in 1..=100 {
        assert_eq!(carrier.send(&text()).await, accepted());
        assert_eq!((endpoint.requests(), endpoint.connections()), (sent, sent));
    }
}

#[tokio::test]
async fn no_connection_is_used_twice() {
    let endpoint = Endpoint::start(Script::Accept).await;
    let carrier = carrier(&endpoint.url).await;
    for sent in 1..=10 {
        assert_eq!(carrier.send(&text()).await, accepted());
        assert_eq!(endpoint.connections(), sent);
    }
}

#[tokio::test]
async fn a_refused_connection_is_a_refusal() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    assert_eq!(carrier(&url).await.send(&text()).await, never_connected());
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_a_refusal() {
    // A label of 64 characters is no name: the resolver says so without asking anybody.
    let url = format!("http://{}.invalid", "a".repeat(64));
    assert_eq!(carrier(&url).await.send(&text()).await, never_connected());
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
    let carrier = carrier_that_connects_within(PATIENCE, &format!("http://{address}")).await;
    let begun = Instant::now();
    assert_eq!(carrier.send(&text()).await, never_connected());
    assert!(begun.elapsed() < Duration::from_secs(5), "the connect limit strikes first: {:?}", begun.elapsed());
}

#[tokio::test]
async fn a_handshake_that_fails_is_a_refusal() {
    // Neither speaks TLS: one hangs up, one keeps quiet. No request was ever in clear sight of them.
    for script in [Script::Say("HTTP/1.1 400 Bad Request\r\n\r\n".into()), Script::CloseAtOnce] {
        let endpoint = Endpoint::start(script.clone()).await;
        let url = endpoint.url.replace("http:", "https:");
        assert_eq!(carrier(&url).await.send(&text()).await, never_connected(), "{script:?}");
    }
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", silent.local_addr().unwrap());
    assert_eq!(carrier_that_connects_within(PATIENCE, &url).await.send(&text()).await, never_connected());
}
