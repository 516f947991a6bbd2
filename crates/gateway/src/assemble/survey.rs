//! A look at the servers behind the gateway, with what is wrong about them said where they are configured.

use std::time::Duration;

use callgate_mcp::Survey;
use callgate_mcp::survey::SurveyError;

use super::upstream;
use crate::config::{Config, Problem, Problems, Upstream};

/// How long all servers together may take to start and to list their tools. Some are downloaded by their first start.
const DEADLINE: Duration = Duration::from_secs(60);

/// Starts every server, lists its tools, and puts all of them together as a session would.
///
/// # Errors
/// Each server that does not start, does not list its tools, or has a tool of a name that another one has.
pub async fn survey(config: &Config) -> Result<Survey, Problems> {
    let failure = match look(&config.upstreams.iter().collect::<Vec<_>>()).await {
        Ok(survey) => return Ok(survey),
        Err(failure) => failure,
    };
    // Which server it was shows best when each of them is alone.
    let mut problems = Vec::new();
    for upstream in &config.upstreams {
        match look(&[upstream]).await {
            Ok(survey) => survey.close().await,
            Err(failure) => problems.push(config.source.problem(upstream.line, in_full(failure))),
        }
    }
    if problems.is_empty() {
        problems.push(together(config, failure));
    }
    Err(Problems(problems))
}

/// Why there is no survey.
#[derive(Debug, thiserror::Error)]
enum LookFailure {
    #[error(transparent)]
    Survey(#[from] SurveyError),
    #[error("no answer within {} s", DEADLINE.as_secs())]
    Deadline,
}

async fn look(upstreams: &[&Upstream]) -> Result<Survey, LookFailure> {
    let looks = callgate_mcp::survey(upstreams.iter().copied().map(upstream).collect(), &[]);
    Ok(tokio::time::timeout(DEADLINE, looks).await.map_err(|_| LookFailure::Deadline)??)
}

/// What is wrong only with all servers together belongs to the second one that is involved.
fn together(config: &Config, failure: LookFailure) -> Problem {
    let line = match &failure {
        LookFailure::Survey(SurveyError::Collision(collision)) => {
            let second = config.upstreams.iter().find(|upstream| upstream.name == collision.second);
            second.map(|upstream| upstream.line)
        }
        _ => None,
    };
    Problem { file: config.source.path().into(), line, reason: in_full(failure) }
}

/// A failure with its causes.
fn in_full(failure: LookFailure) -> String {
    format!("{:#}", anyhow::Error::new(failure))
}
