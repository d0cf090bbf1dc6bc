//! `serve`: the stack stays up, and one watches texts arrive and states change.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;

use crate::api::{Api, member};
use crate::aws::{ACCESS_KEY, REGION, SECRET_KEY};
use crate::provider::{Call, Provider};
use crate::say::Timeline;
use crate::stack::Stack;

const POLL: Duration = Duration::from_secs(1);
const OPEN: [&str; 5] = ["", "accepted", "sending", "dispatch_unknown", "sent"];

/// Shows what happens, until it is dropped.
pub async fn serve(stack: &Stack, timeline: &Timeline) -> Result<()> {
    let api = stack.api()?;
    let variables = stack.write_env_file().await?;
    timeline.plain(&format!(
        "\n`cargo lambda watch --env-file {}` runs the same functions, rebuilt at each change.",
        variables.display()
    ));
    timeline.plain(&invitation(stack, &api));
    let (mut calls, mut rung) = (stack.carrier.listen(), stack.doorbells.listen());
    let mut states = BTreeMap::new();
    let mut tick = tokio::time::interval(POLL);
    loop {
        tokio::select! {
            Ok(call) = calls.recv() => timeline.event(&handset(&call)),
            Ok(doorbell) = rung.recv() => { states.entry(id_in(&doorbell)).or_insert_with(String::new); }
            _ = tick.tick() => show_changes(&api, timeline, &mut states).await?,
        }
    }
}

async fn show_changes(api: &Api, timeline: &Timeline, states: &mut BTreeMap<String, String>) -> Result<()> {
    for (id, last) in states.iter_mut() {
        let answer = api.status(id, None).await?;
        let (status, reason) = (member(&answer, "status"), member(&answer, "reason"));
        if answer.status == 200 && status != *last {
            timeline.event(&format!("{id} is {status} {reason}"));
            *last = status;
        }
    }
    // What has come to rest needs no more questions.
    states.retain(|_, state| OPEN.contains(&state.as_str()));
    Ok(())
}

/// A doorbell names a notification, whatever else its form is.
fn id_in(doorbell: &str) -> String {
    let start = doorbell.find("ntf_").unwrap_or(doorbell.len());
    let name = doorbell.get(start..).unwrap_or_default();
    name.chars().take_while(|character| character.is_ascii_alphanumeric() || *character == '_').collect()
}

/// What the person with the phone sees, or why nothing.
fn handset(call: &Call) -> String {
    let Call { number, message, .. } = call;
    let answer = match call.behaviour {
        Provider::Ok => "",
        Provider::Hang => "   (taken, and never answered)",
        Provider::Reset => "   (taken, and the connection reset)",
        Provider::Error => "answered 500",
        Provider::Reject => "refused",
        Provider::Throttle if call.taken => "",
        Provider::Throttle => "told to slow down",
    };
    if call.taken { format!("☎ {number}: {message}{answer}") } else { format!("☎ {number}: no text; {answer}") }
}

fn invitation(stack: &Stack, api: &Api) -> String {
    let (endpoint, host) = (&stack.endpoint, api.host());
    // By GNU's or by BSD's date. In a variable, so that repeating the request repeats its body.
    let expiry = "expires=$(date -u -d +5min +%FT%TZ 2>/dev/null || date -u -v+5M +%FT%TZ)";
    let sign = format!(
        "curl -si --aws-sigv4 aws:amz:{REGION}:execute-api --user {ACCESS_KEY}:{SECRET_KEY} \\\n    -H 'Host: {host}'"
    );
    format!(
        "\nThe stack is up; Ctrl-C ends it. Post a notification, and then the last command again:\n\n  {expiry}\n  \
         {sign} -H 'Content-Type: application/json' -H 'Idempotency-Key: demo-1' \\\n    \
         -d '{{\"event\":{{\"type\":\"password_reset\",\"id\":\"demo-1\"}},\"to\":\"+12025550123\",\"message\":\"Your code is 482913.\",\
         \"expires_at\":\"'\"$expires\"'\"}}' \\\n    {endpoint}/v1/notifications\n\n\
         Ask what became of it, with the id from the answer:\n\n  {sign} {endpoint}/v1/notifications/ntf_...\n\n\
         For any other AWS tool:\n\n  \
         export AWS_ENDPOINT_URL={endpoint} AWS_REGION={REGION} AWS_ACCESS_KEY_ID={ACCESS_KEY} \\\n    \
         AWS_SECRET_ACCESS_KEY={SECRET_KEY}\n\n\
         The credentials are made up and open nothing but this stack. Texts and states, as they come:"
    )
}
