//! What the generator makes of `/wit/v0.1`.
//!
//! There is one module a hook, because a generated world demands every hook that it names and a component may export any
//! subset. The types that hooks share are generated once, in [`shared`], and every hook's module refers to those.

pub mod shared {
    wit_bindgen::generate!({
        path: "../../wit/v0.1",
        inline: "
            package callgate:guest;
            world shared {
                include callgate:listener/host@0.1.0;
                import callgate:listener/types@0.1.0;
                import callgate:listener/registry@0.1.0;
            }
        ",
        additional_derives: [PartialEq],
        generate_all,
    });
}

pub mod grant {
    wit_bindgen::generate!({
        path: "../../wit/v0.1",
        world: "callgate:listener/grant-listener",
        with: {
            "callgate:listener/types@0.1.0": super::shared::callgate::listener::types,
            "callgate:listener/registry@0.1.0": super::shared::callgate::listener::registry,
            "callgate:host/log@0.1.0": super::shared::callgate::host::log,
            "callgate:host/config@0.1.0": super::shared::callgate::host::config,
            "callgate:host/state@0.1.0": super::shared::callgate::host::state,
        },
        additional_derives: [PartialEq],
        pub_export_macro: true,
        export_macro_name: "export_grant",
    });
}

pub mod before_call {
    wit_bindgen::generate!({
        path: "../../wit/v0.1",
        world: "callgate:listener/before-call-listener",
        with: {
            "callgate:listener/types@0.1.0": super::shared::callgate::listener::types,
            "callgate:host/log@0.1.0": super::shared::callgate::host::log,
            "callgate:host/config@0.1.0": super::shared::callgate::host::config,
            "callgate:host/state@0.1.0": super::shared::callgate::host::state,
        },
        additional_derives: [PartialEq],
        pub_export_macro: true,
        export_macro_name: "export_before_call",
    });
}

pub mod after_call {
    wit_bindgen::generate!({
        path: "../../wit/v0.1",
        world: "callgate:listener/after-call-listener",
        with: {
            "callgate:listener/types@0.1.0": super::shared::callgate::listener::types,
            "callgate:host/log@0.1.0": super::shared::callgate::host::log,
            "callgate:host/config@0.1.0": super::shared::callgate::host::config,
            "callgate:host/state@0.1.0": super::shared::callgate::host::state,
        },
        additional_derives: [PartialEq],
        pub_export_macro: true,
        export_macro_name: "export_after_call",
    });
}

pub mod prepare {
    wit_bindgen::generate!({
        path: "../../wit/v0.1",
        world: "callgate:listener/prepared",
        with: {
            "callgate:listener/types@0.1.0": super::shared::callgate::listener::types,
            "callgate:listener/registry@0.1.0": super::shared::callgate::listener::registry,
            "callgate:host/log@0.1.0": super::shared::callgate::host::log,
            "callgate:host/config@0.1.0": super::shared::callgate::host::config,
            "callgate:host/state@0.1.0": super::shared::callgate::host::state,
        },
        pub_export_macro: true,
        export_macro_name: "export_prepare",
    });
}
