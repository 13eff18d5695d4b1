//! Runs a Controller of kube-rs, with its defaults and 8 workers, on the job of bench/peers/reconcile.ts: one status patch for
//! each object.
//!
//! ```text
//! reconcile KUBECONFIG OBJECTS ROUND
//! ```

use std::collections::HashSet;
use std::error::Error;
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use kube::api::{Api, ApiResource, GroupVersionKind, Object, Patch, PatchParams};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::runtime::controller::{self, Action, Controller};
use kube::runtime::watcher;
use kube::{Client, ResourceExt};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Notify;

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Spec {
    schedule: String,
    image: String,
    replicas: u32,
}

/// The observed state; `round` is the number of the run that has written it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Status {
    round: Option<u64>,
    replicas: Option<u32>,
}

type CronTab = Object<Spec, Status>;

struct Context {
    tabs: Api<CronTab>,
    objects: usize,
    round: u64,
    done: Mutex<HashSet<String>>,
    finished: Notify,
}

/// Writes the status of an object, or counts it when the cache has the status of this round.
async fn reconcile(tab: Arc<CronTab>, context: Arc<Context>) -> Result<Action, kube::Error> {
    if tab.status.as_ref().and_then(|status| status.round) == Some(context.round) {
        let mut done = context.done.lock().unwrap();
        done.insert(tab.name_any());
        if done.len() == context.objects {
            context.finished.notify_one();
        }
    } else {
        let patch = json!({ "status": { "round": context.round, "replicas": tab.spec.replicas } });
        context.tabs.patch_status(&tab.name_any(), &PatchParams::default(), &Patch::Merge(&patch)).await?;
    }
    Ok(Action::await_change())
}

fn retry(_tab: Arc<CronTab>, error: &kube::Error, _context: Arc<Context>) -> Action {
    eprintln!("{error}");
    Action::requeue(Duration::from_secs(1))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, kubeconfig, objects, round] = arguments.as_slice() else {
        return Err("usage: reconcile KUBECONFIG OBJECTS ROUND".into());
    };
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(Kubeconfig::read_from(kubeconfig)?, &options).await?;
    let client = Client::try_from(config)?;
    let kind = GroupVersionKind::gvk("bench.example.com", "v1", "CronTab");
    let resource = ApiResource::from_gvk_with_plural(&kind, "crontabs");
    let context = Arc::new(Context {
        tabs: Api::namespaced_with(client.clone(), "default", &resource),
        objects: objects.parse()?,
        round: round.parse()?,
        done: Mutex::default(),
        finished: Notify::new(),
    });
    let all = Api::<CronTab>::all_with(client, &resource);
    let controller = Controller::new_with(all, watcher::Config::default(), resource)
        .with_config(controller::Config::default().concurrency(8))
        .run(reconcile, retry, context.clone())
        .for_each(|_| futures::future::ready(()));
    tokio::select! {
        _ = controller => return Err("the controller has ended".into()),
        _ = context.finished.notified() => println!("done"),
    }
    // The parent reads memory and CPU time of a process that is still there.
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
