//! An HTTP endpoint in front of MiniStack's that behaves as a script says: what a network and a provider can do to a request.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{Context, Result};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// What is to become of a request.
#[derive(Debug)]
pub enum Verdict {
    /// Passed on, and answered as MiniStack answers.
    Forward,
    /// Passed on, so that it takes effect, and never answered.
    ForwardThenHang,
    /// Passed on, so that it takes effect, and then the connection is reset.
    ForwardThenReset,
    /// Passed on, so that it takes effect, and answered with this status, content type and body.
    ForwardThenAnswer(u16, &'static str, String),
    /// Passed on first or not at all; then somebody hears, and the caller nothing.
    Hold {
        /// Whether it takes effect.
        forwarded: bool,
        /// Hears when it has.
        reached: oneshot::Sender<()>,
    },
    /// Not passed on, and never answered.
    Hang,
    /// Not passed on; the connection is reset.
    Reset,
    /// Not passed on; the connection ends without an answer.
    Close,
    /// Not passed on, and answered with this status, content type and body.
    Answer(u16, &'static str, String),
}

/// Decides about requests. Called once for each request that was received in full.
pub trait Script: std::fmt::Debug + Send + Sync + 'static {
    /// Judges a request by its headers and body.
    fn judge(&self, headers: &HeaderMap, body: &[u8]) -> Verdict;

    /// Judges a request by its method and path too. AWS's JSON and form protocols say everything in headers and body.
    fn judge_request(&self, request: &http::request::Parts, body: &[u8]) -> Verdict {
        self.judge(&request.headers, body)
    }
}

/// A running endpoint; it ends when this is dropped. It has a thread to itself, so that it does not depend on its user's runtime.
#[derive(Debug)]
pub struct Endpoint {
    /// `http://127.0.0.1:…`
    pub url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    upstream: String,
    script: Arc<dyn Script>,
    http: reqwest::Client,
}

#[derive(Debug)]
enum Cut {
    Close,
    Reset,
}

impl std::fmt::Display for Cut {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("cut, as the script says")
    }
}

impl std::error::Error for Cut {}

impl Endpoint {
    /// Listens on a free port of 127.0.0.1 and passes on to `upstream`.
    pub fn start(upstream: &str, script: Arc<dyn Script>) -> Result<Self> {
        let listener =
            std::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).context("cannot listen on 127.0.0.1")?;
        listener.set_nonblocking(true)?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(Shared { upstream: upstream.to_owned(), script, http: crate::aws::client()? });
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! { () = accept(listener, shared) => {}, _ = stopped => {} }
            });
        });
        Ok(Self { url, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has panicked, or it has ended; either way it is over.
            let _ = thread.join();
        }
    }
}

async fn accept(listener: std::net::TcpListener, shared: Arc<Shared>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok((stream, _)) = listener.accept() => { connections.spawn(serve(stream, Arc::clone(&shared))); }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| handle(request, Arc::clone(&shared)));
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let Err(error) = Pin::new(&mut connection).await else { return };
    let cut = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<Cut>());
    if matches!(cut, Some(Cut::Reset)) {
        // Closing with no time to linger sends RST instead of FIN.
        let _ = connection.into_parts().io.into_inner().set_zero_linger();
    }
}

async fn handle(request: http::Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Full<Bytes>>, Cut> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Cut::Close)?.to_bytes();
    match shared.script.judge_request(&parts, &body) {
        Verdict::Forward => forward(&shared, parts, body).await,
        Verdict::ForwardThenHang => {
            forward(&shared, parts, body).await?;
            std::future::pending().await
        }
        Verdict::ForwardThenReset => {
            forward(&shared, parts, body).await?;
            Err(Cut::Reset)
        }
        Verdict::ForwardThenAnswer(status, content_type, text) => {
            forward(&shared, parts, body).await?;
            answer(status, content_type, text)
        }
        Verdict::Hold { forwarded, reached } => {
            if forwarded {
                // What came back, if anything did, is not for the caller.
                let _ = forward(&shared, parts, body).await;
            }
            // Nobody may be listening any more.
            let _ = reached.send(());
            std::future::pending().await
        }
        Verdict::Hang => std::future::pending().await,
        Verdict::Reset => Err(Cut::Reset),
        Verdict::Close => Err(Cut::Close),
        Verdict::Answer(status, content_type, text) => answer(status, content_type, text),
    }
}

