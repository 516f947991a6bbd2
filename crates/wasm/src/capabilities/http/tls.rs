//! What servers are certified by.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Why a file of certificates can not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is no file of certificates in PEM: {reason}", .path.display())]
pub struct RootProblem {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub reason: String,
}

/// A connector that knows the authorities that browsers know, and those of the file. Nothing of a connection outlives an
/// event, so no session is taken up again.
pub(super) fn connector(roots: Option<&Path>) -> Result<TlsConnector, RootProblem> {
    let mut store = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(path) = roots {
        let problem = |reason: String| RootProblem { path: path.into(), reason };
        let before = store.len();
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| problem(error.to_string()))? {
            let certificate = certificate.map_err(|error| problem(error.to_string()))?;
            store.add(certificate).map_err(|error| problem(error.to_string()))?;
        }
        if store.len() == before {
            return Err(problem("it has none".into()));
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| RootProblem { path: PathBuf::new(), reason: error.to_string() })?;
    let mut config = builder.with_root_certificates(store).with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(TlsConnector::from(Arc::new(config)))
}
