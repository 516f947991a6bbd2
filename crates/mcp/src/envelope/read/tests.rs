use super::*;

fn rejected(line: &str) -> Rejection {
    match read_client(line.as_bytes()) {
        Err(rejection) => rejection,
        Ok(message) => panic!("{line} was read as {message:?}"),
    }
}

#[test]
fn n5_a_duplicate_key_anywhere_is_refused_under_its_id() {
    for line in [
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"safe","name":"evil"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"safe","\u006eame":"evil"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"safe","arguments":{"a":[{"b":1,"b":2}]}}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call","params":{"name":"evil"}}"#,
    ] {
        let rejection = rejected(line);
        assert_eq!((rejection.code, rejection.id), (code::INVALID_REQUEST, Id::read("7")), "{line}");
    }
}

#[test]
fn n5_an_id_that_stands_twice_is_not_echoed() {
    assert_eq!(rejected(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call"}"#).id, None);
}

#[test]
fn n5_keys_that_differ_in_case_only_are_refused_in_the_envelope_and_in_params() {
    for line in [
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","Method":"tools/call","params":{"name":"evil"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"safe","Name":"evil"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"safe","NAME":"evil"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","Params":{"name":"evil"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","param\u017f":{"name":"evil"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"safe","ta\u017f\u212a":{}}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"safe","_META":{}}}"#,
        r#"{"jsonrpc":"2.0","id":7,"\u0131d":8,"method":"tools/call","params":{"name":"safe"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"\u0130D":8,"method":"tools/call","params":{"name":"safe"}}"#,
    ] {
        let rejection = rejected(line);
        assert_eq!((rejection.code, rejection.id), (code::INVALID_REQUEST, Id::read("7")), "{line}");
    }
    let deeper = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{"Name":1}}}"#;
    assert!(read_client(deeper.as_bytes()).is_ok());
}

#[test]
fn w3_arrays_and_other_things_that_are_no_message_are_refused_with_a_null_id() {
    for line in ["[]", r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"evil"}}]"#, "1", "null"] {
        let rejection = rejected(line);
        assert_eq!((rejection.code, rejection.id.is_none()), (code::INVALID_REQUEST, true), "{line}");
    }
    for line in ["{", "\u{feff}{}", "{}{}", "{'a':1}", "hello"] {
        assert_eq!(rejected(line).code, code::PARSE, "{line}");
    }
    assert_eq!(read_client(b"{\"a\":\"\xff\"}").unwrap_err().code, code::PARSE);
}

#[test]
fn w3_an_id_that_is_none_is_refused() {
    for id in ["null", "1.0", "1e2", "[]", "{}", "true"] {
        let rejection = rejected(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#));
        assert_eq!((rejection.code, rejection.id.is_none()), (code::INVALID_REQUEST, true), "{id}");
    }
    let rejection = rejected(r#"{"jsonrpc":"2.0","id":"callgate:1","method":"tools/call"}"#);
    assert_eq!((rejection.code, rejection.id), (code::INVALID_REQUEST, None));
}

#[test]
fn w3_a_message_is_one_thing() {
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"id":1,"method":"tools/call"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":["tools/call"]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":"\ud800"}}"#,
    ] {
        assert_eq!(rejected(line).code, code::INVALID_REQUEST, "{line}");
    }
}

#[test]
fn w2_a_message_keeps_its_line() {
    let line = " {\"jsonrpc\" : \"2.0\", \"x\":1.0,\"id\": \"a\" ,\"method\":\"tools\\/call\" }\r";
    let Ok(Message::Request(request)) = read_client(line.as_bytes()) else { panic!("no request") };
    assert_eq!(request.line.as_str(), line.trim());
    assert_eq!(request.method, "tools/call");
}

#[test]
fn an_upstreams_line_is_read_for_what_it_is() {
    let read = |line: &str| read_upstream(line.as_bytes());
    assert!(matches!(read(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#), Some(Message::Response(_))));
    assert!(matches!(read(r#"{"jsonrpc":"2.0","id":"s1","method":"ping"}"#), Some(Message::Request(_))));
    assert!(matches!(read(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#), Some(Message::Notification(_))));
    for line in [r#"{"id":1,"result":1,"result":2}"#, r#"{"id":1,"result":1,"error":{}}"#, "[]", "x", r#"{"id":null}"#]
    {
        assert!(read(line).is_none(), "{line}");
    }
}
