//! A second way to read JSON, written from the grammar alone: what the host's own reading is compared with.

use std::collections::HashSet;
use std::ops::Range;

use callgate_core::json::ScanError;

/// A value and where it stands in its text.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: Range<usize>,
    pub(crate) content: Content,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// `true`, `false` or `null`.
    Word,
    Number,
    /// None where it holds half of a surrogate pair.
    String(Option<String>),
    Array(Vec<Node>),
    Object(Vec<Member>),
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// As a string.
    pub(crate) key: Node,
    pub(crate) value: Node,
}

/// Reads a text that is one JSON document.
pub(crate) fn read(text: &str) -> Option<Node> {
    let mut reader = Reader { text: text.as_bytes(), at: 0 };
    reader.space();
    let node = reader.value()?;
    reader.space();
    (reader.at == text.len()).then_some(node)
}

impl Member {
    pub(crate) fn name(&self) -> Option<&str> {
        self.key.string()
    }
}

impl Node {
    pub(crate) fn text<'t>(&self, document: &'t str) -> &'t str {
        &document[self.at.clone()]
    }

    pub(crate) fn string(&self) -> Option<&str> {
        if let Content::String(content) = &self.content { content.as_deref() } else { None }
    }

    pub(crate) fn members(&self) -> Option<&[Member]> {
        if let Content::Object(members) = &self.content { Some(members) } else { None }
    }

    pub(crate) fn elements(&self) -> Option<&[Node]> {
        if let Content::Array(elements) = &self.content { Some(elements) } else { None }
    }

    /// The last member of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        let last = self.members()?.iter().rev().find(|member| member.name() == Some(name));
        last.map(|member| &member.value)
    }

    pub(crate) fn depth(&self) -> usize {
        match &self.content {
            Content::Array(elements) => 1 + elements.iter().map(Self::depth).max().unwrap_or(0),
            Content::Object(members) => 1 + members.iter().map(|member| member.value.depth()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Whether it holds for this value, a key or a value in it.
    pub(crate) fn any(&self, holds: &dyn Fn(&Self) -> bool) -> bool {
        holds(self)
            || match &self.content {
                Content::Array(elements) => elements.iter().any(|element| element.any(holds)),
                Content::Object(members) => members.iter().any(|it| it.key.any(holds) || it.value.any(holds)),
                _ => false,
            }
    }

    /// The text without space between its tokens.
    pub(crate) fn compact(&self, document: &str) -> String {
        let list = |items: Vec<String>| items.join(",");
        match &self.content {
            Content::Array(elements) => format!("[{}]", list(elements.iter().map(|it| it.compact(document)).collect())),
            Content::Object(members) => {
                let member = |it: &Member| format!("{}:{}", it.key.text(document), it.value.compact(document));
                format!("{{{}}}", list(members.iter().map(member).collect()))
            }
            _ => self.text(document).to_owned(),
        }
    }

    /// The first place, in document order, that two parsers could read differently.
    pub(crate) fn fault(&self) -> Option<ScanError> {
        self.fault_at(1)
    }

    fn fault_at(&self, level: usize) -> Option<ScanError> {
        let container = matches!(self.content, Content::Array(_) | Content::Object(_));
        if container && level > 100 {
            return Some(ScanError::TooDeep);
        }
        match &self.content {
            Content::Word | Content::Number | Content::String(Some(_)) => None,
            Content::String(None) => Some(ScanError::NotUnicode),
            Content::Array(elements) => elements.iter().find_map(|element| element.fault_at(level + 1)),
            Content::Object(members) => {
                let mut seen = HashSet::new();
                members.iter().find_map(|member| {
                    let Some(name) = member.name() else { return Some(ScanError::NotUnicode) };
                    if name.starts_with("$serde_json::private::") {
                        return Some(ScanError::ReservedKey(name.to_owned()));
                    }
                    let twice = || Some(ScanError::DuplicateKey(name.to_owned()));
                    if seen.insert(name) { member.value.fault_at(level + 1) } else { twice() }
                })
            }
        }
    }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Option<Node> {
        let start = self.at;
        let content = match self.peek()? {
            b'{' => Content::Object(self.list(b'{', b'}', Self::member)?),
            b'[' => Content::Array(self.list(b'[', b']', Self::value)?),
            b'"' => return self.string(),
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            b'n' => self.word(b"null")?,
            _ => self.number()?,
        };
        Some(Node { at: start..self.at, content })
    }

    fn word(&mut self, word: &[u8]) -> Option<Content> {
        word.iter().try_for_each(|byte| self.take(*byte)).map(|()| Content::Word)
    }

    fn list<T>(&mut self, open: u8, close: u8, item: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        self.take(open)?;
        self.space();
        if self.take(close).is_some() {
            return Some(items);
        }
        loop {
            self.space();
            items.push(item(self)?);
            self.space();
            if self.take(close).is_some() {
                return Some(items);
            }
            self.take(b',')?;
        }
    }

    fn member(&mut self) -> Option<Member> {
        let key = self.string()?;
        self.space();
        self.take(b':')?;
        self.space();
        Some(Member { key, value: self.value()? })
    }

    fn number(&mut self) -> Option<Content> {
        let _ = self.take(b'-');
        if self.take(b'0').is_none() {
            self.digits()?;
        }
        if self.take(b'.').is_some() {
            self.digits()?;
        }
        if self.take(b'e').or_else(|| self.take(b'E')).is_some() {
            let _ = self.take(b'+').or_else(|| self.take(b'-'));
            self.digits()?;
        }
        Some(Content::Number)
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn string(&mut self) -> Option<Node> {
        let start = self.at;
        self.take(b'"')?;
        // In the encoding of the escapes, so that both halves of a pair come together again.
        let mut units: Vec<u16> = Vec::new();
        loop {
            let from = self.at;
            while !matches!(self.peek()?, b'"' | b'\\' | 0..=0x1f) {
                self.at += 1;
            }
            units.extend(std::str::from_utf8(&self.text[from..self.at]).ok()?.encode_utf16());
            if self.take(b'"').is_some() {
                break;
            }
            self.take(b'\\')?;
            units.push(self.escape()?);
        }
        Some(Node { at: start..self.at, content: Content::String(String::from_utf16(&units).ok()) })
    }

    fn escape(&mut self) -> Option<u16> {
        let kind = self.peek()?;
        self.at += 1;
        Some(match kind {
            b'"' | b'\\' | b'/' => u16::from(kind),
            b'b' => 8,
            b'f' => 12,
            b'n' => 10,
            b'r' => 13,
            b't' => 9,
            b'u' => {
                let digits = self.text.get(self.at..self.at + 4).filter(|it| it.iter().all(u8::is_ascii_hexdigit))?;
                self.at += 4;
                u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?
            }
            _ => return None,
        })
    }
}
