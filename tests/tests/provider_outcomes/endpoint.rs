//! A socket that answers, or does not, as it is told.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What is done with each connection.
#[derive(Clone, Debug)]
pub enum Script {
    /// These bytes once the request was read. The connection stays open for more.
    SayOn(String),
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

impl Script {
    /// Without the number that errors quote.
    pub fn shown(&self) -> String {
        format!("{self:?}").replace("15550142973", "…")
    }
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
        Script::SayOn(text) => {
            stream.write_all(text.as_bytes()).await.ok()?;
            return Some(());
        }
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
