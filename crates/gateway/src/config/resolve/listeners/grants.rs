//! What a listener is granted beyond the names in its `capabilities`.

use std::time::Duration;

use callgate_wasm::{FolderGrant, HttpGrant, Origin, PrivateNetworks};
use toml::Spanned;

use super::{Findings, bytes};
use crate::config::bounded::Bounded;
use crate::config::document::{FolderTable, HttpTable};

/// The grant and the line of its table.
pub(super) fn http(table: Spanned<HttpTable>, found: &mut Findings<'_>) -> (HttpGrant, usize) {
    let line = found.line(&table);
    let table = table.into_inner();
    let mut origins = Vec::new();
    for text in &table.origins {
        match text.get_ref().parse::<Origin>() {
            Ok(origin) => origins.push(origin),
            Err(error) => found.at(text, format!("'{}': {error}", text.get_ref())),
        }
    }
    let default = HttpGrant::to(origins);
    let grant = HttpGrant {
        private_networks: if table.private_networks { PrivateNetworks::Allowed } else { PrivateNetworks::Refused },
        timeout: table.timeout_ms.map(|ms| Duration::from_millis(ms.get().into())),
        request: table.max_request_kib.map_or(default.request, |kib| bytes(kib.get(), 10)),
        response: table.max_response_kib.map_or(default.response, |kib| bytes(kib.get(), 10)),
        requests: table.max_requests.map_or(default.requests, Bounded::get),
        roots: table.root_certificates.map(|path| found.source.resolve(&path)),
        ..default
    };
    (grant, line)
}

/// The grant and the line of its table.
pub(super) fn folder(table: Spanned<FolderTable>, found: &Findings<'_>) -> (FolderGrant, usize) {
    let line = found.line(&table);
    let table = table.into_inner();
    let path = found.source.resolve(&table.path);
    (FolderGrant { path, guest: table.guest, access: table.access.into() }, line)
}
