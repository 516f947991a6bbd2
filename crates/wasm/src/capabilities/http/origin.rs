//! Where a request may go: scheme, host and port, compared as a whole.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Scheme, host and port. Two that are spelled differently are the same if they mean the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    pub(super) scheme: Scheme,
    pub(super) host: Host,
    pub(super) port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scheme {
    Http,
    Https,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Host {
    /// In lower case.
    Name(String),
    Address(IpAddr),
}

/// Why a text is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OriginError {
    /// It begins with something else.
    #[error("an origin begins with http:// or https://")]
    Scheme,
    /// There is more than an origin has.
    #[error("an origin has a host and perhaps a port, and neither user nor path nor query")]
    More,
    /// The host is none.
    #[error(
        "'{0}' is no host: it is a name in ASCII (xn--… for other letters), an IPv4 address or an IPv6 address in brackets"
    )]
    Host(String),
    /// The port is none.
    #[error("'{0}' is no port: it is a number from 1 to 65535")]
    Port(String),
}

impl Scheme {
    fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Origin {
    /// Host and port as a `Host` header spells them.
    pub(super) fn authority(&self) -> String {
        if self.port == self.scheme.port() { self.host.to_string() } else { format!("{}:{}", self.host, self.port) }
    }
}

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let (scheme, rest) = text.split_once("://").ok_or(OriginError::Scheme)?;
        let scheme = [Scheme::Http, Scheme::Https]
            .into_iter()
            .find(|known| known.as_str().eq_ignore_ascii_case(scheme))
            .ok_or(OriginError::Scheme)?;
        if rest.contains(['/', '\\', '?', '#', '@']) {
            return Err(OriginError::More);
        }
        // The colons of an IPv6 address are within its brackets.
        let (host, port) = match rest.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
            Some((host, port)) => (host, read_port(port)?),
            None => (rest, scheme.port()),
        };
        Ok(Self { scheme, host: host.parse()?, port })
    }
}

fn read_port(text: &str) -> Result<u16, OriginError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let port = text.parse().ok().filter(|port| digits && *port != 0);
    port.ok_or_else(|| OriginError::Port(text.to_owned()))
}

impl FromStr for Host {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let wrong = || OriginError::Host(text.to_owned());
        if let Some(address) = text.strip_prefix('[') {
            let address = address.strip_suffix(']').ok_or_else(wrong)?;
            return Ok(Self::Address(address.parse::<Ipv6Addr>().map_err(|_| wrong())?.into()));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(Self::Address(address.into()));
        }
        let last = text.rsplit('.').next().unwrap_or_default();
        // Resolvers read `127.1` and `0x7f000001` as addresses.
        let number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x") || last.starts_with("0X");
        if text.len() > 253 || number || !text.split('.').all(is_label) {
            return Err(wrong());
        }
        Ok(Self::Name(text.to_ascii_lowercase()))
    }
}

fn is_label(label: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=63).contains(&label.len()) && label.bytes().all(plain) && !label.starts_with('-') && !label.ends_with('-')
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.authority())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> Origin {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn spellings_of_one_origin_are_equal() {
        origin("http://3scale:8080");
        let same = [
            ("https://api.example.com", "HTTPS://API.Example.com:443"),
            ("http://127.0.0.1", "http://127.0.0.1:80"),
            ("http://[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080"),
        ];
        for (left, right) in same {
            assert_eq!(origin(left), origin(right));
            assert_eq!(origin(right).to_string(), left);
        }
    }

    #[test]
    fn every_part_of_an_origin_counts() {
        let api = origin("https://api.example.com");
        for other in [
            "http://api.example.com",
            "https://api.example.com:8443",
            "https://example.com",
            "https://api.example.com.evil.example",
            "https://api-example.com",
        ] {
            assert_ne!(origin(other), api);
        }
    }

    #[test]
    fn what_is_more_or_less_than_an_origin_is_refused() {
        for text in ["", "api.example.com", "//api.example.com", "ftp://api.example.com", "https:/api.example.com"] {
            assert_eq!(text.parse::<Origin>(), Err(OriginError::Scheme), "{text}");
        }
        for rest in ["a.com/", "a.com/path", "a.com?q", "a.com#f", "user@a.com", "a:b@a.com", "a.com\\.b.com"] {
            assert_eq!(format!("https://{rest}").parse::<Origin>(), Err(OriginError::More), "{rest}");
        }
        for port in ["", "0", "65536", "+80", "8o", " 80"] {
            let refused = format!("https://a.com:{port}").parse::<Origin>();
            assert_eq!(refused, Err(OriginError::Port(port.into())));
        }
        for host in [
            "",
            ".",
            "a..b",
            "a.com.",
            "*.a.com",
            "bücher.example",
            "a b",
            "-a.com",
            "127.1",
            "2130706433",
            "0x7f000001",
            "a.0x7f",
            "1.2.3.256",
            "[::1",
            "[fe80::1%eth0]",
            "[a.com]",
            "::1]",
            "127.0.0.01",
        ] {
            let refused = format!("https://{host}").parse::<Origin>();
            assert!(matches!(refused, Err(OriginError::Host(_) | OriginError::Port(_))), "{host}: {refused:?}");
        }
    }
}
