//! Measures kube-rs on the same job as the other clients: a reflector with the watcher's defaults, and a counting consumer.
//!
//! ```text
//! informer-peers URL PODS EVENTS CHANGED
//! ```

use std::error::Error;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client, Config, ResourceExt};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, url, pods, events, changed] = arguments.as_slice() else {
        return Err("usage: informer-peers URL PODS EVENTS CHANGED".into());
    };
    let (pods, events, changed): (usize, usize, usize) = (pods.parse()?, events.parse()?, changed.parse()?);
    let client = Client::try_from(Config::new(url.parse()?))?;
    let stall = watch_stalls();

    let began = Instant::now();
    let (reader, writer) = reflector::store::<Pod>();
    let stream = watcher(Api::<Pod>::all(client), watcher::Config::default()).default_backoff().reflect(writer);
    let mut stream = std::pin::pin!(stream);
    let (mut synced, mut first, mut last) = (began, began, began);
    let (mut listed, mut updated, mut relisted) = (0, 0, 0);
    // What the relist brings is counted as changed when its version is newer than the last event's.
    let mut newest = 0;
    while relisted < changed {
        match stream.next().await.ok_or("the stream has ended")? {
            Ok(Event::InitApply(pod)) if updated == events => {
                if version(&pod)? > newest {
                    relisted += 1;
                }
            }
            Ok(Event::InitApply(_)) => listed += 1,
            Ok(Event::InitDone) if updated == 0 => synced = Instant::now(),
            Ok(Event::Apply(pod)) => {
                updated += 1;
                if updated == 1 {
                    first = Instant::now();
                }
                if updated == events {
                    last = Instant::now();
                    newest = version(&pod)?;
                }
            }
            Ok(_) => {}
            // The watch ends with 410 after the last event, which is what the relist is for.
            Err(_) if updated == events => {}
            Err(error) => return Err(error.into()),
        }
    }
    let end = Instant::now();
    if listed != pods || reader.len() == 0 {
        return Err(format!("listed {listed} pods, expected {pods}").into());
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

fn version(pod: &Pod) -> Result<u64, Box<dyn Error>> {
    Ok(pod.resource_version().ok_or("a pod has no resourceVersion")?.parse()?)
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
