//! What is said about a configuration that does not hold, and its schema.

use crate::rig::Rig;

#[test]
fn every_command_that_reads_the_file_names_its_faults_by_line() {
    let rig = Rig::new("listeners = [\"gate\"]\nlistener-x = 1\n");
    for command in [
        &["check"][..],
        &["serve"],
        &["explain", "--as", "ada", "--tool", "t"],
        &["approve"],
        &["state", "list", "--listener", "gate"],
    ] {
        let complaint = rig.run(command).refused();
        assert!(complaint.starts_with("callgate.toml:2: unknown field `listener-x`"), "{command:?}: {complaint}");
    }
    rig.write("callgate.toml", "listeners = [\"gate\"]\n\n[stdio]\ncaller = \"ada\"\n");
    let complaint = rig.run(&["check"]).refused();
    let lines: Vec<_> = complaint.lines().collect();
    assert_eq!(
        lines,
        [
            "callgate.toml:4: there is no [caller.ada] to run the stdio session as",
            "callgate.toml:1: listener 'gate' has no table [listener.gate]",
        ]
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let complaint = Rig::new("").run(&["check", "--config", "other.toml"]).refused();
    assert!(complaint.starts_with("other.toml: the file can not be read: "), "{complaint}");
}

#[test]
fn the_schema_describes_every_key() {
    let schema = Rig::new("").run(&["schema"]).said();
    insta::assert_snapshot!("schema", schema);
    assert_eq!(Rig::new("").run(&["config-schema"]).said(), schema);
}
