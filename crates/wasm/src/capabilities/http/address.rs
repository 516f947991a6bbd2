//! Which addresses are everybody's. A name is only as good as what it resolves to at the moment of the request.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Who can be reached at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// A host of the internet.
    Public,
    /// This machine, its network, or a service of the cloud that it runs in.
    Private,
    /// Nobody, or everybody at once.
    Nowhere,
}

/// Says who can be reached at that address.
pub(super) fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

/// After IANA's registry of addresses for special purposes.
fn reach_v4(address: Ipv4Addr) -> Reach {
    match address.octets() {
        // Connecting to 0.0.0.0 reaches this machine.
        [0 | 10 | 127, ..]
        | [100, 64..=127, ..]
        | [169, 254, ..]
        | [172, 16..=31, ..]
        | [192, 168, ..]
        | [192, 0, 0, _]
        | [198, 18 | 19, ..] => Reach::Private,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] | [192, 88, 99, _] | [224..=255, ..] => Reach::Nowhere,
        _ => Reach::Public,
    }
}

/// Everything outside of what is given to hosts of the internet is private, so that what is added later is as well. An
/// address that carries an IPv4 address leads there.
fn reach_v6(address: Ipv6Addr) -> Reach {
    let [first, second, ..] = address.segments();
    let [.., a, b, c, d] = address.octets();
    let carried = Ipv4Addr::new(a, b, c, d);
    match address.segments() {
        // IPv4-mapped, and NAT64 at its well-known prefix.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => reach_v4(carried),
        // 6to4.
        [0x2002, high, low, ..] => {
            let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
            reach_v4(Ipv4Addr::new(a, b, c, d))
        }
        // ISATAP: the carried address is that of the host.
        [.., 0 | 0x200, 0x5efe, _, _] if reach_v4(carried) != Reach::Public => Reach::Private,
        [0xff00..=0xffff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => Reach::Nowhere,
        // Teredo, ORCHID, benchmarks and other protocols.
        _ if first == 0x2001 && second < 0x200 => Reach::Private,
        [0x2000..=0x3fff, ..] => Reach::Public,
        _ => Reach::Private,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Reach {
        reach(text.parse().unwrap_or_else(|_| panic!("{text}")))
    }

    #[test]
    fn addresses_that_are_not_everybodys() {
        for private in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.0.8",
            "198.18.0.1",
            "198.19.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "2002:c0a8:101::1",
            "fc00::1",
            "fdff::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:2::1",
            "2606:4700::5efe:10.0.0.1",
            "2606:4700::200:5efe:127.0.0.1",
            "100::1",
            "5f00::1",
            "4000::1",
        ] {
            assert_eq!(of(private), Reach::Private, "{private}");
        }
        for nowhere in [
            "192.0.2.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "192.88.99.1",
            "ff02::1",
            "ff0e::1",
            "2001:db8::1",
            "3fff::1",
            "::ffff:224.0.0.1",
            "2002:e000:1::",
            "64:ff9b::203.0.113.1",
        ] {
            assert_eq!(of(nowhere), Reach::Nowhere, "{nowhere}");
        }
    }

    #[test]
    fn addresses_of_the_internet() {
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "2a00::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
        ] {
            assert_eq!(of(public), Reach::Public, "{public}");
        }
    }

    proptest! {
        /// There is no spelling of an IPv4 address as an IPv6 address that reaches more.
        #[test]
        fn an_address_in_another_reaches_no_more(octets: [u8; 4], tail: u64) {
            let v4 = Ipv4Addr::from(octets);
            let [a, b, c, d] = octets.map(u128::from);
            let carried = a << 24 | b << 16 | c << 8 | d;
            let forms = [
                0xffff_u128 << 32 | carried,
                0xffff_u128 << 48 | carried,
                carried,
                0x64_ff9b_u128 << 96 | carried,
                0x64_ff9b_0001_u128 << 80 | carried,
                0x2002_u128 << 112 | carried << 80 | u128::from(tail),
                0x2606_4700_u128 << 96 | 0x5efe_u128 << 32 | carried,
            ];
            for form in forms.map(Ipv6Addr::from) {
                let reached = reach(form.into());
                prop_assert!(reached != Reach::Public || reach(v4.into()) == Reach::Public, "{form} for {v4}");
            }
        }

        /// The standard library knows most of the ranges by name.
        #[test]
        fn what_the_standard_library_knows_to_be_special_is_not_public(bits: u32, wide: u128) {
            let v4 = Ipv4Addr::from(bits);
            let special = v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_broadcast()
                || v4.is_documentation() || v4.is_multicast() || v4.is_unspecified();
            prop_assert!(!special || reach(v4.into()) != Reach::Public, "{v4}");
            let v6 = Ipv6Addr::from(wide);
            let special = v6.is_loopback() || v6.is_multicast() || v6.is_unspecified() || v6.is_unique_local()
                || v6.is_unicast_link_local();
            prop_assert!(!special || reach(v6.into()) != Reach::Public, "{v6}");
        }
    }
}
