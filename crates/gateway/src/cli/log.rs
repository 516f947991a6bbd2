//! The log, which goes to standard error: standard output belongs to the protocol or to the command's own words.

use std::io;

use clap::{Args, ValueEnum};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// What is logged and how.
#[derive(Debug, Args)]
pub(super) struct LogOptions {
    /// Logs this level and above: error, warn, info, debug, trace or off; without it info for serve and warn otherwise.
    #[arg(long, global = true, value_name = "LEVEL")]
    log: Option<LevelFilter>,
    /// The form of log lines.
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

pub(super) fn start(options: &LogOptions, serving: bool) {
    let level = options.log.unwrap_or(if serving { LevelFilter::INFO } else { LevelFilter::WARN });
    // What the compiler of components says is of interest to nobody below a warning.
    let targets = Targets::new().with_target("callgate", level).with_default(level.min(LevelFilter::WARN));
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let layer = match options.log_format {
        LogFormat::Text => lines.with_ansi(false).boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    tracing_subscriber::registry().with(layer.with_filter(targets)).init();
}
