//! The servers behind the gateway.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callgate_core::registry::{Exposure, Reach};
use toml::Spanned;

use super::Findings;
use crate::config::document::{ToolTable, Unlisted, UpstreamTable};
use crate::config::{Command, Source, ToolConfig, Upstream};

pub(super) fn resolve(tables: BTreeMap<Spanned<String>, UpstreamTable>, found: &mut Findings<'_>) -> Vec<Upstream> {
    let mut upstreams = Vec::new();
    for (name, table) in tables {
        found.check_name("an upstream", &name);
        if let Some(prefix) = &table.prefix {
            check_prefix(prefix, found);
        }
        let command = resolve_command(&table, found);
        let line = found.line(&name);
        let section = table.section.unwrap_or_else(|| name.get_ref().clone());
        upstreams.push(Upstream {
            name: name.into_inner(),
            line,
            command,
            unlisted: match table.unlisted {
                Unlisted::Shown => Exposure::Shown,
                Unlisted::Hidden => Exposure::Withheld,
            },
            section,
            prefix: table.prefix.map(Spanned::into_inner),
            tools: table.tool.into_iter().map(|(name, table)| resolve_tool(name, table, found)).collect(),
        });
    }
    upstreams
}

fn resolve_command(table: &UpstreamTable, found: &mut Findings<'_>) -> Command {
    let (program, arguments) = match table.command.get_ref().split_first() {
        Some((program, arguments)) if !program.is_empty() => (program.as_str(), arguments.to_vec()),
        _ => {
            found.at(&table.command, "the command is empty");
            ("", Vec::new())
        }
    };
    let program = program_path(program, found.source).unwrap_or_else(|path| {
        found.at(&table.command, format!("the path of the program is no UTF-8: {}", path.display()));
        String::new()
    });
    let directory = table.cwd.as_ref().map(|directory| found.source.resolve(directory));
    Command { program, arguments, environment: table.env.clone(), directory }
}

/// A bare name is looked up in `PATH`; anything with a folder in it is a path that the file means.
fn program_path(program: &str, source: &Source) -> Result<String, PathBuf> {
    let path = Path::new(program);
    if path.components().count() < 2 {
        return Ok(program.to_owned());
    }
    source.resolve(path).into_os_string().into_string().map_err(Into::into)
}

fn check_prefix(prefix: &Spanned<String>, found: &mut Findings<'_>) {
    let allowed = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '-');
    if !(1..=64).contains(&prefix.get_ref().len()) || !prefix.get_ref().chars().all(allowed) {
        let reason = format!("a prefix has 1 to 64 letters, digits, '_', '.' or '-', not '{}'", prefix.get_ref());
        found.at(prefix, reason);
    }
}

fn resolve_tool(name: Spanned<String>, table: ToolTable, found: &Findings<'_>) -> (String, ToolConfig) {
    let reach = if table.generic { Reach::Generic } else { Reach::Bounded };
    let line = found.line(&name);
    (name.into_inner(), ToolConfig { line, section: table.section, reach })
}
