//! The whole of callgate: real components, the real binary, real peers.

mod peers;
