//! `wasi:sockets`, which no listener has: who may be reached could not be said.

use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::{self, HostResolveAddressStream, ResolveAddressStream};
use wasmtime_wasi::p2::bindings::sockets::network::{
    self, ErrorCode, HostNetwork, IpAddress, IpAddressFamily, Network,
};
use wasmtime_wasi::p2::bindings::sockets::{tcp_create_socket, udp_create_socket};
use wasmtime_wasi::p2::{DynPollable, SocketError, SocketResult, TcpSocket, UdpSocket};
use wasmtime_wasi::sockets::WasiSocketsView;

use crate::event::EventState;

use super::refusals::Refused;

impl EventState {
    fn refuse_sockets<T>(&self) -> SocketResult<T> {
        self.grants.refused(Refused::Sockets);
        Err(ErrorCode::AccessDenied.into())
    }
}

impl tcp_create_socket::Host for EventState {
    fn create_tcp_socket(&mut self, _: IpAddressFamily) -> SocketResult<Resource<TcpSocket>> {
        self.refuse_sockets()
    }
}

impl udp_create_socket::Host for EventState {
    async fn create_udp_socket(&mut self, _: IpAddressFamily) -> SocketResult<Resource<UdpSocket>> {
        self.refuse_sockets()
    }
}

impl ip_name_lookup::Host for EventState {
    fn resolve_addresses(&mut self, _: Resource<Network>, _: String) -> SocketResult<Resource<ResolveAddressStream>> {
        self.refuse_sockets()
    }
}

/// A stream that is never made: the functions are there because the interface has them.
impl HostResolveAddressStream for EventState {
    fn resolve_next_address(&mut self, stream: Resource<ResolveAddressStream>) -> SocketResult<Option<IpAddress>> {
        self.sockets().resolve_next_address(stream)
    }

    fn subscribe(&mut self, stream: Resource<ResolveAddressStream>) -> wasmtime::Result<Resource<DynPollable>> {
        HostResolveAddressStream::subscribe(&mut self.sockets(), stream)
    }

    fn drop(&mut self, stream: Resource<ResolveAddressStream>) -> wasmtime::Result<()> {
        HostResolveAddressStream::drop(&mut self.sockets(), stream)
    }
}

/// What the interfaces above share, as WASI has it.
impl network::Host for EventState {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        network::Host::convert_error_code(&mut self.sockets(), error)
    }

    fn network_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        network::Host::network_error_code(&mut self.sockets(), error)
    }
}

impl HostNetwork for EventState {
    fn drop(&mut self, network: Resource<Network>) -> wasmtime::Result<()> {
        HostNetwork::drop(&mut self.sockets(), network)
    }
}
