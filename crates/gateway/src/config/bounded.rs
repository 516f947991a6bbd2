//! Numbers with a unit in their key and bounds in their type.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};

/// A whole number from `MIN` to `MAX`.
// INVARIANT: the number is within its bounds: only `deserialize` makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounded<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Bounded<MIN, MAX> {
    /// The number.
    pub(super) fn get(self) -> u32 {
        self.0
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Bounded<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        let within = u32::try_from(number).ok().filter(|number| (MIN..=MAX).contains(number));
        within.map(Self).ok_or_else(|| D::Error::custom(format_args!("{number} is not a number from {MIN} to {MAX}")))
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Bounded<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Number{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

impl<const MIN: u32, const MAX: u32> fmt::Display for Bounded<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct Table {
        n: Bounded<2, 5>,
    }

    #[test]
    fn both_bounds_are_inside_and_nothing_else_is() {
        for (text, number) in [("n = 2", 2), ("n = 5", 5)] {
            assert_eq!(toml::from_str::<Table>(text).unwrap().n.get(), number);
        }
        for text in ["n = 1", "n = 6", "n = -2", "n = 4294967298", "n = 2.0", "n = '2'"] {
            assert!(toml::from_str::<Table>(text).is_err(), "{text}");
        }
        let error = toml::from_str::<Table>("n = 6").unwrap_err();
        assert_eq!(error.message(), "6 is not a number from 2 to 5");
    }
}
