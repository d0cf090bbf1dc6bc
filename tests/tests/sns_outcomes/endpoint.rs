//! A socket that answers, or does not, as it is told.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub const MESSAGE_ID: &str = "8d3b4d5e-0000-1111-2222-333344445555";
pub const REQUEST_ID: &str = "8d3b4d5e-0000-1111-2222-666677778888";

/// What is done with each connection.
#[derive(Clone, Debug)]
pub enum Script {
    /// A whole, good answer. The connection stays open for more.
    Accept,
    /// A good answer that says nothing of closing, and then closes.
    AcceptAndClose,
    /// These bytes once the request was read, then closes.
    Say(String),
    /// These bytes once the request was read, then nothing.
    SayAndStay(String),
    /// Reads the request, then resets the connection.
    Reset,
    /// Resets the connection with the request half read.
    ResetWithin,
    /// Closes the connection before anything was read.
    CloseAtOnce,
}

pub struct Endpoint {
    pub url: String,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

struct Seen {
    script: Mutex<Script>,
    begun: AtomicUsize,
    connections: AtomicUsize,
}

impl Endpoint {
    pub async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (begun, connections) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let seen = Arc::new(Seen { script: Mutex::new(script), begun, connections });
        let here = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                here.connections.fetch_add(1, Ordering::SeqCst);
                let script = here.script.lock().unwrap().clone();
                tokio::spawn(serve(stream, script, Arc::clone(&here)));
            }
        });
        Self { url, seen, task }
    }

    /// What is done with connections from now on.
    pub fn play(&self, script: Script) {
        *self.seen.script.lock().unwrap() = script;
    }

    /// Requests of which at least a byte arrived.
    pub fn requests(&self) -> usize {
        self.seen.begun.load(Ordering::SeqCst)
    }

    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, script: Script, seen: Arc<Seen>) {
    if matches!(script, Script::CloseAtOnce) {
        return;
    }
    while stream.readable().await.is_ok() {
        let mut first = [0];
        if !matches!(stream.read(&mut first).await, Ok(1)) {
            return;
        }
        seen.begun.fetch_add(1, Ordering::SeqCst);
        if matches!(script, Script::ResetWithin) {
            let _ = stream.set_zero_linger();
            return;
        }
        if rest_of_request(&mut stream, first[0]).await.is_none() || answer(&mut stream, &script).await.is_none() {
            return;
        }
    }
}

/// Reads up to the end of the body; `None` when the other side left before.
async fn rest_of_request(stream: &mut TcpStream, first: u8) -> Option<()> {
    let mut text = vec![first];
    loop {
        let head_and_body = String::from_utf8_lossy(&text);
        if let Some((head, body)) = head_and_body.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some(());
            }
        }
        let mut more = [0; 4_096];
        let read = stream.read(&mut more).await.ok().filter(|read| *read > 0)?;
        text.extend(&more[..read]);
    }
}

/// Plays the script for one request; `None` when the connection is over.
async fn answer(stream: &mut TcpStream, script: &Script) -> Option<()> {
    match script {
        Script::Accept => {
            stream.write_all(accepted().as_bytes()).await.ok()?;
            return Some(());
        }
        Script::AcceptAndClose => stream.write_all(accepted().as_bytes()).await.ok()?,
        Script::Say(text) => stream.write_all(text.as_bytes()).await.ok()?,
        Script::SayAndStay(text) => {
            stream.write_all(text.as_bytes()).await.ok()?;
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        Script::Reset => stream.set_zero_linger().ok()?,
        Script::ResetWithin | Script::CloseAtOnce => {}
    }
    None
}

/// An answer with this status line and body.
pub fn http(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nx-amzn-requestid: {REQUEST_ID}\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// What SNS says when it takes a text.
pub fn accepted() -> String {
    http("200 OK", &publish_response(&format!("<MessageId>{MESSAGE_ID}</MessageId>")))
}

pub fn publish_response(result: &str) -> String {
    format!(
        "<PublishResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><PublishResult>{result}</PublishResult>\
         <ResponseMetadata><RequestId>{REQUEST_ID}</RequestId></ResponseMetadata></PublishResponse>"
    )
}

/// What SNS says when it does not: like the real one, the message quotes the number.
pub fn error(status: u16, code: &str) -> String {
    let body = format!(
        "<ErrorResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><Error><Type>Sender</Type><Code>{code}\
         </Code><Message>Invalid parameter: PhoneNumber Reason: +15550142973 is not valid</Message></Error><RequestId>\
         {REQUEST_ID}</RequestId></ErrorResponse>"
    );
    http(&format!("{status} Answer"), &body)
}
