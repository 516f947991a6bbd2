use serde::Deserialize;
use serde_json::json;

use super::*;

/// A value object of a host project.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
struct Money(u32);

impl TryFrom<String> for Money {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.strip_suffix(" EUR").and_then(|amount| amount.parse().ok()).map(Self).ok_or("no amount")
    }
}

fn argument(name: &str, argument_type: ArgumentType, presence: Presence) -> Argument {
    Argument { name: name.into(), argument_type, presence }
}

fn declared() -> Vec<Argument> {
    vec![
        argument("idReward", ArgumentType::Int, Presence::Required),
        argument("price", ArgumentType::Internal("Money".into()), Presence::Required),
        argument("note", ArgumentType::String, Presence::Optional),
        argument("copies", ArgumentType::Int, Presence::Default(json!(1))),
    ]
}

fn parameters() -> Vec<Parameter> {
    vec![
        Parameter::new("idReward", ArgumentType::Int),
        Parameter::of::<Money>("price"),
        Parameter::new("note", ArgumentType::String),
        Parameter::new("copies", ArgumentType::Int),
    ]
}

fn bound(sent: &str) -> Result<BoundArguments, BindingError> {
    bind(&declared(), &parameters(), &Json::parse(sent).unwrap())
}

fn fault(sent: &str) -> String {
    bound(sent).unwrap_err().to_string()
}

#[test]
fn e1_arguments_are_bound_with_their_defaults() {
    let bound = bound(r#"{"idReward": 7, "price": "3 EUR"}"#).unwrap();
    assert_eq!(bound.get::<i64>("idReward"), Ok(7));
    assert_eq!(bound.get::<Money>("price"), Ok(Money(3)));
    assert_eq!(bound.get::<u8>("copies"), Ok(1));
    assert_eq!(bound.value("note"), None);
    assert_eq!(bound.get::<String>("idReward"), Err(UnreadableArgument("idReward".into())));
}

#[test]
fn e1_a_missing_argument_is_named_unless_it_has_a_default() {
    assert_eq!(fault("{}"), "Missing required argument 'idReward'.");
    assert_eq!(fault(r#"{"idReward":1}"#), "Missing required argument 'price'.");
    assert_eq!(fault(r#"{"price":"no money"}"#), "Missing required argument 'idReward'.");
}

#[test]
fn e1_a_value_of_the_wrong_type_is_named_with_the_declared_type() {
    let with = |id: &str| format!(r#"{{"idReward":{id},"price":"3 EUR"}}"#);
    for id in ["\"7\"", "1.5", "null", "[7]", "1e999", "1e300", "9223372036854775808"] {
        assert_eq!(fault(&with(id)), "Invalid value for argument 'idReward': expected int.", "{id}");
    }
    for (id, expected) in [("7.0", 7), ("-3e2", -300), ("9223372036854775807", i64::MAX)] {
        assert_eq!(bound(&with(id)).unwrap().get::<i64>("idReward"), Ok(expected));
    }
    assert_eq!(
        fault(r#"{"idReward":1,"price":"3 EUR","note":5}"#),
        "Invalid value for argument 'note': expected string."
    );
    assert_eq!(
        fault(r#"{"idReward":1,"price":"3 EUR","copies":"x"}"#),
        "Invalid value for argument 'copies': expected int."
    );
}

#[test]
fn e1_a_number_that_reading_rounds_is_no_whole_number() {
    let with = |id: &str| format!(r#"{{"idReward":{id},"price":"3 EUR"}}"#);
    for id in ["9007199254740993.0", "-9007199254740993.0", "9007199254740992e0"] {
        assert_eq!(fault(&with(id)), "Invalid value for argument 'idReward': expected int.", "{id}");
    }
    for (id, expected) in [("9007199254740991.0", 9_007_199_254_740_991), ("9007199254740993", 9_007_199_254_740_993)] {
        assert_eq!(bound(&with(id)).unwrap().get::<i64>("idReward"), Ok(expected));
    }
}

#[test]
fn e3_an_internal_type_is_not_named() {
    assert_eq!(fault(r#"{"idReward":1,"price":3}"#), "Invalid value for argument 'price'.");
}

#[test]
fn e1_a_declared_argument_that_the_function_does_not_have_is_unknown() {
    let declared = [
        argument("idReward", ArgumentType::Int, Presence::Required),
        argument("rewardId", ArgumentType::Int, Presence::Optional),
    ];
    let fault = |sent| bind(&declared, &parameters()[..1], &Json::parse(sent).unwrap());
    assert_eq!(fault(r#"{"rewardId":1}"#), Err(BindingError::Unknown("rewardId".into())));
    assert!(fault(r#"{"idReward":1}"#).is_ok());
}

#[test]
fn e2_what_is_not_declared_is_not_sent_to_the_function() {
    let bound = bound(r#"{"idReward":1,"price":"3 EUR","surprise":true}"#).unwrap();
    assert_eq!(bound.value("surprise"), None);
}

#[test]
fn every_type_admits_its_own_values_only() {
    let samples = [json!("s"), json!(1), json!(1.5), json!(true), json!([]), json!({}), json!(null)];
    let admitted = |argument_type: ArgumentType| -> Vec<bool> {
        samples.iter().map(|value| argument_type.admits(value)).collect()
    };
    let t = true;
    let f = false;
    assert_eq!(admitted(ArgumentType::String), [t, f, f, f, f, f, f]);
    assert_eq!(admitted(ArgumentType::Int), [f, t, f, f, f, f, f]);
    assert_eq!(admitted(ArgumentType::Float), [f, t, t, f, f, f, f]);
    assert_eq!(admitted(ArgumentType::Bool), [f, f, f, t, f, f, f]);
    assert_eq!(admitted(ArgumentType::Array), [f, f, f, f, t, f, f]);
    assert_eq!(admitted(ArgumentType::Object), [f, f, f, f, f, t, f]);
    assert_eq!(admitted(ArgumentType::Any), [true; 7]);
    assert_eq!(admitted(ArgumentType::Internal("X".into())), [true; 7]);
}

#[test]
fn public_names_are_those_that_callers_know() {
    use ArgumentType::*;
    let names = [String, Int, Float, Bool, Array, Object, Any].map(|known| known.public_name().unwrap());
    assert_eq!(names, ["string", "int", "float", "bool", "array", "object", "mixed"]);
}
