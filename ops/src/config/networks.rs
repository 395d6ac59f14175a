//! Lists of networks in settings: a network such as `10.0.0.0/8`, or one address. Addresses to listen on.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What an entry may be.
const ALLOWED: &str = "a network such as 10.0.0.0/8 or an address such as 127.0.0.1";

/// Writes networks as they are read.
///
/// # Errors
/// Those of the serializer.
pub(super) fn serialize<S: Serializer>(
    networks: &[IpNet],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    networks.serialize(serializer)
}

/// Reads networks; an address is the network of this address only.
///
/// # Errors
/// An entry is neither; the text says what is allowed.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<IpNet>, D::Error> {
    let entries = Vec::<String>::deserialize(deserializer)?;
    let network = |entry: &String| {
        let address = || entry.parse::<IpAddr>().map(IpNet::from);
        let network = entry.parse::<IpNet>().or_else(|_| address());
        let wrong =
            |_| serde::de::Error::custom(format!("{entry:?} is no network; allowed: {ALLOWED}"));
        network.map_err(wrong)
    };
    entries.iter().map(network).collect()
}

/// Reads an address to listen on.
///
/// # Errors
/// It is none; the text says what is allowed.
pub(super) fn listen<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    let wrong = |_| {
        let allowed = "an IP address and a port such as 127.0.0.1:8080";
        serde::de::Error::custom(format!(
            "{text:?} is no address to listen on; allowed: {allowed}"
        ))
    };
    text.parse().map_err(wrong)
}
