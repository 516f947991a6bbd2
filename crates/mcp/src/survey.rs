//! A look at all upstreams without serving anybody: for whoever checks a configuration or explains a decision.

use callgate_core::ToolRegistry;
use callgate_core::registry::Tool;
use futures_util::future::join_all;

use crate::client::{Client, ClientError};
use crate::inventory::{Collision, Offer, assemble};
use crate::upstream::{Behind, Upstream};

/// What a look at all upstreams found.
#[derive(Debug)]
pub struct Survey {
    /// All tools, as a session that serves them would have them. They can be called for as long as the clients are open.
    pub registry: ToolRegistry,
    /// The connections, in configured order.
    pub clients: Vec<Client>,
}

/// Why there is no survey.
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    /// An upstream can't be looked at.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Two tools would have one name.
    #[error(transparent)]
    Collision(#[from] Collision),
}

/// Opens each upstream, lists its tools and puts all of them together with the native ones.
///
/// # Errors
/// When an upstream can't be opened or listed, or two tools would have one name.
pub async fn survey(upstreams: Vec<Upstream>, native: &[Tool]) -> Result<Survey, SurveyError> {
    let looks = join_all(upstreams.into_iter().map(look)).await;
    let looks = looks.into_iter().collect::<Result<Vec<_>, _>>()?;
    let offers = looks.iter().map(|(_, upstream, tools)| Offer { upstream, tools });
    let (registry, _) = assemble(offers, native)?;
    Ok(Survey { registry, clients: looks.into_iter().map(|(client, _, _)| client).collect() })
}

async fn look(upstream: Upstream) -> Result<(Client, Behind, Vec<callgate_core::Json>), ClientError> {
    let client = Client::open(&upstream.name, upstream.transport).await?;
    let tools = client.list_tools().await?;
    let connection = client.connection().clone();
    let behind = Behind { connection, prefix: upstream.prefix, govern: upstream.govern };
    Ok((client, behind, tools))
}

impl Survey {
    /// Ends all connections.
    pub async fn close(self) {
        join_all(self.clients.into_iter().map(Client::close)).await;
    }
}
