//! Whose line it was that is too long to be read.

use crate::envelope::Id;

/// The longest key or id that is looked at, in bytes.
const MAX_TOKEN: usize = 1_024;

/// Looks for the id of a message while the message is discarded. Clients write it at the end as well as at the beginning.
#[derive(Debug, Default)]
pub(super) struct IdSearch {
    depth: usize,
    quoted: bool,
    escaped: bool,
    /// The scalar that stands directly in the message's own object.
    token: Vec<u8>,
    key: Vec<u8>,
    ids: Vec<Vec<u8>>,
}

impl IdSearch {
    pub(super) fn see(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.see_byte(*byte);
        }
    }

    /// The id, if the message had one and only one.
    pub(super) fn found(self) -> Option<Id> {
        match self.ids.as_slice() {
            [id] => Id::read(std::str::from_utf8(id).ok()?).filter(|id| !id.is_own()),
            _ => None,
        }
    }

    fn see_byte(&mut self, byte: u8) {
        if self.quoted {
            self.keep(byte);
            self.quoted = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b'{' | b'[' => {
                self.keep(byte);
                self.depth += 1;
            }
            b'}' | b']' => {
                self.end_member();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_member(),
            b':' if self.depth == 1 => self.key = std::mem::take(&mut self.token),
            b' ' | b'\t' | b'\r' => {}
            _ => {
                self.quoted = byte == b'"';
                self.keep(byte);
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < MAX_TOKEN {
            self.token.push(byte);
        }
    }

    fn end_member(&mut self) {
        if self.depth == 1 {
            let token = std::mem::take(&mut self.token);
            if std::mem::take(&mut self.key) == b"\"id\"" {
                self.ids.push(token);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Option<String> {
        let mut search = IdSearch::default();
        search.see(line.as_bytes());
        search.found().map(|id| id.raw().to_string())
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        for (line, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"params":{"id":8}}"#, Some("7")),
            (r#"{"params":{"id":8,"a":["id",{"id":9}]},"x":"\",\"id\":1" , "id" : "a,\"}" }"#, Some(r#""a,\"}""#)),
            (r#"{"id":7,"cut off":"#, Some("7")),
        ] {
            assert_eq!(found(line).as_deref(), id, "{line}");
        }
    }

    #[test]
    fn what_is_no_id_or_stands_twice_is_not_found() {
        for line in [
            r#"{"id":1,"id":2}"#,
            r#"[{"id":1}]"#,
            r#"{"id":{"id":1}}"#,
            r#"{"id":null}"#,
            r#"{"x":"id","y":1}"#,
            r#"{"id":"callgate:1"}"#,
            r#""id":1"#,
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
