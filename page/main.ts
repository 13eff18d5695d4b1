/**
 * The page of `informer serve`: a table of a collection, over one stream of views.
 *
 * `deno task page` bundles it, with `index.html` and `style.css`, into `src/cli/page/page_html.ts`.
 *
 * @module
 */
import type { KubernetesObject } from "../src/engine/api/object.ts";
import type { TableColumn, TableRow } from "../src/engine/api/resource.ts";
import type { CollectionData, CollectionList, ViewRequest } from "../src/relay/server/format.ts";
import { type RemoteView, subscribeViews } from "../src/relay/client/view_subscription.ts";
import { RelayError } from "../src/relay/client/server_events.ts";
import { humanDuration } from "../src/engine/async/time.ts";
import { type Column, Grid } from "./grid.ts";
import { markedState, unreadyKeys } from "./mark.ts";
import { hashOf, type Place, readPlace } from "./place.ts";
import { Rate } from "./rate.ts";
import { yamlOf } from "./yaml_of.ts";

type Collection = CollectionList["collections"][number];

/** A row as the page asks for it: metadata, and the cells if the collection is a table. */
type Row = KubernetesObject & Partial<Pick<TableRow, "cells" | "columns">> & {
  readonly object?: { readonly status?: { readonly conditions?: Parameters<typeof markedState>[0]["conditions"] } };
};

const KEYS: Column<Row> = {
  title: "Name",
  textOf: ({ metadata }) => metadata.name,
  sortKeys: ["metadata.name", "-metadata.name"],
};

const NAMESPACE: Column<Row> = {
  title: "Namespace",
  textOf: ({ metadata }) => metadata.namespace ?? "",
  sortKeys: ["metadata.namespace", "-metadata.namespace"],
};

/** Ages are sorted by the time of creation, youngest first. */
const AGE: Column<Row> = {
  title: "Age",
  textOf: ({ metadata: { creationTimestamp } }) =>
    creationTimestamp ? humanDuration(Math.max(0, Date.now() - Date.parse(creationTimestamp))) : "",
  sortKeys: ["-metadata.creationTimestamp", "metadata.creationTimestamp"],
};

function element<E extends Element = HTMLElement>(id: string): E {
  return document.getElementById(id) as Element as E;
}

const select = element<HTMLSelectElement>("collection");
const namespace = element<HTMLSelectElement>("namespace");
const filter = element<HTMLInputElement>("filter");
const unready = element<HTMLButtonElement>("unready");
const details = element("details");
const state = element("state");
const problem = element("problem");

/** What the relay has said last of each collection. */
const known = new Map<string, CollectionData>();
/** The namespaces of each collection that have objects. */
const namespaces = new Map<string, readonly string[]>();
const rate = new Rate();
let isConnected = false;
let collections: CollectionList["collections"] = [];
let place: Place | undefined;
let shown: Collection | undefined;
let rows: RemoteView<Row> | undefined;
let columns: RemoteView<Row> | undefined;
/** The window of rows that the grid shows. */
let wanted: { readonly offset: number; readonly limit: number } = { offset: 0, limit: 100 };
/** Set from a key in the filter until the rows that match are asked for. */
let typing: ReturnType<typeof setTimeout> | undefined;
/** `true` from Enter in the filter until the rows that match are there, one of which then has the focus. */
let entersRows = false;
/** The address that typing in the filter has led to: further typing replaces it. */
let typed: string | undefined;
let opened: { readonly key: string; readonly view: RemoteView<KubernetesObject> } | undefined;

const views = subscribeViews(new URL("./", location.href), {
  onCollection: (data) => {
    known.set(data.name, data);
    showState();
  },
  onNamespaces: (data) => {
    namespaces.set(data.name, data.namespaces);
    showNamespaces();
  },
  onConnected: (value) => {
    isConnected = value;
    if (value && collections.length > 0) problem.hidden = true;
    showState();
  },
  onError: (error) => {
    if (error instanceof RelayError) showProblem(error);
  },
});

const scroller = element("scroller");
const grid = new Grid<Row>({
  scroller,
  table: scroller.querySelector("table")!,
  heads: element("heads"),
  before: element("before"),
  rows: element("rows"),
  after: element("after"),
}, {
  onWindow: (next) => {
    const { offset, limit } = wanted = next;
    if (rows === undefined || (rows.request.offset === offset && rows.request.limit === limit)) return;
    rows.replace({ offset, limit });
  },
  onSort: (sort) => go({ sort }),
  onOpen: (object) => go({ object }),
});

/** Calls `show` with each state of a view, until that is disposed. */
async function follow<T>(view: RemoteView<T>, show: () => void): Promise<void> {
  try {
    for await (const _ of view.changes()) show();
  } catch (error) {
    showProblem(error);
  }
}

/** Shows why the relay does not answer, as it says itself. */
function showProblem(error: unknown): void {
  problem.textContent = error instanceof Error ? error.message : String(error);
  problem.hidden = false;
  showState();
}

