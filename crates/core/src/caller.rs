//! The signed-in identity on whose behalf a request runs.

use crate::json::Entry;

/// The most of each field that an identity may carry.
const MAX_TEXT: usize = 1_024;
const MAX_ROLES: usize = 256;
const MAX_CLAIMS_BYTES: usize = 64 * 1_024;

/// Who a request runs for. Two callers are the same only if they are equal in every field.
///
/// An identity beyond its bounds is no identity (G7), so a value of this type always fits: texts of 1 to 1,024 bytes, at
/// most 256 roles, claims and attributes of at most 64 KiB together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    identity: Identity,
}

/// The parts of an identity, as whoever established it knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The name of the identity, unique among those of one issuer.
    pub subject: String,
    /// Who vouches for the subject; none when the host's own configuration does.
    pub issuer: Option<String>,
    /// How the identity was established, for example `config` or `jwt`.
    pub auth_method: String,
    /// What the caller may be treated as.
    pub roles: Vec<String>,
    /// The organisation that the caller belongs to.
    pub tenant: Option<String>,
    /// Every verified claim.
    pub claims: Vec<Entry>,
    /// What the host adds.
    pub attributes: Vec<Entry>,
}

/// Why an identity is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallerError {
    /// A text is empty or too long.
    #[error("{0} must have 1 to {MAX_TEXT} bytes")]
    Text(&'static str),
    /// Too many roles.
    #[error("more than {MAX_ROLES} roles")]
    TooManyRoles,
    /// Claims and attributes are too large.
    #[error("claims and attributes of more than {MAX_CLAIMS_BYTES} bytes")]
    ClaimsTooLarge,
}

impl Caller {
    /// A caller with that identity.
    ///
    /// # Errors
    /// When a part of it is outside its bounds. Nothing is ever cut off to make it fit.
    pub fn new(identity: Identity) -> Result<Self, CallerError> {
        let texts = [("subject", Some(&identity.subject)), ("auth method", Some(&identity.auth_method))];
        let optional = [("issuer", identity.issuer.as_ref()), ("tenant", identity.tenant.as_ref())];
        let roles = identity.roles.iter().map(|role| ("role", Some(role)));
        for (name, text) in texts.into_iter().chain(optional).chain(roles) {
            if text.is_some_and(|text| text.is_empty() || text.len() > MAX_TEXT) {
                return Err(CallerError::Text(name));
            }
        }
        if identity.roles.len() > MAX_ROLES {
            return Err(CallerError::TooManyRoles);
        }
        let entries = identity.claims.iter().chain(&identity.attributes);
        let bytes: usize = entries.map(|entry| entry.key.len() + entry.value.as_str().len()).sum();
        if bytes > MAX_CLAIMS_BYTES {
            return Err(CallerError::ClaimsTooLarge);
        }
        Ok(Self { identity })
    }

    /// The parts of the identity.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The identity's name.
    pub fn subject(&self) -> &str {
        &self.identity.subject
    }

    /// Whether the caller holds that role.
    pub fn has_role(&self, role: &str) -> bool {
        self.identity.roles.iter().any(|held| held == role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    fn identity() -> Identity {
        Identity { subject: "ada".into(), auth_method: "config".into(), ..Identity::default() }
    }

    #[test]
    fn g7_an_identity_beyond_its_bounds_is_no_identity() {
        let long = "x".repeat(MAX_TEXT + 1);
        let cases: [(Identity, CallerError); 7] = [
            (Identity { subject: String::new(), ..identity() }, CallerError::Text("subject")),
            (Identity { subject: long.clone(), ..identity() }, CallerError::Text("subject")),
            (Identity { auth_method: String::new(), ..identity() }, CallerError::Text("auth method")),
            (Identity { tenant: Some(long.clone()), ..identity() }, CallerError::Text("tenant")),
            (Identity { roles: vec![long.clone()], ..identity() }, CallerError::Text("role")),
            (Identity { roles: vec!["r".into(); MAX_ROLES + 1], ..identity() }, CallerError::TooManyRoles),
            (
                Identity {
                    claims: vec![Entry { key: "k".into(), value: Json::string(&"x".repeat(MAX_CLAIMS_BYTES)) }],
                    ..identity()
                },
                CallerError::ClaimsTooLarge,
            ),
        ];
        for (identity, error) in cases {
            assert_eq!(Caller::new(identity), Err(error));
        }
    }

    #[test]
    fn the_bounds_themselves_are_inside() {
        let widest = Identity {
            subject: "x".repeat(MAX_TEXT),
            roles: vec!["r".into(); MAX_ROLES],
            claims: vec![Entry { key: String::new(), value: Json::string(&"x".repeat(MAX_CLAIMS_BYTES - 2)) }],
            ..identity()
        };
        let caller = Caller::new(widest).unwrap();
        assert!(caller.has_role("r"));
        assert!(!caller.has_role("s"));
    }
}
