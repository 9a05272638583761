//! TLS to the database, in the words of PostgreSQL's own clients: `sslmode` says how sure a connection is
//! to be of whom it talks to, `sslrootcert` whose word is taken for that.

use crate::files;
use crate::store::Fault;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{self, CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

/// What makes a connection's TLS.
pub(super) type Tls = MakeRustlsConnect;

/// How sure a connection is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// No TLS.
    Disable,
    /// TLS where the server has it, of whomever: against those who only listen.
    Prefer,
    /// TLS of whomever.
    Require,
    /// A certificate of the authority's, for any name.
    VerifyCa,
    /// A certificate of the authority's, for this host.
    VerifyFull,
}

/// What a URL wants of TLS.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    mode: Mode,
    /// A file of authorities; none where the machine's are meant.
    authorities: Option<PathBuf>,
}

impl Wanted {
    /// Takes what a URL, or a line of settings, says of TLS out of it: tokio-postgres knows half of the
    /// words.
    pub fn taken_from(text: &str) -> Result<(String, Self), Fault> {
        let (mut mode, mut authorities) = (None, None);
        let mut keep = |setting: &str, value: &dyn Fn(&str) -> String| {
            match setting.split_once('=') {
                Some(("sslmode", said)) => mode = Some(said.to_owned()),
                Some(("sslrootcert", said)) => authorities = Some(value(said)),
                _ => return true,
            }
            false
        };
        let rest = if text.contains("://") {
            // A password may have a question mark in it.
            let user = text.find('@').unwrap_or_default();
            let (place, settings) = match text[user..].find('?') {
                Some(at) => (&text[..user + at], &text[user + at + 1..]),
                None => (text, ""),
            };
            let rest: Vec<_> = settings.split('&').filter(|one| keep(one, &unescaped)).collect();
            match rest.concat().is_empty() {
                true => place.to_owned(),
                false => format!("{place}?{}", rest.join("&")),
            }
        } else {
            let rest = text.split(' ').filter(|one| keep(one, &|said| said.to_owned()));
            rest.collect::<Vec<_>>().join(" ")
        };
        let authorities = authorities.filter(|said| said != "system").map(PathBuf::from);
        let mode = match (mode.as_deref(), authorities.is_some()) {
            // Whoever names an authority means to be sure.
            (None, true) | (Some("verify-full"), _) => Mode::VerifyFull,
            (None | Some("prefer"), false) => Mode::Prefer,
            (Some("disable"), false) => Mode::Disable,
            (Some("require"), false) => Mode::Require,
            (Some("require" | "verify-ca"), _) => Mode::VerifyCa,
            (Some("disable" | "prefer"), true) => {
                return Err(refused("with sslrootcert it is require, verify-ca or verify-full"));
            }
            (Some(_), _) => {
                return Err(refused("it is disable, prefer, require, verify-ca or verify-full"));
            }
        };
        Ok((rest, Self { mode, authorities }))
    }

    /// Whether there is to be TLS.
    pub fn mode(&self) -> SslMode {
        match self.mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        }
    }

    /// What makes it.
    ///
    /// # Errors
    ///
    /// When there are no authorities to go by.
    pub fn connector(&self) -> Result<Tls, Fault> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone());
        let builder = builder.with_protocol_versions(&[&TLS13]).map_err(|why| unusable(&why))?;
        let unsure = |by| Arc::new(Unsure { by, provider: provider.clone() });
        let builder = match self.mode {
            Mode::VerifyFull => builder.with_root_certificates(self.roots()?),
            Mode::VerifyCa => {
                let roots = Arc::new(self.roots()?);
                let by = WebPkiServerVerifier::builder_with_provider(roots, provider.clone());
                let by = by.build().map_err(|why| unusable(&why))?;
                builder.dangerous().with_custom_certificate_verifier(unsure(Some(by)))
            }
            Mode::Disable | Mode::Prefer | Mode::Require => {
                builder.dangerous().with_custom_certificate_verifier(unsure(None))
            }
        };
        let mut config = builder.with_no_client_auth();
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Tls::new(config))
    }

    fn roots(&self) -> Result<RootCertStore, Fault> {
        let mut roots = RootCertStore::empty();
        let Some(path) = &self.authorities else {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            return match roots.is_empty() {
                true => {
                    Err(refused("this machine has no authorities: name them, sslrootcert=FILE"))
                }
                false => Ok(roots),
            };
        };
        let unfit = |why: &dyn fmt::Display| {
            Fault::Unavailable(format!("sslrootcert={}: {why}", path.display()))
        };
        let text = files::read(path, files::Kind::Certificates, files::PEM_BYTES);
        let text = text.map_err(|why| unfit(&why))?;
        for cert in CertificateDer::pem_slice_iter(&text) {
            let cert = cert.map_err(|why| unfit(&why))?;
            roots.add(cert).map_err(|why| unfit(&why))?;
        }
        match roots.is_empty() {
            true => Err(unfit(&"it has no certificate in PEM")),
            false => Ok(roots),
        }
    }
}

