//! The template as a JSON document in CloudFormation's long form, and as much of CloudFormation as it takes to know a
//! value: parameters, mappings and conditions.

use std::collections::BTreeMap;

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Value, json};

pub type Parameters = BTreeMap<String, String>;

#[derive(Clone)]
pub struct Template(pub Value);

impl Template {
    pub fn load() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../infra/template.yaml");
        let text = std::fs::read_to_string(path).expect("the template can be read");
        let documents = Yaml::load_from_str(&text).expect("the template is YAML");
        Self(plain(documents.first().expect("the template is one document")))
    }

    /// A copy with one thing wrong, for the proof that a check can fail.
    pub fn with(&self, change: impl FnOnce(&mut Value)) -> Self {
        let mut copy = self.clone();
        change(&mut copy.0);
        assert!(copy.0 != self.0, "the change must change something");
        copy
    }

    pub fn properties(&self, id: &str) -> &Value {
        &self.0["Resources"][id]["Properties"]
    }

    /// Identifiers of all resources of a type, in the order of their names.
    pub fn of_type(&self, kind: &str) -> Vec<&str> {
        let resources = self.0["Resources"].as_object().expect("resources");
        resources.iter().filter(|(_, resource)| resource["Type"] == kind).map(|(id, _)| id.as_str()).collect()
    }

    pub fn functions(&self) -> Vec<&str> {
        self.of_type("AWS::Serverless::Function")
    }

    /// A property of a function, its own or the one all functions share.
    pub fn function_property(&self, function: &str, name: &str) -> &Value {
        let own = &self.properties(function)[name];
        if own.is_null() { &self.0["Globals"]["Function"][name] } else { own }
    }

    pub fn defaults(&self) -> Parameters {
        let parameters = self.0["Parameters"].as_object().expect("parameters");
        parameters.iter().map(|(name, parameter)| (name.clone(), text(&parameter["Default"]))).collect()
    }

    pub fn defaults_but(&self, changes: &[(&str, &str)]) -> Parameters {
        let mut parameters = self.defaults();
        for (name, value) in changes {
            assert!(parameters.insert((*name).into(), (*value).into()).is_some(), "{name} is a parameter");
        }
        parameters
    }

    /// The value with parameters, mappings and conditions worked out. What names a resource is left as it stands.
    pub fn resolve(&self, value: &Value, parameters: &Parameters) -> Value {
        match value {
            Value::Array(items) => {
                items.iter().map(|item| self.resolve(item, parameters)).filter(|item| !item.is_null()).collect()
            }
            Value::Object(members) => match members.iter().next() {
                Some((name, argument)) if members.len() == 1 => self.apply(name, argument, parameters),
                _ => self.resolve_members(members, parameters),
            },
            plain => plain.clone(),
        }
    }

    fn resolve_members(&self, members: &Map<String, Value>, parameters: &Parameters) -> Value {
        let resolved = members.iter().map(|(name, value)| (name.clone(), self.resolve(value, parameters)));
        Value::Object(resolved.filter(|(_, value)| !value.is_null()).collect())
    }

    fn apply(&self, function: &str, argument: &Value, parameters: &Parameters) -> Value {
        let resolve = |value: &Value| self.resolve(value, parameters);
        match function {
            "Ref" => match argument.as_str() {
                Some("AWS::NoValue") => Value::Null,
                Some(name) => parameters.get(name).map_or_else(|| json!({"Ref": name}), |value| json!(value)),
                None => panic!("Ref of {argument}"),
            },
            "Fn::FindInMap" => {
                let keys = resolve(argument);
                let found = &self.0["Mappings"][text(&keys[0])][text(&keys[1])][text(&keys[2])];
                assert!(!found.is_null(), "no such entry of a mapping: {keys}");
                found.clone()
            }
            "Fn::If" => {
                let branch = if self.condition(&text(&argument[0]), parameters) { 1 } else { 2 };
                resolve(&argument[branch])
            }
            "Fn::Split" => text(&resolve(&argument[1])).split(&text(&argument[0])).map(|part| json!(part)).collect(),
            "Fn::Equals" => json!(text(&resolve(&argument[0])) == text(&resolve(&argument[1]))),
            "Fn::Not" => json!(resolve(&argument[0]) == json!(false)),
            "Fn::Sub" => {
                let mut line = text(argument);
                for (name, value) in parameters {
                    line = line.replace(&format!("${{{name}}}"), value);
                }
                json!(line)
            }
            "Fn::GetAtt" => json!({"Fn::GetAtt": argument}),
            name => self.resolve_members(&Map::from_iter([(name.into(), argument.clone())]), parameters),
        }
    }

    fn condition(&self, name: &str, parameters: &Parameters) -> bool {
        let condition = &self.0["Conditions"][name];
        assert!(!condition.is_null(), "no condition {name}");
        self.resolve(condition, parameters) == json!(true)
    }
}

/// The variables of a function, as the template writes them.
pub fn environment<'a>(template: &'a Template, function: &str) -> &'a Value {
    &template.properties(function)["Environment"]["Variables"]
}

/// A scalar as CloudFormation passes it on: as text.
pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub fn number(value: &Value) -> u64 {
    text(value).parse().unwrap_or_else(|_| panic!("not a whole number: {value}"))
}

/// IAM and CloudFormation take one where a list of one is meant.
pub fn list(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Null => Vec::new(),
        one => vec![one],
    }
}

/// What a reference points at: `NotificationsTable`, `NotificationsTable/index/due`, or the text itself.
pub fn target(value: &Value) -> String {
    if let Some(id) = value["Ref"].as_str() {
        return id.into();
    }
    if let Some(path) = value["Fn::GetAtt"].as_array() {
        return text(&path[0]);
    }
    let line = value["Fn::Sub"].as_str().map_or_else(|| text(value), str::to_owned);
    line.strip_prefix("${")
        .and_then(|rest| rest.split_once(".Arn}"))
        .map_or(line.clone(), |(id, rest)| format!("{id}{rest}"))
}

fn plain(node: &Yaml<'_>) -> Value {
    match node {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(value)) => json!(value),
        Yaml::Value(Scalar::Integer(value)) => json!(value),
        Yaml::Value(Scalar::FloatingPoint(value)) => json!(value.into_inner()),
        Yaml::Value(Scalar::String(value)) => json!(value),
        Yaml::Sequence(items) => items.iter().map(plain).collect(),
        Yaml::Mapping(members) => {
            Value::Object(members.iter().map(|(key, value)| (text(&plain(key)), plain(value))).collect())
        }
        Yaml::Tagged(tag, value) => long_form(&tag.suffix, plain(value)),
        // CloudFormation takes neither aliases nor malformed scalars.
        Yaml::Alias(_) | Yaml::BadValue | Yaml::Representation(..) => panic!("not for CloudFormation: {node:?}"),
    }
}

fn long_form(tag: &str, value: Value) -> Value {
    match (tag, value) {
        ("Ref", value) => json!({"Ref": value}),
        ("GetAtt", Value::String(path)) => {
            let (id, attribute) = path.split_once('.').expect("resource and attribute");
            json!({"Fn::GetAtt": [id, attribute]})
        }
        (tag, value) => json!({format!("Fn::{tag}"): value}),
    }
}
