//! stub
use std::io::Write;
#[derive(Debug, clap::Args)]
pub(crate) struct Options {}
pub(crate) async fn run(_options: Options, _out: &mut impl Write) -> anyhow::Result<()> { Ok(()) }
pub(crate) fn server() -> anyhow::Result<callgate_mcp::Server> { anyhow::bail!("x") }