fn answer(status: u16, content_type: &str, text: String) -> Result<Response<Full<Bytes>>, Cut> {
    let response = Response::builder().status(status).header(http::header::CONTENT_TYPE, content_type);
    response.body(Full::from(text)).map_err(|_| Cut::Close)
}

async fn forward(shared: &Shared, parts: http::request::Parts, body: Bytes) -> Result<Response<Full<Bytes>>, Cut> {
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut headers = parts.headers;
    end_to_end(&mut headers);
    // `Host` stays as it was: it is part of what the caller signed.
    let request = shared.http.request(parts.method, format!("{}{path}", shared.upstream)).headers(headers).body(body);
    let answer = request.send().await.map_err(|_| Cut::Close)?;
    let mut response = Response::builder().status(answer.status());
    if let Some(headers) = response.headers_mut() {
        headers.clone_from(answer.headers());
        end_to_end(headers);
    }
    let body = answer.bytes().await.map_err(|_| Cut::Close)?;
    response.body(Full::new(body)).map_err(|_| Cut::Close)
}

/// Removes what belongs to one connection only.
fn end_to_end(headers: &mut HeaderMap) {
    for name in ["connection", "content-length", "keep-alive", "transfer-encoding"] {
        headers.remove(HeaderName::from_static(name));
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::time::Duration;

    use super::*;

    /// Does what the request's body says, and answers with the host that it was sent to.
    #[derive(Debug)]
    struct Obey;

    impl Script for Obey {
        fn judge(&self, headers: &HeaderMap, body: &[u8]) -> Verdict {
            match body {
                b"hang" => Verdict::ForwardThenHang,
                b"reset" => Verdict::ForwardThenReset,
                b"close" => Verdict::Close,
                b"hang at once" => Verdict::Hang,
                b"reset at once" => Verdict::Reset,
                b"forward" => Verdict::Forward,
                b"other" => Verdict::ForwardThenAnswer(418, "text/plain", "signed.example".to_owned()),
                b"hold" => Verdict::Hold { forwarded: true, reached: oneshot::channel().0 },
                _ => Answer.judge(headers, body),
            }
        }
    }

    #[derive(Debug)]
    struct Answer;

    impl Script for Answer {
        fn judge(&self, headers: &HeaderMap, _: &[u8]) -> Verdict {
            let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
            Verdict::Answer(418, "text/plain", host.to_owned())
        }
    }

    fn ask(endpoint: &Endpoint, body: &str) -> std::io::Result<String> {
        let mut stream = std::net::TcpStream::connect(endpoint.url.trim_start_matches("http://"))?;
        stream.set_read_timeout(Some(Duration::from_millis(500)))?;
        let head = "POST / HTTP/1.1\r\nhost: signed.example\r\nconnection: close";
        write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    }

    #[test]
    fn a_verdict_becomes_an_answer_or_none() {
        let upstream = Endpoint::start("http://127.0.0.1:1", Arc::new(Answer)).expect("starts");
        let endpoint = Endpoint::start(&upstream.url, Arc::new(Obey)).expect("starts");
        for body in ["forward", "other", "answer"] {
            let answered = ask(&endpoint, body).expect("an answer");
            // Also what is passed on keeps the host that it was signed for.
            assert!(answered.starts_with("HTTP/1.1 418") && answered.ends_with("signed.example"), "{answered}");
        }
        assert_eq!(ask(&endpoint, "close").expect("the end"), "");
        for body in ["reset", "reset at once"] {
            assert_eq!(ask(&endpoint, body).expect_err("a reset").kind(), std::io::ErrorKind::ConnectionReset);
        }
        for body in ["hang", "hang at once", "hold"] {
            assert_eq!(ask(&endpoint, body).expect_err("silence").kind(), std::io::ErrorKind::WouldBlock);
        }
    }

    #[test]
    fn an_upstream_that_is_not_there_is_a_closed_connection() {
        let endpoint = Endpoint::start("http://127.0.0.1:1", Arc::new(Obey)).expect("starts");
        assert_eq!(ask(&endpoint, "forward").expect("the end"), "");
    }
}
