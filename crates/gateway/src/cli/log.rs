//! The log, which goes to standard error: standard output belongs to the protocol or to the command's own words.

mod behind;

use std::io;

use clap::{Args, ValueEnum};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use behind::Behind;

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

/// Keeps the log until the process ends.
#[derive(Debug)]
pub(super) struct Log(Option<Behind>);

impl Drop for Log {
    fn drop(&mut self) {
        if let Some(lines) = &self.0 {
            lines.flush();
        }
    }
}

pub(super) fn start(options: &LogOptions, serving: bool) -> io::Result<Log> {
    let level = options.log.unwrap_or(if serving { LevelFilter::INFO } else { LevelFilter::WARN });
    // What the compiler of components says is of interest to nobody below a warning.
    let targets = Targets::new().with_target("callgate", level).with_default(level.min(LevelFilter::WARN));
    // A client that starts the gateway and never reads its standard error must not stop it.
    let behind = serving.then(|| Behind::start(io::stderr(), tell_lost)).transpose()?;
    let writer = match behind.clone() {
        Some(lines) => BoxMakeWriter::new(move || lines.clone()),
        None => BoxMakeWriter::new(io::stderr),
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(writer);
    let layer = match options.log_format {
        LogFormat::Text => lines.with_ansi(false).boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    tracing_subscriber::registry().with(layer.with_filter(targets)).init();
    Ok(Log(behind))
}

fn tell_lost(lines: u64) {
    tracing::warn!(lines, "log lines were lost, because nobody read standard error");
}