/** Shows rows as old from a change of the request until those that were asked for are there. */
function showBusy(): void {
  const isBusy = typing !== undefined || rows?.hasSynced === false;
  grid.wait(isBusy);
  if (isBusy || !entersRows) return;
  entersRows = false;
  grid.focus();
}

function showState(): void {
  const data = shown && known.get(shown.name);
  const text = !problem.hidden ? "refused" : isConnected ? data?.state ?? "connecting" : "disconnected";
  if (state.textContent !== text) state.textContent = text;
  state.className = text === "live" ? "live" : "";
  const { total = 0, hasSynced = false } = rows ?? {};
  const of = data?.objects !== undefined && data.objects !== total ? ` of ${data.objects.toLocaleString("en")}` : "";
  const count = hasSynced ? `${total.toLocaleString("en")}${of} objects` : problem.hidden ? "loading" : "";
  if (element("count").textContent !== count) element("count").textContent = count;
  element("empty").hidden = !hasSynced || total > 0;
}

/** Offers the namespaces that have objects, and the one that is shown. */
function showNamespaces(): void {
  if (place === undefined || shown === undefined) return;
  element("namespaces").hidden = shown.scope !== "Namespaced";
  const chosen = place.namespace;
  const names = [...new Set([...namespaces.get(shown.name) ?? [], ...chosen === "" ? [] : [chosen]])].sort();
  if (namespace.dataset.names !== names.join()) { // else a list that is open would close
    namespace.dataset.names = names.join();
    namespace.replaceChildren(new Option("all", ""), ...names.map((name) => new Option(name)));
  }
  namespace.value = chosen;
}

/** Goes to another place, as a step of the history of the browser unless it replaces the present one. */
function go(change: Partial<Place>, isStep = true): void {
  const next = { ...place!, ...change };
  const hash = hashOf(next);
  if (hash === hashOf(place!)) return;
  if (isStep) history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
  show(next);
}

/** Shows a place instead of the present one. */
function show(next: Place): void {
  const last = place;
  place = next;
  const isOther = next.collection !== last?.collection;
  if (isOther) choose(collections.find(({ name }) => name === next.collection)!);
  else if (JSON.stringify(requestOf(next)) !== JSON.stringify(requestOf(last))) {
    grid.order(next.sort);
    grid.toTop();
    openRows();
  }
  if (isOther || next.object !== last.object) {
    if (next.object === "") closeDetails();
    else open(next.object);
  }
  unready.hidden = !shown!.isTable || unreadyKeys(shown!.kind) === undefined;
  unready.setAttribute("aria-pressed", String(next.sort === "unready"));
  select.value = next.collection;
  if (typing === undefined) filter.value = next.filter;
  showNamespaces();
  document.title = `${next.object || shown!.kind}: informer`;
}

/** Returns what a place asks for of its collection. */
function requestOf({ namespace, filter, sort }: Place): Pick<ViewRequest, "namespace" | "search" | "sortBy"> {
  return {
    namespace: shown!.scope === "Namespaced" ? namespace : "",
    search: filter,
    sortBy: sort === "" ? [] : sort === "unready" ? unreadyKeys(shown!.kind) ?? [] : [sort],
  };
}

/** Shows the collection of a place instead of the present one. */
function choose(collection: Collection): void {
  shown = collection;
  closeDetails();
  columns?.[Symbol.dispose]();
  const { name, isTable } = collection;
  scroller.querySelector("table")!.setAttribute("aria-label", name);
  const { sort, object } = place!;
  // Of all namespaces, so that the relay names them.
  const heads = columns = views.view<Row>({ of: name, fields: [isTable ? "columns" : "metadata.name"], limit: 1 });
  grid.reset(isTable ? [] : columnsOf(collection, undefined), sort, object);
  let titles = "";
  void follow(heads, () => {
    const found = heads.rows()[0]?.object?.columns;
    const text = JSON.stringify(found?.map((column) => column.name));
    if (found === undefined || text === titles) return;
    titles = text;
    grid.reset(columnsOf(collection, found), place!.sort, place!.object);
    if (rows?.hasSynced) grid.show(rows.rows(), rows.offset, rows.total);
  });
  openRows();
  showState();
}

/** Asks for the rows of the present place, by a view of its own: what comes of it is of this request. */
function openRows(): void {
  const { name, isTable } = shown!;
  const fields = isTable ? ["metadata.name", "cells", "object.status.conditions"] : ["metadata.name"];
  rows?.[Symbol.dispose]();
  const view = rows = views.view<Row>({ of: name, ...requestOf(place!), fields, ...wanted });
  showBusy();
  void follow(view, () => {
    if (view !== rows) return;
    grid.show(view.rows(), view.offset, view.total);
    showState();
    showBusy();
  });
}

