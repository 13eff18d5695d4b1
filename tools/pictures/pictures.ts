/**
 * The pictures of the documentation: their names, their words, and how each is made.
 *
 * @module
 */
import { benchmarkAlt, benchmarkChart } from "./benchmark.ts";
import { cache } from "./diagrams/cache.ts";
import { checkpoint } from "./diagrams/checkpoint.ts";
import { listWatch } from "./diagrams/list_watch.ts";
import { ownWrites } from "./diagrams/own_writes.ts";
import { reconcileLoop } from "./diagrams/reconcile_loop.ts";
import { relay } from "./diagrams/relay.ts";
import { shards } from "./diagrams/shards.ts";
import { dashboardPanels } from "./dashboard.ts";
import { doctorPicture } from "./doctor.ts";
import type { Words } from "./drawing.ts";
import { pagePicture } from "./served_page.ts";
import type { Theme } from "./theme.ts";
import { watchFilm } from "./watch.ts";

/** A picture, in two files. */
export interface Picture {
  readonly extension: "svg" | "webp";
  readonly words: Words;
  /** Makes it, light and dark. */
  readonly make: (words: Words) => Promise<Readonly<Record<Theme, string | Uint8Array>>>;
}

/** A diagram, which depends on nothing but its theme. */
function diagram(draw: (theme: Theme, words: Words) => string, title: string, alt: string): Picture {
  return {
    extension: "svg",
    words: { title, alt },
    make: (words) => Promise.resolve({ light: draw("light", words), dark: draw("dark", words) }),
  };
}

/** All pictures by name. */
export const PICTURES: Readonly<Record<string, Picture>> = {
  watch: {
    extension: "svg",
    words: {
      title: "informer watch through a killed API server",
      alt:
        "A terminal runs informer watch pods. Its table changes in place during a rollout. Then the API server is killed: the table stays, and the first line shows since when it is stale. The server comes back, informer resumes by itself, and the table shows what changed meanwhile.",
    },
    make: watchFilm,
  },
  doctor: {
    extension: "svg",
    words: {
      title: "informer doctor names a failure and its remedy",
      alt:
        "A terminal shows informer doctor pods in namespace shop. Configuration, address, certificate, credentials, login and discovery are ok. The check to watch pods fails: the user may list pods and may not watch them. The line says what to do: ask for a Role with the verbs list and watch on pods.",
    },
    make: doctorPicture,
  },
  page: {
    extension: "webp",
    words: {
      title: "The page of informer serve",
      alt:
        "The page of informer serve in a browser: a table of 100 pods with their namespaces, names, states, restarts and ages, controls for collection, namespace and filter, the state live, and the rate of events. One row is selected, and beside the table is its pod as YAML.",
    },
    make: pagePicture,
  },
  dashboard: {
    extension: "svg",
    words: {
      title: "Panels of the Grafana dashboard",
      alt:
        "Eight panels of the Grafana dashboard, drawn from a run of the example controller against a fake API server: objects, changes received, time without the server, lists and watches begun, reconciles by outcome and by cause, duration of reconciles, and keys in the queue. While the server answers 503, the time without the server grows and no change arrives. Then the informers watch again, and the queue works off what has changed. When 150 objects are created at one time, their keys wait for a few seconds.",
    },
    make: dashboardPanels,
  },
  benchmark: {
    extension: "svg",
    words: {
      title: "Speed and memory of informers and other clients",
      alt: benchmarkAlt(),
    },
    make: benchmarkChart,
  },
  "list-watch": diagram(
    listWatch,
    "List, watch, 410 Gone and relist",
    "The informer lists pods, and the handler receives added for each pod, then synced. It watches from the list's version, and the handler receives updated, deleted and added. The connection is lost, so the cache is stale. The informer resumes from its last version, and the server answers 410 Gone. After a relist the handler receives only the differences: deleted with finalStateUnknown, updated and added. Then the informer watches again.",
  ),
  cache: diagram(
    cache,
    "From the API server to your code",
    "A client asks the API server. A reflector lists and watches, a queue keeps the changes in order, and a store remembers the objects. The informer delivers events to handlers, and listers read the store without a request. A work queue holds keys until a reconciler acts: it reads from listers, and writes through the client.",
  ),
  "reconcile-loop": diagram(
    reconcileLoop,
    "The reconcile loop, with your own writes",
    "A watch event reaches the cache. Its key enters a work queue, which passes it to your function. Your function reads the cache with its own writes on top, and writes a Deployment and the object's status. The responses are on top of the cache immediately. When the watch brings these writes, the Deployment's event triggers another call, and the event of the object's own status does not.",
  ),
  "own-writes": diagram(
    ownWrites,
    "Reads after a write, with and without own writes",
    "Your function creates a third Job. The watch event comes some milliseconds after the response. Between the two, informer.lister has 2 Jobs, so a function that counts creates a duplicate. context.cache(Job) has 3 Jobs, because the response is on top of the cache.",
  ),
  checkpoint: diagram(
    checkpoint,
    "What a handler receives after a restart",
    "A handler has received added for a, b and c. While its process is down, b is deleted, c changes and d is added. Without a checkpoint, the second run receives added for a, c and d, and never receives b's deletion. With a checkpoint, which keeps the version of each object, it receives added d, updated c and deleted b, and nothing for a.",
  ),
  shards: diagram(
    shards,
    "Ranges of three processes, before and after a crash",
    "64 ranges of hashes. Before, processes A, B and C hold 22, 21 and 21 of them. B crashes: its 21 ranges have no process, and A and C keep theirs. After at most 17 seconds A and C hold 32 ranges each: 10 have come to A and 11 to C, and no other range has moved.",
  ),
  relay: diagram(
    relay,
    "One watch for many clients",
    "A relay keeps one watch on the API server, and serves event streams to browsers, a React app, curl and hundreds more, and a Kubernetes API to kubectl and client-go. A browser that loses its connection after change 42 reconnects with Last-Event-ID: 42, and receives changes 43 and 44, which it missed, and then new ones.",
  ),
};

/** The HTML that shows a picture in a page of a folder of docs, light or dark as its reader prefers. */
export function htmlOf(name: string, { extension, words: { alt } }: Picture, folder = "../pictures"): string {
  const text = alt.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<picture><source media="(prefers-color-scheme: dark)" srcset="${folder}/${name}-dark.${extension}"><img src="${folder}/${name}-light.${extension}" alt="${text}"></picture>`;
}
