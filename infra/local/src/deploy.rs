//! What `sam deploy` does: code to S3, the packaged template to CloudFormation, then wait and tell how it went.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::Method;
use roxmltree::{Document, Node};
use serde_json::{Value, json};

use crate::aws::{Aws, REGION, Request};
use crate::functions::Package;
use crate::package::package;

const BUCKET: &str = "sendonce-code";
const TEMPLATE: &str = "template.yaml";
const VERSION: &str = "2010-05-15";
const POLL: Duration = Duration::from_millis(200);
const PATIENCE: Duration = Duration::from_secs(60);

/// A deployed stack.
#[derive(Debug)]
pub(crate) struct Deployed {
    /// The template's outputs.
    pub(crate) outputs: BTreeMap<String, String>,
    /// How many resources it has.
    pub(crate) resources: usize,
}

/// Uploads the functions and creates the stack `name` from `template`.
pub(crate) async fn deploy(
    aws: &Aws,
    name: &str,
    template: &str,
    functions: &[Package],
    parameters: &BTreeMap<&str, &str>,
) -> Result<Deployed> {
    put(aws, &format!("/{BUCKET}"), Bytes::new()).await?;
    for function in functions {
        put(aws, &format!("/{BUCKET}/{}.zip", function.name), function.zip.clone().into()).await?;
    }
    let packaged = package(template, |function| match functions.iter().any(|package| package.name == function) {
        true => Ok(format!("s3://{BUCKET}/{function}.zip")),
        false => bail!("the template names the code of a function that is not built here: {function}"),
    })?;
    // A template in the request itself may hold 51,200 bytes; one in S3 may be twenty times as long.
    put(aws, &format!("/{BUCKET}/{TEMPLATE}"), packaged.into()).await?;
    create(aws, name, parameters).await?;
    let deployed = wait(aws, name).await?;
    restate_concurrency(aws).await?;
    Ok(deployed)
}

async fn put(aws: &Aws, path: &str, body: Bytes) -> Result<()> {
    let answer = aws.send(Request { service: "s3", method: Method::PUT, path, headers: Vec::new(), body }).await?;
    match answer.status {
        200 => Ok(()),
        status => bail!("uploading {path} was answered {status}: {}", answer.text().trim()),
    }
}

async fn create(aws: &Aws, name: &str, parameters: &BTreeMap<&str, &str>) -> Result<()> {
    let template = format!("https://s3.{REGION}.amazonaws.com/{BUCKET}/{TEMPLATE}");
    let mut members = vec![("StackName".to_owned(), name.to_owned()), ("TemplateURL".to_owned(), template)];
    for (index, capability) in ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"].iter().enumerate() {
        members.push((format!("Capabilities.member.{}", index + 1), (*capability).to_owned()));
    }
    for (index, (key, value)) in parameters.iter().enumerate() {
        members.push((format!("Parameters.member.{}.ParameterKey", index + 1), (*key).to_owned()));
        members.push((format!("Parameters.member.{}.ParameterValue", index + 1), (*value).to_owned()));
    }
    aws.query("cloudformation", VERSION, "CreateStack", &members).await.map(drop)
}

async fn wait(aws: &Aws, name: &str) -> Result<Deployed> {
    let waited = tokio::time::timeout(PATIENCE, async {
        loop {
            let answer = describe(aws, name, "DescribeStacks").await?;
            let document = Document::parse(&answer)?;
            match text(document.root(), "StackStatus").context("MiniStack tells no stack status")? {
                "CREATE_COMPLETE" => return Ok(outputs(&document)),
                status if status.ends_with("_IN_PROGRESS") && status != "ROLLBACK_IN_PROGRESS" => {}
                status => bail!("the stack ended as {status}:\n{}", failures(aws, name).await?),
            }
            tokio::time::sleep(POLL).await;
        }
    });
    let outputs = waited.await.context("the stack is still not there after a minute")??;
    let events = describe(aws, name, "DescribeStackResources").await?;
    let resources = nodes(Document::parse(&events)?.root(), "LogicalResourceId").count();
    Ok(Deployed { outputs, resources })
}

async fn describe(aws: &Aws, name: &str, action: &str) -> Result<String> {
    aws.query("cloudformation", VERSION, action, &[("StackName".to_owned(), name.to_owned())]).await
}

/// MiniStack keeps a `Number` parameter as text and its queue poller stumbles over that; AWS makes it a number, as here.
async fn restate_concurrency(aws: &Aws) -> Result<()> {
    const MAPPINGS: &str = "/2015-03-31/event-source-mappings";
    let listed: Value = serde_json::from_slice(&aws.send(lambda(Method::GET, MAPPINGS, Bytes::new())).await?.body)?;
    for mapping in listed.get("EventSourceMappings").and_then(Value::as_array).into_iter().flatten() {
        let id = mapping.get("UUID").and_then(Value::as_str).context("an event source mapping has no id")?;
        let Some(Value::String(limit)) = mapping.pointer("/ScalingConfig/MaximumConcurrency") else { continue };
        let change = json!({ "ScalingConfig": { "MaximumConcurrency": limit.parse::<u32>()? } }).to_string();
        let path = format!("{MAPPINGS}/{id}");
        let answer = aws.send(lambda(Method::PUT, &path, change.into())).await?;
        if answer.status >= 300 {
            bail!("UpdateEventSourceMapping was answered {}: {}", answer.status, answer.text());
        }
    }
    Ok(())
}

fn lambda(method: Method, path: &str, body: Bytes) -> Request<'_> {
    Request { service: "lambda", method, path, headers: Vec::new(), body }
}

/// What CloudFormation says about the resources that failed, oldest first.
async fn failures(aws: &Aws, name: &str) -> Result<String> {
    let answer = describe(aws, name, "DescribeStackEvents").await?;
    let document = Document::parse(&answer)?;
    let mut lines: Vec<String> = nodes(document.root(), "ResourceStatus")
        .filter(|status| status.text().is_some_and(|status| status.ends_with("_FAILED")))
        .filter_map(|status| status.parent())
        .map(|event| {
            let part = |name| text(event, name).unwrap_or("?");
            format!("  {} ({}): {}", part("LogicalResourceId"), part("ResourceType"), part("ResourceStatusReason"))
        })
        .collect();
    lines.reverse();
    Ok(lines.join("\n"))
}

fn outputs(document: &Document<'_>) -> BTreeMap<String, String> {
    let pairs = nodes(document.root(), "OutputKey").filter_map(|key| {
        let value = text(key.parent()?, "OutputValue")?;
        Some((key.text()?.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

fn nodes<'a, 'd>(node: Node<'a, 'd>, name: &'a str) -> impl Iterator<Item = Node<'a, 'd>> {
    node.descendants().filter(move |found| found.tag_name().name() == name)
}

fn text<'a>(node: Node<'a, '_>, name: &'a str) -> Option<&'a str> {
    nodes(node, name).next()?.text()
}
