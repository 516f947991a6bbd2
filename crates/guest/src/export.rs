//! The one line that makes a component out of a type.

/// Exports a type's hooks from the component: any of `grant`, `before_call` and `after_call`. The type implements
/// [`GrantHook`](crate::GrantHook), [`BeforeCallHook`](crate::BeforeCallHook) or [`AfterCallHook`](crate::AfterCallHook)
/// accordingly. A hook that is not named here is not exported, and the host never asks for it. With `prepare` the type
/// implements [`Prepare`](crate::Prepare) as well, and its instances make themselves ready ahead of their events.
///
/// ```
/// # struct Gate;
/// # impl callgate_guest::BeforeCallHook for Gate {
/// #     fn decide(_: callgate_guest::ToolCall, _: callgate_guest::Row) -> Result<callgate_guest::Verdict, String> {
/// #         Ok(callgate_guest::Verdict::Proceed)
/// #     }
/// # }
/// # impl callgate_guest::AfterCallHook for Gate {
/// #     fn notify(_: callgate_guest::Report) -> Result<(), String> {
/// #         Ok(())
/// #     }
/// # }
/// callgate_guest::export!(Gate: before_call, after_call);
/// ```
#[macro_export]
macro_rules! export {
    ($listener:ident: $($hook:ident),+ $(,)?) => {
        $($crate::__export_hook!($listener $hook);)+
    };
}

// Only a component has exports. A native build, which is what unit tests are, checks just that the hook is there: the exported
// names are no symbols that every linker takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_hook {
    ($listener:ident grant) => {
        const _: () = {
            #[cfg(target_arch = "wasm32")]
    $crate::bindings::grant::export_grant!($listener with_types_in $crate::bindings::grant);
            const fn is_implemented<T: $crate::GrantHook>() {}
            is_implemented::<$listener>();
        };
    };
    ($listener:ident before_call) => {
        const _: () = {
            #[cfg(target_arch = "wasm32")]
    $crate::bindings::before_call::export_before_call!($listener with_types_in $crate::bindings::before_call);
            const fn is_implemented<T: $crate::BeforeCallHook>() {}
            is_implemented::<$listener>();
        };
    };
    ($listener:ident after_call) => {
        const _: () = {
            #[cfg(target_arch = "wasm32")]
    $crate::bindings::after_call::export_after_call!($listener with_types_in $crate::bindings::after_call);
            const fn is_implemented<T: $crate::AfterCallHook>() {}
            is_implemented::<$listener>();
        };
    };
    ($listener:ident prepare) => {
        const _: () = {
            #[cfg(target_arch = "wasm32")]
    $crate::bindings::prepare::export_prepare!($listener with_types_in $crate::bindings::prepare);
            const fn is_implemented<T: $crate::Prepare>() {}
            is_implemented::<$listener>();
        };
    };
}
