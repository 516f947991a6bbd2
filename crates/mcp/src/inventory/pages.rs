//! An upstream's listing, followed over all its pages.

use std::collections::HashSet;
use std::sync::Arc;

use callgate_core::Json;
use callgate_core::json::{elements, members};

use crate::edit;
use crate::envelope::{Payload, Response, code};
use crate::upstream::{Connection, Lost};

/// How many pages a listing may have.
const MAX_PAGES: usize = 1_000;

/// All pages of a listing.
#[derive(Debug)]
pub(crate) struct Pages {
    /// The whole message that the first page came in.
    pub(crate) first: Option<Json>,
    /// The definitions of all tools, as the upstream wrote them.
    pub(crate) tools: Vec<Json>,
}

/// Why an upstream's tools are not known.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ListingFailure {
    /// The connection is gone, or the upstream took too long.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The upstream answered with an error of its own.
    #[error("the upstream refused to list its tools: {0}")]
    Refused(Refused),
    /// The upstream answered with something that is no listing.
    #[error("upstream '{0}' did not answer with a listing")]
    NotAListing(String),
    /// The pages go round in a circle.
    #[error("upstream '{0}' gave the same cursor twice")]
    RepeatedCursor(String),
    /// There are too many pages.
    #[error("upstream '{0}' lists more than {MAX_PAGES} pages")]
    TooManyPages(String),
}

/// An upstream's own error response.
#[derive(Clone, Debug)]
pub struct Refused {
    pub(crate) response: Response,
}

impl Refused {
    /// Whether the upstream does not know how to list tools, so that it has none.
    pub(crate) fn no_such_method(&self) -> bool {
        let number = edit::get(self.response.line.as_str(), &["error", "code"]);
        number.and_then(|number| number.parse().ok()) == Some(code::METHOD_NOT_FOUND)
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(edit::get(self.response.line.as_str(), &["error"]).unwrap_or_default())
    }
}

/// Lists the tools of an upstream. `base` is what each request has as parameters besides the cursor.
///
/// # Errors
/// When the listing can't be followed to its end: a part of it would pass for the whole.
pub(crate) async fn list(connection: &Arc<Connection>, base: Option<&Json>) -> Result<Pages, ListingFailure> {
    let mut pages = Pages { first: None, tools: Vec::new() };
    let mut cursors = HashSet::new();
    let mut params = base.map(|base| base.as_str().to_owned());
    for _ in 0..MAX_PAGES {
        let response = connection.ask("tools/list", params.as_deref()).await?;
        let Payload::Result(page) = &response.payload else {
            return Err(ListingFailure::Refused(Refused { response }));
        };
        let (tools, next) = read(page).ok_or_else(|| ListingFailure::NotAListing(connection.name().to_owned()))?;
        pages.tools.extend(tools);
        pages.first.get_or_insert(response.line);
        let Some(next) = next else { return Ok(pages) };
        let asked = base.map_or("{}", |base| base.as_str());
        params = Some(edit::set(asked, &["cursor"], next.as_str()));
        if !cursors.insert(next) {
            return Err(ListingFailure::RepeatedCursor(connection.name().to_owned()));
        }
    }
    Err(ListingFailure::TooManyPages(connection.name().to_owned()))
}

/// The definitions on a page, and the cursor of the next one.
fn read(page: &Json) -> Option<(Vec<Json>, Option<Json>)> {
    let members = members(page.as_str())?;
    let tools = match members.get("tools").map(|tools| tools.get()) {
        None | Some("null") => Vec::new(),
        Some(tools) => elements(tools)?.into_iter().map(Json::from).collect(),
    };
    let next = match members.get("nextCursor") {
        Some(cursor) if cursor.get().starts_with('"') => Some(cursor.into()),
        Some(cursor) if cursor.get() != "null" => return None,
        _ => None,
    };
    Some((tools, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_be_empty_and_still_have_a_next_one() {
        let page = |text| read(&Json::parse(text).unwrap()).map(|(tools, next)| (tools.len(), next));
        assert_eq!(page(r#"{"tools":[{},{}]}"#), Some((2, None)));
        assert_eq!(page(r#"{"tools":[],"nextCursor":""}"#), Some((0, Some(Json::string("")))));
        assert_eq!(page(r#"{"tools":null,"nextCursor":null}"#), Some((0, None)));
        assert_eq!(page(r#"{"tools":{}}"#), None);
        assert_eq!(page(r#"{"tools":[],"nextCursor":1}"#), None);
        assert_eq!(page("[]"), None);
    }
}
