//! Measures kube-rs on the same job as the other clients: a reflector with the watcher's defaults for each collection of the
//! mix, and a consumer that reads fields and counts.
//!
//! ```text
//! informer-peers URL PODS EVENTS CHANGED MODE MIX
//! ```

use std::error::Error;
use std::fmt::Debug;
use std::hint::black_box;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client, Config, Resource, ResourceExt};
use serde::de::DeserializeOwned;

/// The resourceVersion that the first object is one newer than, as in bench/peers/job.ts.
const FIRST_VERSION: u64 = 1_000_000;

/// What a reflector tells, with the number of fields that were read.
enum Seen {
    /// An object of a list, with its version.
    Listed(u64),
    /// The end of a list.
    Synced,
    /// An event.
    Event,
    Other,
}

/// Reads a field of an object's metadata, of its spec and of its status. Returns how many of them are set.
trait ReadFields {
    fn read_fields(&self) -> usize;
}

impl ReadFields for Pod {
    fn read_fields(&self) -> usize {
        let spec = self.spec.as_ref().and_then(|spec| spec.node_name.as_ref());
        let status = self.status.as_ref().and_then(|status| status.phase.as_ref());
        set(&self.metadata.resource_version) + usize::from(spec.is_some()) + usize::from(status.is_some())
    }
}

impl ReadFields for Node {
    fn read_fields(&self) -> usize {
        let spec = self.spec.as_ref().and_then(|spec| spec.pod_cidr.as_ref());
        let status = self.status.as_ref().and_then(|status| status.node_info.as_ref());
        set(&self.metadata.resource_version) + usize::from(spec.is_some()) + usize::from(status.is_some())
    }
}

/// A lease has no status.
impl ReadFields for Lease {
    fn read_fields(&self) -> usize {
        let spec = self.spec.as_ref().and_then(|spec| spec.holder_identity.as_ref());
        set(&self.metadata.resource_version) + usize::from(spec.is_some())
    }
}

fn set<T>(field: &Option<T>) -> usize {
    usize::from(field.is_some())
}

/// Follows a collection with a reflector.
fn follow<K>(client: Client) -> impl Stream<Item = Result<Seen, watcher::Error>> + Send
where
    K: Resource<DynamicType = ()> + ReadFields + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let (_, writer) = reflector::store::<K>();
    watcher(Api::<K>::all(client), watcher::Config::default()).default_backoff().reflect(writer).map(|event| {
        Ok(match event? {
            Event::InitApply(object) => {
                black_box(object.read_fields());
                Seen::Listed(version(&object))
            }
            Event::InitDone => Seen::Synced,
            Event::Apply(object) | Event::Delete(object) => {
                black_box(object.read_fields());
                Seen::Event
            }
            Event::Init => Seen::Other,
        })
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, url, pods, events, changed, _, mix] = arguments.as_slice() else {
        return Err("usage: informer-peers URL PODS EVENTS CHANGED MODE MIX".into());
    };
    let (pods, events, changed): (usize, usize, usize) = (pods.parse()?, events.parse()?, changed.parse()?);
    let client = Client::try_from(Config::new(url.parse()?))?;
    let stall = watch_stalls();

    let began = Instant::now();
    let streams: Vec<BoxStream<_>> = match mix.as_str() {
        "heartbeats" => vec![follow::<Node>(client.clone()).boxed(), follow::<Lease>(client).boxed()],
        _ => vec![follow::<Pod>(client).boxed()],
    };
    let mut unsynced = streams.len();
    let mut stream = stream::select_all(streams);
    let (mut synced, mut first, mut last) = (began, began, began);
    let (mut listed, mut updated, mut relisted) = (0, 0, 0);
    // What changes without an event is newer than the last event.
    let newest = FIRST_VERSION + (pods + events) as u64;
    while relisted < changed {
        match stream.next().await.ok_or("the stream has ended")? {
            Ok(Seen::Listed(version)) if version > newest => relisted += 1,
            Ok(Seen::Listed(_)) if unsynced > 0 => listed += 1,
            Ok(Seen::Synced) if unsynced > 0 => {
                unsynced -= 1;
                synced = Instant::now();
            }
            Ok(Seen::Event) => {
                updated += 1;
                if updated == 1 {
                    first = Instant::now();
                }
                if updated == events {
                    last = Instant::now();
                }
            }
            Ok(_) => {}
            // The watch ends with 410 after the last event, which is what the relist is for.
            Err(_) if unsynced == 0 => {}
            Err(error) => return Err(error.into()),
        }
    }
    let end = Instant::now();
    if listed != pods || updated != events {
        return Err(format!("{listed} objects and {updated} events, expected {pods} and {events}").into());
    }
    println!(
        r#"{{"syncMs":{:.2},"eventsPerSecond":{:.2},"stallMs":{:.2},"relistMs":{:.2}}}"#,
        milliseconds(synced - began),
        (events - 1) as f64 / (last - first).as_secs_f64(),
        stall.load(Ordering::Relaxed) as f64 / 1e6,
        milliseconds(end - last),
    );
    // The parent reads memory and CPU time of a process that is still there.
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn version(object: &impl ResourceExt) -> u64 {
    object.resource_version().and_then(|version| version.parse().ok()).expect("an object has a resourceVersion")
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The longest delay, in nanoseconds, of a task that wants to run every 2 ms.
fn watch_stalls() -> Arc<AtomicU64> {
    let worst = Arc::new(AtomicU64::new(0));
    let shared = worst.clone();
    tokio::spawn(async move {
        const PERIOD: Duration = Duration::from_millis(2);
        let mut last = Instant::now();
        loop {
            tokio::time::sleep(PERIOD).await;
            let now = Instant::now();
            shared.fetch_max((now - last).saturating_sub(PERIOD).as_nanos() as u64, Ordering::Relaxed);
            last = now;
        }
    });
    worst
}
