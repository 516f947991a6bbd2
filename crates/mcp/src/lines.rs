//! Messages as lines: one JSON document each, as stdio has them.

mod overlong;

use callgate_core::Json;
use futures_util::{Stream, StreamExt};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};

use crate::envelope::Id;
use overlong::IdSearch;

/// The longest line that is taken from a client, in bytes.
pub(crate) const MAX_CLIENT_LINE: usize = 4 * 1024 * 1024;
/// The longest line that is taken from an upstream, in bytes.
pub(crate) const MAX_UPSTREAM_LINE: usize = 64 * 1024 * 1024;

/// What was read up to the end of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line, its end not included.
    Text(Vec<u8>),
    /// A line that is longer than it may be. It was read to its end and discarded, but for its message's id.
    TooLong(Option<Id>),
}

/// Reads the next line of at most `limit` bytes; none at the end of the input.
///
/// # Errors
/// When the input can't be read.
pub(crate) async fn read_line(reader: &mut (impl AsyncBufRead + Unpin), limit: usize) -> std::io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut discarded: Option<IdSearch> = None;
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            // A last line without an end is still a line.
            let read_any = !line.is_empty() || discarded.is_some();
            return Ok(read_any.then(|| finish(line, discarded)));
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        if discarded.is_none() && line.len() + part.len() > limit {
            let mut search = IdSearch::default();
            search.see(&std::mem::take(&mut line));
            discarded = Some(search);
        }
        match &mut discarded {
            Some(search) => search.see(part),
            None => line.extend_from_slice(part),
        }
        let consumed = part.len() + usize::from(end.is_some());
        reader.consume(consumed);
        if end.is_some() {
            return Ok(Some(finish(line, discarded)));
        }
    }
}

fn finish(line: Vec<u8>, discarded: Option<IdSearch>) -> Line {
    match discarded {
        Some(search) => Line::TooLong(search.found()),
        None => Line::Text(line),
    }
}

/// Writes messages in the order in which they come, until there are no more or nobody reads.
///
/// # Errors
/// When the output can't be written.
pub(crate) async fn write_lines(
    mut writer: impl AsyncWrite + Unpin,
    mut messages: impl Stream<Item = Json> + Unpin,
) -> std::io::Result<()> {
    while let Some(message) = messages.next().await {
        // Between the tokens of a document an end of line means nothing to JSON. But some peers end a line at a carriage
        // return too: they would take an object nested between two of them for a message of its own, which nobody judged.
        let mut line = message.as_str().as_bytes().to_vec();
        for byte in &mut line {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        line.push(b'\n');
        writer.write_all(&line).await?;
        writer.flush().await?;
    }
    writer.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_told_from_the_next_one() {
        let mut input = tokio::io::BufReader::with_capacity(3, &b"12345\n123456\n\nlast"[..]);
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut input, 5).await.unwrap() {
            lines.push(line);
        }
        let text = |text: &str| Line::Text(text.into());
        assert_eq!(lines, [text("12345"), Line::TooLong(None), text(""), text("last")]);
    }

    #[tokio::test]
    async fn messages_are_written_as_lines() {
        let messages = ["{\"a\":\n1}", "[ 1.0 ]"].map(|text| Json::parse(text).unwrap());
        let mut output = Vec::new();
        write_lines(&mut output, futures_util::stream::iter(messages)).await.unwrap();
        assert_eq!(output, b"{\"a\": 1}\n[ 1.0 ]\n");
    }

    #[tokio::test]
    async fn w3_a_carriage_return_does_not_make_two_messages_of_one() {
        let message = Json::parse("{\"a\":\r{\"method\":\"tools/call\"}\r}").unwrap();
        let mut output = Vec::new();
        write_lines(&mut output, futures_util::stream::iter([message])).await.unwrap();
        assert_eq!(output, b"{\"a\": {\"method\":\"tools/call\"} }\n");
    }
}
