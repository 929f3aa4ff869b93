//! Where the time of an exchange went, as a rank reports it.

use super::rounds::Times;
use crate::seconds::seconds;
use serde::Serialize;
use std::time::Duration;

/// Where the time of an exchange between ranks went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Exchanged {
    /// Seconds to cut what is sent by ranks, and to put together what came from others.
    #[serde(rename = "cut_s", serialize_with = "seconds")]
    pub cut: Duration,
    /// Seconds of it that kernels cut; none where the host does.
    #[serde(rename = "cut_device_s", serialize_with = "seconds")]
    pub cut_device: Duration,
    /// Seconds to send and receive, and to wait for the others.
    #[serde(rename = "exchange_s", serialize_with = "seconds")]
    pub exchange: Duration,
    /// Seconds of the exchange in which the rank did other work, too: it cut, put together, or had its device at work.
    #[serde(rename = "hidden_s", serialize_with = "seconds")]
    pub hidden: Duration,
}

impl Exchanged {
    /// Of these times, of which so much of the exchange was beside other work.
    pub(crate) fn new(times: &Times, hidden: Duration) -> Self {
        Exchanged {
            cut: times.work.sum(),
            cut_device: times.kernels,
            exchange: times.exchange.sum(),
            hidden,
        }
    }
}
