// Random histories: an informer's scope changes, at once or again before a change has ended, while its server meets
// writes and faults. The cache only shows objects of the scope that the informer says it has, every handler gets a
// gap-free sequence of events for each object, and in the end the cache equals the server.
import { Client, type InformerEvent, LabelSelector, SharedIndexInformer } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import { FakeApiServer, history, type HistoryStep, perform } from "@kube/informer/testing";
import { assertEquals } from "@std/assert";
import { sleep } from "../../../src/engine/async/time.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import { Random, seedGlobals } from "../../../src/testing/fake/random.ts";
import { EventChecker } from "../cluster/event_checker.ts";
import { FakeTime } from "../times/fake_time.ts";

const NAMES = ["a", "b", "c"];
const SELECTORS = [null, null, "tier=web", "tier=db", "tier in (web,db)"];

type Change = Parameters<SharedIndexInformer<ConfigMap>["rescope"]>[0];

/** A random change of a scope: of its namespaces, its labels, or both. */
function changeOf(random: Random): Change {
  const some = NAMES.filter(() => random.next() < 0.5);
  const namespaces = some.length === 0 || random.next() < 0.2 ? null : some;
  const labelSelector = random.pick(SELECTORS);
  const fieldSelector = random.pick([null, null, "metadata.name!=n0"]);
  return random.pick([{ namespaces }, { namespaces }, { labelSelector }, { fieldSelector }, {
    ...{ namespaces, labelSelector },
  }]);
}

/** An informer whose scope changes, and what its handlers know. */
class Rescoped {
  readonly random: Random;
  readonly time = new FakeTime();
  readonly server: FakeApiServer;
  readonly client: Client;
  readonly maps: SharedIndexInformer<ConfigMap>;
  readonly checker: EventChecker<ConfigMap>;
  readonly isCalm: boolean;
  readonly problems: string[] = [];
  readonly changes: Promise<void>[] = [];
  /** The keys that slower handlers know, by their names. */
  readonly known = new Map<string, Map<string, string>>();
  readonly stop = new AbortController();
  readonly running: Promise<void>;
  lastAbort: AbortController | undefined;

  constructor(seed: number) {
    const random = this.random = new Random(seed);
    this.isCalm = random.next() < 0.4;
    const history = this.isCalm ? 10_000 : random.pick([5, 20, 10_000]);
    this.server = new FakeApiServer({
      ...{ seed, history, chunkBytes: random.pick([40, 300, 65_536]), bookmarkMs: 10_000 },
      streamingList: random.next() < 0.7,
    });
    this.client = new Client({ server: "http://fake", transport: this.server });
    const [namespace] = random.pick([["a"], [undefined], [undefined]]);
    this.maps = new SharedIndexInformer(this.client.resource(ConfigMap, { namespace }), {
      compact: seed % 2 === 0,
      reflector: { pageSize: random.pick([2, 500]), streamingList: random.pick(["auto", "auto", "off"]) },
      onError: () => {},
      ...random.next() < 0.3 ? { transform: renamed } : {},
    });
    this.checker = new EventChecker(this.maps);
    for (const [name, options] of [["slow", {}], ["latest", { backlog: "latestPerKey" }]] as const) {
      const known = new Map<string, string>();
      this.known.set(name, known);
      const ms = random.below(40);
      const handle = async (event: InformerEvent<ConfigMap>): Promise<void> => {
        this.took(name, known, event);
        if (ms > 0) await sleep(ms);
      };
      this.maps.addEventHandler({ onAdd: handle, onUpdate: handle, onDelete: handle }, { ...options, name });
    }
    this.running = this.maps.run({ signal: this.stop.signal });
  }

  took(name: string, known: Map<string, string>, event: InformerEvent<ConfigMap>): void {
    if (event.type === "synced") return;
    const { key, resourceVersion } = event;
    if (known.has(key) === (event.type === "added")) this.problems.push(`"${name}" got ${event.type} of ${key}`);
    if (event.type === "deleted") known.delete(key);
    else known.set(key, resourceVersion);
  }

