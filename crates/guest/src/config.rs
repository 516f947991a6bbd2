//! The listener's own values from the host's configuration: what stands under `[listener.NAME.config]`.

use serde::de::DeserializeOwned;

use crate::host;

/// A value is configured and is not what the listener expects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the configured `{key}` does not fit: {detail}")]
pub struct ConfigError {
    /// The key that was looked up.
    pub key: String,
    /// What did not fit.
    pub detail: String,
}

impl From<ConfigError> for String {
    fn from(error: ConfigError) -> Self {
        error.to_string()
    }
}

/// The value under that key, none where the configuration has no such key.
///
/// # Errors
/// When the value does not fit the type. Handing that on with `?` fails the event: a listener whose configuration is wrong
/// has not decided.
pub fn get<T: DeserializeOwned>(key: &str) -> Result<Option<T>, ConfigError> {
    let Some(text) = host::config::get(key) else {
        return Ok(None);
    };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| ConfigError { key: key.to_owned(), detail: error.to_string() })
}

/// The value under that key, or the given one where the configuration has no such key.
///
/// # Errors
/// When the value does not fit the type.
pub fn get_or<T: DeserializeOwned>(key: &str, default: T) -> Result<T, ConfigError> {
    Ok(get(key)?.unwrap_or(default))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestHost;

    #[test]
    fn a_value_has_its_type_or_is_an_error() {
        let _host = TestHost::new().configure("hours", "24");
        assert_eq!(get::<u32>("hours"), Ok(Some(24)));
        assert_eq!(get::<u32>("absent"), Ok(None));
        assert_eq!(get_or("absent", 7), Ok(7));
        assert_eq!(get_or("hours", 7), Ok(24));
        assert_eq!(get::<String>("hours").unwrap_err().key, "hours");
    }
}
