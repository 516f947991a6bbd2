//! `callgate demo-server`: tools to demonstrate with, served over standard input and output.

use anyhow::Result;

use crate::demo;

pub(super) async fn run() -> Result<()> {
    Ok(callgate_mcp::serve_stdio(demo::server()?).await?)
}
