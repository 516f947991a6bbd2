//! The base decision: which roles a section permits for which method (G2).

use std::collections::{BTreeSet, HashMap};

use crate::caller::Caller;
use crate::registry::{Exposure, Reach, Row};

/// Permission entries by method, then by section: the roles that may use the method there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    methods: HashMap<String, HashMap<String, BTreeSet<String>>>,
}

/// What role filtering says about one row, and why: for those who explain a decision to an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseDecision {
    /// The section permits the method for a role that the caller holds.
    RolePermitted,
    /// No permission entry names the method, and such rows are shown to every signed-in caller.
    ShownToAll,
    /// The method has permission entries, and none of them is for the row's section and a role of the caller.
    RoleMissing,
    /// No permission entry names the method, and such rows are withheld.
    WithheldUnlessPermitted,
    /// No permission entry names the method of a generic row, which is withheld unless one does (G9).
    GenericUnlessPermitted,
}

impl BaseDecision {
    /// Whether the row stays.
    pub fn permits(self) -> bool {
        match self {
            Self::RolePermitted | Self::ShownToAll => true,
            Self::RoleMissing | Self::WithheldUnlessPermitted | Self::GenericUnlessPermitted => false,
        }
    }
}

impl Permissions {
    /// Adds an entry: callers with one of these roles may use the method in rows of that section. An entry without roles
    /// permits nobody.
    pub fn permit(
        &mut self,
        section: impl Into<String>,
        method: impl Into<String>,
        roles: impl IntoIterator<Item = impl Into<String>>,
    ) {
        let sections = self.methods.entry(method.into()).or_default();
        sections.entry(section.into()).or_default().extend(roles.into_iter().map(Into::into));
    }

    /// Whether a permission entry names that method, whatever the section.
    pub fn names(&self, method: &str) -> bool {
        self.methods.contains_key(method)
    }

    /// Methods that entries name, in no order.
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.methods.keys().map(String::as_str)
    }

    /// What role filtering says about that row for that caller.
    pub fn decide(&self, caller: &Caller, row: &Row) -> BaseDecision {
        let Some(sections) = self.methods.get(&row.rpc_method) else {
            return match (row.reach, row.exposure) {
                (Reach::Generic, _) => BaseDecision::GenericUnlessPermitted,
                (Reach::Bounded, Exposure::Withheld) => BaseDecision::WithheldUnlessPermitted,
                (Reach::Bounded, Exposure::Shown) => BaseDecision::ShownToAll,
            };
        };
        let roles = row.section.as_ref().and_then(|section| sections.get(section));
        match roles {
            Some(roles) if roles.iter().any(|role| caller.has_role(role)) => BaseDecision::RolePermitted,
            _ => BaseDecision::RoleMissing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{caller, row};

    fn permissions() -> Permissions {
        let mut permissions = Permissions::default();
        permissions.permit("files", "files/read", ["reader", "writer"]);
        permissions.permit("files", "files/write", ["writer"]);
        permissions.permit("files", "files/none", Vec::<String>::new());
        permissions
    }

    fn in_section(section: Option<&str>, method: &str) -> Row {
        Row { rpc_method: method.into(), section: section.map(Into::into), ..row("any") }
    }

    #[test]
    fn g2_a_section_permits_a_method_to_roles() {
        let permissions = permissions();
        let decide =
            |roles: &[&str], method| permissions.decide(&caller("ada", roles), &in_section(Some("files"), method));
        assert_eq!(decide(&["reader"], "files/read"), BaseDecision::RolePermitted);
        assert_eq!(decide(&["other", "writer"], "files/write"), BaseDecision::RolePermitted);
        assert_eq!(decide(&["reader"], "files/write"), BaseDecision::RoleMissing);
        assert_eq!(decide(&[], "files/read"), BaseDecision::RoleMissing);
        assert_eq!(decide(&["writer"], "files/none"), BaseDecision::RoleMissing);
    }

    #[test]
    fn g2_entries_of_another_section_do_not_permit() {
        let writer = caller("ada", &["writer"]);
        for section in [None, Some("mail")] {
            let row = in_section(section, "files/read");
            assert_eq!(permissions().decide(&writer, &row), BaseDecision::RoleMissing);
        }
    }

    #[test]
    fn g2_a_method_without_entry_is_for_every_caller_unless_unlisted_rows_are_withheld() {
        let nobody_special = caller("ada", &[]);
        let shown = in_section(Some("files"), "files/stat");
        assert_eq!(permissions().decide(&nobody_special, &shown), BaseDecision::ShownToAll);
        let withheld = Row { exposure: Exposure::Withheld, ..shown };
        assert_eq!(permissions().decide(&nobody_special, &withheld), BaseDecision::WithheldUnlessPermitted);
    }

    #[test]
    fn g9_a_generic_row_is_withheld_unless_an_entry_names_it() {
        let writer = caller("ada", &["writer"]);
        let generic = |method| Row { reach: Reach::Generic, ..in_section(Some("files"), method) };
        assert_eq!(permissions().decide(&writer, &generic("url/get")), BaseDecision::GenericUnlessPermitted);
        assert_eq!(permissions().decide(&writer, &generic("files/read")), BaseDecision::RolePermitted);
    }

    #[test]
    fn only_two_of_the_five_permit() {
        use BaseDecision::*;
        for (decision, permits) in [
            (RolePermitted, true),
            (ShownToAll, true),
            (RoleMissing, false),
            (WithheldUnlessPermitted, false),
            (GenericUnlessPermitted, false),
        ] {
            assert_eq!(decision.permits(), permits);
        }
    }

    #[test]
    fn methods_that_entries_name_are_known() {
        let permissions = permissions();
        assert!(permissions.names("files/none") && !permissions.names("files/stat"));
        assert_eq!(permissions.methods().count(), 3);
    }
}