  /** The cache shows nothing that is not in the scope. */
  checkScope(): void {
    const { selections } = this.maps;
    const [{ labelSelector = "", fieldSelector }] = selections;
    const labels = LabelSelector.parse(labelSelector);
    for (const entry of this.maps.entries) {
      const isIn = selections.some(({ namespace = "" }) => namespace === "" || namespace === entry.namespace) &&
        labels.matches(entry.labels) && !(fieldSelector && entry.name.endsWith("n0"));
      if (!isIn) this.problems.push(`${entry.key} is not in ${JSON.stringify(selections)}`);
    }
  }

  rescope(): void {
    const { random } = this;
    const abort = this.lastAbort = new AbortController();
    const before = JSON.stringify(this.maps.selections);
    const change = changeOf(random);
    this.changes.push(
      this.maps.rescope(change, { signal: abort.signal }).then(() => {}, (error) => {
        const isExpected = abort.signal.aborted || /replaced|has stopped/.test(errorLine(error));
        if (!isExpected) this.problems.push(`rescope from ${before} failed: ${errorLine(error)}`);
      }),
    );
  }

  /** `key@version` of the objects that the server has in the scope. */
  get expected(): string[] {
    return this.maps.selections.flatMap((selection) => this.server.list(ConfigMap, selection))
      .map(({ metadata: { namespace, name, resourceVersion } }) => `${namespace}/${name}@${resourceVersion}`).sort();
  }

  get cached(): string[] {
    return [...this.maps.entries].map(({ key, resourceVersion }) => `${key.replace("/x-", "/")}@${resourceVersion}`)
      .sort();
  }
}

function renamed(map: ConfigMap): ConfigMap {
  return { ...map, metadata: { ...map.metadata, name: `x-${map.metadata.name}` } };
}

/** Plays the history of a seed, and returns the number of events. */
export async function playRescopes(seed: number): Promise<number> {
  using _random = seedGlobals(seed);
  const rescoped = new Rescoped(seed);
  const { random, server, maps, checker, isCalm } = rescoped;
  using time = rescoped.time;
  using _client = rescoped.client;
  const lasting: Disposable[] = [];
  const steps: HistoryStep[] = history(seed, {
    namespaces: NAMES,
    names: 3,
    steps: 40,
    faults: isCalm ? "none" : "all",
  });
  try {
    for (const step of steps) {
      const ends = perform(server, ConfigMap, step);
      if (ends !== undefined) lasting.push(ends);
      const act = random.next();
      if (act < 0.35) rescoped.rescope();
      else if (act < 0.4) rescoped.lastAbort?.abort(new Error("enough"));
      else if (act < 0.44) maps.pause();
      else if (act < 0.5) maps.resume();
      await time.tickAsync(random.pick([0, 0, 1, 30, 900, 5_000, 70_000]));
      if (isCalm || !steps.some(({ do: it }) => it === "lose" || it === "reorder")) rescoped.checkScope();
    }
    for (const ends of lasting) ends[Symbol.dispose]();
    server.disarm();
    server.latency(0);
    server.sendBookmarks(true);
    maps.resume();
    await time.tickAsync(600_000);
    if (!isCalm) server.forceRelist(); // of events that were lost
    let isOver = false;
    void Promise.all(rescoped.changes).then(() => isOver = true);
    const isSame = (): boolean =>
      isOver && rescoped.cached.join() === rescoped.expected.join() && maps.status().state === "live";
    for (let tries = 0; tries < 60 && !isSame(); tries++) {
      server.bookmark();
      await time.tickAsync(30_000);
    }
    const { state, rescope } = maps.status();
    assertEquals([state, isOver, rescope, rescoped.cached], ["live", true, undefined, rescoped.expected]);
    assertEquals([...rescoped.problems, ...await checker.end()], []);
    for (const [name, known] of rescoped.known) {
      const keys = [...known].map(([key, version]) => `${key.replace("/x-", "/")}@${version}`).sort();
      assertEquals(keys, rescoped.expected, name);
    }
  } finally {
    rescoped.stop.abort();
    await time.tickAsync(30_000);
    await rescoped.running;
  }
  await time.tickAsync(1_000);
  assertEquals([server.watches, time.timers], [0, 0], "nothing is left");
  const { added, updated, deleted } = checker.counts;
  return added + updated + deleted;
}
