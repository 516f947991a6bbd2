//! The server in front of upstreams that the tests play themselves, line by line.

mod rig;

mod bypass;
mod call;
mod cancel;
mod child;
mod listing;
mod modern;
mod native;
mod refresh;
mod several;
mod tasks;
mod verbatim;
