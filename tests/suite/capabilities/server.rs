//! A server that answers, or does not, as its path says.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_tests::built::root;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate of that name, by itself, and its key. Both are worth nothing outside of these tests.
pub(super) fn certificate(name: &str) -> PathBuf {
    root().join(format!("tests/suite/capabilities/certified/{name}.pem"))
}

/// A server on a port of this machine, for as long as the test's runtime.
pub(super) struct Server {
    scheme: &'static str,
    port: u16,
    connections: Arc<AtomicUsize>,
}

impl Server {
    pub(super) async fn start() -> Self {
        Self::listen("http", None).await
    }

    /// A server that is certified under that name.
    pub(super) async fn certified(name: &str) -> Self {
        let file = certificate(name);
        let chain = CertificateDer::pem_file_iter(&file).unwrap().map(Result::unwrap).collect();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, PrivateKeyDer::from_pem_file(&file).unwrap())
            .unwrap();
        Self::listen("https", Some(Arc::new(config).into())).await
    }

    async fn listen(scheme: &'static str, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = connections.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let tls = tls.clone();
                tokio::spawn(async move {
                    match tls {
                        Some(tls) => answer(tls.accept(stream).await?).await,
                        None => answer(stream).await,
                    }
                });
            }
        });
        Self { scheme, port, connections }
    }

    /// An origin of the server.
    pub(super) fn at(&self, host: &str) -> String {
        format!("{}://{host}:{}", self.scheme, self.port)
    }

    /// A URL at the server.
    pub(super) fn url(&self, path: &str) -> String {
        self.at("127.0.0.1") + path
    }

    /// How many connections there were.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> std::io::Result<()> {
    let (head, body) = read(&mut stream).await?;
    let target = head.split(' ').nth(1).unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let number = query.parse::<usize>().unwrap_or_default();
    let sized = |text: &str| format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len());
    let reply = match path {
        // The head as it came.
        "/echo" => sized(&head),
        "/size" => sized(&body.to_string()),
        "/to" => format!("HTTP/1.1 302 Found\r\nlocation: {query}\r\ncontent-length: 0\r\n\r\n"),
        "/large" => sized(&"x".repeat(number)),
        "/undeclared" => format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}", "x".repeat(number)),
        "/fields" => {
            let fields: String = (0..number).map(|index| format!("x-{index}: v\r\n")).collect();
            format!("HTTP/1.1 200 OK\r\n{fields}content-length: 0\r\n\r\n")
        }
        // A beginning, and then nothing until the client is tired of it.
        "/slow" => "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx".to_owned(),
        _ => String::new(),
    };
    stream.write_all(reply.as_bytes()).await?;
    if matches!(path, "/slow" | "/silent") {
        stream.read_u8().await?;
    }
    stream.shutdown().await
}

/// The head, and how many bytes of body there were.
async fn read(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<(String, usize)> {
    let mut bytes = Vec::new();
    let mut more = async |bytes: &mut Vec<u8>| match stream.read_buf(bytes).await {
        Ok(0) => Err(std::io::ErrorKind::UnexpectedEof.into()),
        other => other,
    };
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break at + 4;
        }
        more(&mut bytes).await?;
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    if text.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        while !bytes.ends_with(b"0\r\n\r\n") {
            more(&mut bytes).await?;
        }
    }
    let body = bytes[head..].iter().filter(|byte| **byte == b'x').count();
    Ok((text, body))
}
