//! Free values of the file as JSON.

use std::collections::BTreeMap;

use callgate_core::json::{Entry, Json};
use serde_json::{Map, Number, Value};

/// The table's members in the order of their keys.
pub(super) fn entries(table: toml::Table) -> Result<Vec<Entry>, String> {
    Ok(members(table)?.into_iter().map(|(key, value)| Entry { key, value }).collect())
}

/// The table's members by key.
pub(super) fn members(table: toml::Table) -> Result<BTreeMap<String, Json>, String> {
    table.into_iter().map(|(key, value)| Ok((key, Json::from(json(value)?)))).collect()
}

fn json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => {
            Number::from_f64(number).ok_or_else(|| format!("JSON has no number for {number}"))?.into()
        }
        toml::Value::Boolean(truth) => truth.into(),
        toml::Value::Datetime(moment) => moment.to_string().into(),
        toml::Value::Array(elements) => Value::Array(elements.into_iter().map(json).collect::<Result<_, _>>()?),
        toml::Value::Table(table) => {
            let members = table.into_iter().map(|(key, value)| Ok((key, json(value)?)));
            Value::Object(members.collect::<Result<Map<_, _>, String>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_has_its_json() {
        let table = "a = 'x'\nb = 9007199254740993\nc = 1.5\nd = true\ne = 2026-12-01\nf = [1, 'y']\ng = { h = {} }";
        let members = members(table.parse().unwrap()).unwrap();
        let texts: Vec<_> = members.values().map(Json::as_str).collect();
        let expected = ["\"x\"", "9007199254740993", "1.5", "true", "\"2026-12-01\"", "[1,\"y\"]", "{\"h\":{}}"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_number_that_json_does_not_have_is_refused() {
        let error = members("a = [{ b = nan }]".parse().unwrap()).unwrap_err();
        assert_eq!(error, "JSON has no number for NaN");
    }
}
