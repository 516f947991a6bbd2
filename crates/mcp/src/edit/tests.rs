use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;

#[test]
fn w2_a_replaced_value_leaves_every_other_byte() {
    let text = "{ \"id\" : 1 ,\t\"params\": {\"n\": 1.0e2 , \"name\":7, \"x\":[ ]} }";
    assert_eq!(
        set(text, &["params", "name"], "\"7\""),
        "{ \"id\" : 1 ,\t\"params\": {\"n\": 1.0e2 , \"name\":\"7\", \"x\":[ ]} }"
    );
    assert_eq!(set(text, &["id"], "\"a\""), text.replace("1 ,", "\"a\" ,"));
}

#[test]
fn a_value_that_is_not_there_is_added_at_the_end_of_its_object() {
    assert_eq!(set("{\"a\": 1 }", &["b"], "2"), "{\"a\": 1,\"b\":2 }");
    assert_eq!(set("{ }", &["b"], "2"), "{\"b\":2 }");
    assert_eq!(set("{\"a\":{}}", &["a", "b"], "2"), "{\"a\":{\"b\":2}}");
    assert_eq!(set("{\"a\":1}", &["x", "b"], "2"), "{\"a\":1}");
    assert_eq!(set("[1]", &["b"], "2"), "[1]");
}

#[test]
fn a_removed_member_takes_one_comma_with_it() {
    let text = "{\"a\": 1 , \"b\" :2, \"c\":3 }";
    assert_eq!(remove(text, &["a"]), "{\"b\" :2, \"c\":3 }");
    assert_eq!(remove(text, &["b"]), "{\"a\": 1, \"c\":3 }");
    assert_eq!(remove(text, &["c"]), "{\"a\": 1 , \"b\" :2 }");
    assert_eq!(remove("{ \"a\":1 }", &["a"]), "{ }");
    assert_eq!(remove(text, &["d"]), text);
    assert_eq!(remove(text, &["a", "b"]), text);
}

#[test]
fn n5_a_member_that_stands_twice_is_removed_twice_in_every_spelling() {
    assert_eq!(remove(r#"{"task":1,"x":0,"\u0074ask":2}"#, &["task"]), r#"{"x":0}"#);
}

/// A JSON object as text with odd spacing, and the same object as a value.
fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~é\\u{1F600}]{0,6}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c\"\\\\]{1,2}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    });
    prop::collection::btree_map("[a-c]", value, 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>()))
}

proptest! {
    #[test]
    fn w2_edits_do_what_they_do_to_the_value_and_the_rest_keeps_its_bytes(
        document in document(), key in "[a-d]", pretty: bool,
    ) {
        let text = if pretty { serde_json::to_string_pretty(&document)? } else { document.to_string() };
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();

        let changed = set(&text, &[&key], "[ 1.50 ]");
        let mut expected = document.clone();
        expected.as_object_mut().unwrap().insert(key.clone(), parse("[1.50]"));
        prop_assert_eq!(parse(&changed), expected);
        if let Some(old) = find(&text, &[&key]) {
            let (head, tail) = (text.get(..old.start).unwrap(), text.get(old.end..).unwrap());
            prop_assert!(changed.starts_with(head) && changed.ends_with(tail));
            prop_assert_eq!(changed.len(), head.len() + "[ 1.50 ]".len() + tail.len());
        }

        let without = remove(&text, &[&key]);
        let mut expected = document.clone();
        expected.as_object_mut().unwrap().remove(&key);
        prop_assert_eq!(parse(&without), expected.clone());
        for (other, value) in expected.as_object().unwrap() {
            prop_assert_eq!(&parse(get(&without, &[other]).unwrap()), value);
            prop_assert_eq!(get(&without, &[other]), get(&text, &[other]));
        }
    }
}