/// Text as it was before a URL took it in.
fn unescaped(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| str::from_utf8(code).ok());
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn refused(why: &str) -> Fault {
    Fault::Unavailable(format!("sslmode: {why}"))
}

fn unusable(why: &dyn fmt::Display) -> Fault {
    Fault::Unavailable(format!("TLS cannot be used: {why}"))
}

/// Takes a certificate for whatever name, where it is an authority's; or anybody's. Whoever shows it has
/// its key in any case.
#[derive(Debug)]
struct Unsure {
    by: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Unsure {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(by) = &self.by else { return Ok(ServerCertVerified::assertion()) };
        let verified =
            by.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The name is looked at last.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, cert, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, cert, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> (String, Mode, Option<PathBuf>) {
        let (rest, wanted) =
            Wanted::taken_from(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        (rest, wanted.mode, wanted.authorities)
    }

    #[test]
    fn what_a_url_says_of_tls_is_taken_out_of_it() {
        let url = |settings: &str| format!("postgres://a@h/d{settings}");
        let (file, none) = (Some(PathBuf::from("/c a.pem")), None::<PathBuf>);
        for (settings, rest, mode, authorities) in [
            ("", "", Mode::Prefer, &none),
            ("?options=-cx", "?options=-cx", Mode::Prefer, &none),
            ("?sslmode=disable", "", Mode::Disable, &none),
            ("?sslmode=require&options=-cx", "?options=-cx", Mode::Require, &none),
            ("?options=-cx&sslmode=verify-full", "?options=-cx", Mode::VerifyFull, &none),
            ("?sslrootcert=/c%20a.pem", "", Mode::VerifyFull, &file),
            ("?sslmode=require&sslrootcert=/c%20a.pem", "", Mode::VerifyCa, &file),
            ("?sslmode=verify-ca&sslrootcert=system", "", Mode::VerifyCa, &none),
        ] {
            assert_eq!(taken(&url(settings)), (url(rest), mode, authorities.clone()), "{settings}");
        }
        let odd = taken("postgres://a:b?c@h/d?sslmode=require");
        assert_eq!((odd.0.as_str(), odd.1), ("postgres://a:b?c@h/d", Mode::Require));
        let line = taken("host=h sslmode=verify-ca sslrootcert=/c%20.pem user=a");
        assert_eq!(line.0, "host=h user=a");
        assert_eq!(
            (line.1, line.2),
            (Mode::VerifyCa, Some("/c%20.pem".into())),
            "no URL escapes it"
        );
    }

    #[test]
    fn what_would_be_less_sure_than_it_looks_is_refused() {
        for settings in ["sslmode=verify", "sslmode=prefer&sslrootcert=/a", "sslmode="] {
            let refused = Wanted::taken_from(&format!("postgres://a:hunter2@h/d?{settings}"));
            let said = refused.expect_err(settings).to_string();
            assert!(said.contains("verify-full") && !said.contains("hunter2"), "{said}");
        }
        let wanted = Wanted { mode: Mode::VerifyFull, authorities: Some("/nowhere.pem".into()) };
        let Err(Fault::Unavailable(why)) = wanted.connector() else { panic!("there is no file") };
        assert!(why.contains("sslrootcert=/nowhere.pem"), "{why}");
    }
}
