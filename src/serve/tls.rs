//! TLS on our own listener: certificate and key from files, HTTP/2 and nothing else.

use super::CannotServe;
use crate::cli::shell;
use crate::config::Tls;
use crate::files;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

/// What the daemon shows and asks for. TLS 1.3 alone: whoever speaks gRPC speaks that.
pub(super) fn server(tls: &Tls) -> Result<Arc<ServerConfig>, CannotServe> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| fault(&tls.cert, "cannot be used", error))?;
    let builder = match &tls.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for cert in certificates(path)? {
                roots.add(cert).map_err(|error| fault(path, "holds no authority", error))?;
            }
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(
                verifier.map_err(|error| fault(path, "holds no authority", error))?,
            )
        }
    };
    let (certs, key) = (certificates(&tls.cert)?, key(&tls.key)?);
    let mut config = builder
        .with_single_cert(certs, key)
        .map_err(|error| fault(&tls.cert, "and its key cannot be used", error))?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, CannotServe> {
    let text = read(path, files::Kind::Certificates)?;
    let read = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let certs = read.map_err(|error| fault(path, "holds no certificates", error))?;
    match certs.is_empty() {
        true => Err(fault(path, "holds no certificates", "it has none in PEM")),
        false => Ok(certs),
    }
}

/// The key, which nobody but its owner may read.
fn key(path: &Path) -> Result<PrivateKeyDer<'static>, CannotServe> {
    let text = read(path, files::Kind::Key)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| fault(path, "holds no key", error))
}

fn read(path: &Path, kind: files::Kind) -> Result<Vec<u8>, CannotServe> {
    files::read(path, kind, files::PEM_BYTES).map_err(|unfit| {
        let other =
            || "name a certificate and its key, in PEM, with --tls-cert and --tls-key".into();
        let next = unfit.remedy(&shell::path_or(path, "FILE")).unwrap_or_else(other);
        CannotServe::new(format!("{} {unfit}", path.display())).next(next)
    })
}

fn fault(path: &Path, what: &str, error: impl std::fmt::Display) -> CannotServe {
    CannotServe::new(format!("{} {what}: {error}", path.display()))
        .next("name a certificate and its key, in PEM, with --tls-cert and --tls-key")
}
