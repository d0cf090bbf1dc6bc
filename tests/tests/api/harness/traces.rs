//! The search for number, token and text in everything that can be written down.

use data_encoding::{BASE64, HEXLOWER};
use serde_json::Value;
use tests::aws_seam::{EVIDENCE, NOTIFICATIONS, Request};

use super::{CALLS, Lines, NUMBER, RING, Service, TOKEN};

/// How many pieces of number, token and text are in this. How many and never which: this is printed.
///
/// Any four digits in a row of either count, and any form in which either could be carried. In words that are random
/// by design (instants of 13 digits and generators of 18, hashes, nonces and addresses in hexadecimal), it takes six.
pub fn traces(text: &str) -> usize {
    let secrets = [&NUMBER[1..], TOKEN];
    let words = || text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !is_random(word));
    let short = secrets.iter().flat_map(|secret| windows(secret, 4));
    let in_words = short.filter(|piece| words().any(|word| word.contains(piece))).count();

    let long = secrets.iter().flat_map(|secret| windows(secret, 6)).map(ToOwned::to_owned);
    let hex = secrets.iter().map(|secret| HEXLOWER.encode(secret.as_bytes()));
    let base64 = secrets.iter().flat_map(|secret| (0..3).map(|lead| in_base64(secret, lead)));
    let prose = ["Your code is", "It works for ten minutes"].map(String::from);
    in_words + long.chain(hex).chain(base64).chain(prose).filter(|piece| text.contains(piece.as_str())).count()
}

fn windows(secret: &str, length: usize) -> impl Iterator<Item = &str> {
    (0..=secret.len() - length).map(move |at| &secret[at..at + length])
}

fn is_random(word: &str) -> bool {
    let is_decimal = word.bytes().all(|byte| byte.is_ascii_digit());
    // What is printed for debugging has addresses, the compiler's names for types and the states of generators in it.
    let (shortest, digits) = word.strip_prefix("0x").map_or((32, word), |digits| (8, digits));
    let is_hexadecimal = digits.len() >= shortest && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hexadecimal || (is_decimal && (word.len() == 13 || word.len() >= 18))
}

/// The characters that a secret surely becomes, `lead` bytes after a group's start, whatever stands around it.
fn in_base64(secret: &str, lead: usize) -> String {
    let whole = BASE64.encode(format!("{}{secret}", &"xx"[..lead]).as_bytes());
    whole[(lead * 8).div_ceil(6)..(lead + secret.len()) * 8 / 6].to_owned()
}

impl Service {
    /// Everything that leaves the functions, but for the provider call itself: logs, requests, items, answers.
    pub fn written_down(&self, lines: &Lines) -> Vec<(&'static str, String)> {
        let requests = self.seam.requests();
        let sent = requests.iter().filter(|request| !CALLS.contains(&request.operation.as_str())).map(as_sent);
        let queued = requests.iter().filter(|request| request.operation == RING).map(|request| request.body.as_str());
        vec![
            ("a log line", without_times(&lines.text())),
            ("a request", sent.collect::<Vec<_>>().join("\n")),
            ("the queue", queued.collect::<Vec<_>>().join("\n")),
            ("an item", [NOTIFICATIONS, EVIDENCE].map(|table| items(self, table)).concat()),
            ("an answer", self.said()),
        ]
    }
}

/// The SDK's random name for each call could hold any four digits.
fn as_sent(request: &Request) -> String {
    let headers = request.headers.lines().filter(|line| !line.starts_with("amz-sdk-invocation-id"));
    format!("{}\n{}", headers.collect::<Vec<_>>().join("\n"), request.body)
}

/// Lines with all they say but their own time, which is the machine's and has any digits.
fn without_times(lines: &str) -> String {
    let strip = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("each line is JSON");
        assert!(line.as_object_mut().expect("an object").remove("timestamp").is_some(), "each line has its time");
        line.to_string() + "\n"
    };
    lines.lines().map(strip).collect()
}

/// Items as JSON; what is binary in them, the seal included, also as the text it would be if it were text.
fn items(service: &Service, table: &str) -> String {
    let shown = service.seam.items(table).into_iter().map(|item| {
        let bytes = item.as_object().into_iter().flatten().filter_map(|(_, value)| value["B"].as_str());
        let clear = bytes.map(|text| BASE64.decode(text.as_bytes()).expect("base64"));
        let clear: String = clear.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
        format!("{item}\n{clear}\n")
    });
    shown.collect()
}