function columnsOf({ scope }: Collection, columns: readonly TableColumn[] | undefined): Column<Row>[] {
  const [ready, status] = ["Ready", "Status"].map((title) => columns?.findIndex(({ name }) => name === title) ?? -1);
  const at = { ready, status, state: status < 0 ? ready : status };
  const own = columns?.flatMap(({ name, priority, format }, i): Column<Row>[] => {
    if (priority > 0) return [];
    if (name === "Age") return [AGE];
    if (format === "name") return [KEYS];
    const textOf = ({ cells, object }: Row): string => {
      const [ready, status] = [at.ready, at.status].map((at) => cellText(cells?.[at]));
      const text = i === at.state && markedState({ ready, status, conditions: object?.status?.conditions ?? [] });
      return text || cellText(cells?.[i]);
    };
    return [{ title: name, textOf, sortKeys: [`cells.${i}`, `-cells.${i}`] }];
  });
  return [...(scope === "Namespaced" ? [NAMESPACE] : []), ...own ?? [KEYS, AGE]];
}

function cellText(cell: unknown): string {
  if (cell === undefined || cell === null) return "";
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}

/** Shows the object of a key beside the table, as it changes. */
function open(key: string): void {
  opened?.view[Symbol.dispose]();
  const [name, namespace] = key.split("/").reverse();
  const view = views.view<KubernetesObject>({
    of: shown!.name,
    ...(namespace === undefined ? {} : { namespace }),
    fieldSelector: `metadata.name=${name.replace(/[\\,=]/g, "\\$&")}`,
    ...(shown!.isTable ? { fields: ["object"] } : {}),
    limit: 1,
  });
  opened = { key, view };
  element("title").textContent = key;
  element("yaml").textContent = "";
  details.hidden = false;
  void follow(view, () => {
    const found = view.rows()[0]?.object as (KubernetesObject & Partial<TableRow>) | null | undefined;
    const text = found ? yamlOf(shown!.isTable ? found.object : found) : `${key} is gone`;
    if (element("yaml").textContent !== text) element("yaml").textContent = text;
  });
  element("yaml").focus();
}

function closeDetails(): void {
  if (opened === undefined) return;
  opened.view[Symbol.dispose]();
  opened = undefined;
  if (details.contains(document.activeElement)) grid.focus();
  details.hidden = true;
}

unready.addEventListener("click", () => go({ sort: place!.sort === "unready" ? "" : "unready" }));
element("close").addEventListener("click", () => go({ object: "" }));

addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    filter.focus();
    filter.select();
  } else if (event.key === "Escape" && opened !== undefined) {
    go({ object: "" });
    grid.focus();
  } else if (event.key === "Escape" && event.target === filter) grid.focus();
  else if (event.key === "Enter" && event.target === filter) {
    entersRows = true;
    applyFilter();
  }
});

filter.addEventListener("input", () => {
  clearTimeout(typing);
  entersRows = false;
  typing = setTimeout(applyFilter, 150);
  showBusy();
});

/** Asks for the rows that match what was typed. */
function applyFilter(): void {
  clearTimeout(typing);
  typing = undefined;
  go({ filter: filter.value }, location.hash !== typed);
  typed = location.hash;
  showBusy();
}

setInterval(() => {
  rate.sample(shown && known.get(shown.name)?.events);
  element("plot").querySelector("path")!.setAttribute("d", rate.path(120, 24));
  element("per_second").textContent = `${rate.perSecond} events/s`;
  grid.refresh();
}, 1_000);

/** Returns the JSON at an address of the relay. @throws {Error} with the reason for which it does not answer. */
async function get<T>(path: string): Promise<T> {
  const response = await fetch(new URL(path, location.href));
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as T;
  let reason = text.slice(0, 200);
  try {
    reason = JSON.parse(text).error;
  } catch { /* the text of a proxy */ }
  throw new Error(`${response.status} ${reason}`);
}

/** Lets choose another cluster, where each is at a path of its own, as `clusters/berlin/`. */
async function chooseCluster(): Promise<void> {
  const [, name] = /\/clusters\/([^/]+)\/$/.exec(location.pathname) ?? [];
  if (name === undefined) return;
  const names = await get<string[]>("../../clusters");
  const clusters = element<HTMLSelectElement>("cluster");
  clusters.replaceChildren(...names.map((it) => new Option(it, it, false, it === decodeURIComponent(name))));
  clusters.addEventListener("change", () => {
    const hash = place === undefined ? "" : hashOf({ ...place, object: "" });
    location.assign(`../${encodeURIComponent(clusters.value)}/${hash}`);
  });
  element("clusters").hidden = false;
}

try {
  await chooseCluster();
  ({ collections } = await get<CollectionList>("api"));
  select.replaceChildren(...collections.map(({ name }) => new Option(name)));
  select.addEventListener("change", () => go({ collection: select.value, sort: "", object: "" }));
  namespace.addEventListener("change", () => go({ namespace: namespace.value }));
  addEventListener("popstate", () => show(readPlace(location.hash, collections)));
  show(readPlace(location.hash, collections));
} catch (error) {
  showProblem(error);
}
