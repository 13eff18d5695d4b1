/**
 * The pictures of the documentation: their names, their words, and how each is made.
 *
 * @module
 */
import { benchmarkAlt, benchmarkChart } from "./benchmark.ts";
import { dashboardPanels } from "./dashboard.ts";
import { doctorPicture } from "./doctor.ts";
import { pagePicture } from "./served_page.ts";
import type { Theme, Words } from "./theme.ts";
import { watchFilm } from "./watch.ts";

/** A picture, in two files. */
export interface Picture {
  readonly extension: "svg" | "webp";
  readonly words: Words;
  /** Makes it, light and dark. */
  readonly make: (words: Words) => Promise<Readonly<Record<Theme, string | Uint8Array>>>;
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
};

/** The HTML that shows a picture in a page of a folder of docs, light or dark as its reader prefers. */
export function htmlOf(name: string, { extension, words: { alt } }: Picture, folder = "../pictures"): string {
  const text = alt.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<picture><source media="(prefers-color-scheme: dark)" srcset="${folder}/${name}-dark.${extension}"><img src="${folder}/${name}-light.${extension}" alt="${text}"></picture>`;
}
