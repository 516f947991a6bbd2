//! Tools that count their runs and reply as a test wants.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use callgate_core::registry::{Row, Tool};
use callgate_core::report::Completion;
use callgate_core::tool::{ReplyBody, ToolFailure, ToolProvider, ToolReply};
use callgate_core::{GrantedCall, Json};

/// What a run comes to.
pub type Reply = Result<ToolReply, ToolFailure>;
type Running = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// Counts its runs. What it replies is a matter of the run's number, from 1.
pub struct Counting {
    runs: AtomicU64,
    run: Box<dyn Fn(u64) -> Running + Send + Sync>,
}

impl Counting {
    /// How often it ran.
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl ToolProvider for Counting {
    async fn call(&self, _call: &GrantedCall) -> Reply {
        let number = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        (self.run)(number).await
    }
}

impl fmt::Debug for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counting").field("runs", &self.runs()).finish_non_exhaustive()
    }
}

/// A tool in that row, and its counter.
pub fn counting<F>(row: Row, run: impl Fn(u64) -> F + Send + Sync + 'static) -> (Tool, Arc<Counting>)
where
    F: Future<Output = Reply> + Send + 'static,
{
    let counting = Arc::new(Counting { runs: AtomicU64::new(0), run: Box::new(move |number| Box::pin(run(number))) });
    let definition = serde_json::json!({ "name": row.identifier, "inputSchema": { "type": "object" } });
    (Tool::new(row, definition.into(), counting.clone()), counting)
}

/// A tool whose every run replies with the run's number, in a text that is spelled as no serializer would.
pub fn numbered(row: Row) -> (Tool, Arc<Counting>) {
    counting(row, |run| async move { text(&format!("run {run}")) })
}

/// A result of one text, with a member that nobody knows and a number that is easily respelled.
pub fn text(text: &str) -> Reply {
    result(&format!(r#"{{ "content":[{{"text":"{text}","type":"text"}}],"future": 1.50e1}}"#))
}

/// A result as it is written.
pub fn result(result: &str) -> Reply {
    Ok(ToolReply::result(json(result)))
}

/// A result that asks the caller for input (W4).
pub fn input_required() -> Reply {
    let body = ReplyBody::Result(json(r#"{"resultType":"input_required","requestState":"s"}"#));
    Ok(ToolReply { body, completion: Completion::InputRequired, message: None })
}

/// A JSON text as it is written.
pub fn json(text: &str) -> Json {
    Json::parse(text).expect("the test writes JSON")
}
