/**
 * The checks of a trial, and its record.
 *
 * {@linkcode TrialChecks} and {@linkcode TrialRecord} are the entry points. The options bring the statements; this file
 * adds a bound of writes, and changes nothing on the server.
 *
 * @module
 */
import { keyOf, type KubernetesObject } from "../../engine/api/object.ts";
import { type Resource, resourceName } from "../../engine/api/resource.ts";
import { messageOf } from "../../engine/errors/errors.ts";
import type { FakeApiServer } from "../fake/fake_api_server.ts";
import type { FakeTime } from "../fake/fake_time.ts";
import { type ChaosOptions, type ChaosStep, describeStep, type Statement } from "./plan.ts";

/** An object, and its kind. */
interface Located {
  /** The kind. */
  readonly resource: Resource;
  /** The object. */
  readonly object: KubernetesObject;
}

type Stateful = KubernetesObject & { readonly status?: unknown };

/**
 * A fake API server with the controllers that every cluster has, and with a record of the objects that users have
 * created.
 */
export class Cluster {
  /** The server. */
  readonly server: FakeApiServer;
  /** The uids of objects that users have created. */
  readonly #roots = new Set<string>();
  /** The names of namespaces that have existed. */
  readonly #namespaces = new Set<string>();

  #lastDeletion: number | undefined;
  /** The deleted objects that users create again. */
  #again: Located[] = [];

  /** Uses this server. */
  constructor(server: FakeApiServer) {
    this.server = server;
  }

  /** Calls `act`; the objects that it creates are those of users. It must be synchronous. */
  change<Value>(act: () => Value): Value {
    const before = new Map(
      this.objects().map(({ object: { metadata } }) => [metadata.uid, metadata.deletionTimestamp]),
    );
    try {
      return act();
    } finally {
      for (const { object: { metadata: { uid, deletionTimestamp } } } of this.objects()) {
        if (!before.has(uid)) this.#roots.add(uid!);
        if (deletionTimestamp !== before.get(uid)) this.#lastDeletion = Number(this.server.resourceVersion);
      }
    }
  }

  /** The version at which users last deleted an object that finalizers keep; before, the present one. */
  get lastDeletion(): number {
    return this.#lastDeletion ?? Number(this.server.resourceVersion);
  }

  /** Returns all objects, except for leases and events. */
  objects(): Located[] {
    const resources = this.server.resources().filter((resource) => !isAuxiliary(resource));
    // The versions of a kind have the same objects: the last version is the newest one that is served.
    const byName = new Map(resources.map((resource) => [resourceName(resource), resource]));
    return [...byName.values()].flatMap((resource) =>
      this.server.list(resource).map((object) => ({ resource, object }))
    );
  }

  /** Notes that a user has created an object. */
  own(uid: string): void {
    this.#roots.add(uid);
  }

  /** Does the work of the garbage collector, of kubelets that stop pods, and of the namespace controller. */
  tidy(): void {
    const { server } = this;
    const objects = this.objects();
    const namespaces = objects.filter(({ resource }) => resourceName(resource) === "namespaces");
    for (const { object } of namespaces) this.#namespaces.add(object.metadata.name);
    const gone = this.#namespaces.difference(new Set(namespaces.map(({ object }) => object.metadata.name)));
    for (const { resource, object: { metadata } } of objects) {
      const { deletionTimestamp, finalizers = [], namespace } = metadata;
      if (deletionTimestamp === undefined) {
        if (namespace !== undefined && gone.has(namespace)) {
          server.delete(resource, keyOf({ metadata }), { gracePeriodSeconds: 30 });
        }
      } else if (
        resourceName(resource) === "pods" && finalizers.length === 0 && Date.parse(deletionTimestamp) <= Date.now()
      ) {
        server.delete(resource, keyOf({ metadata }));
      }
    }
    server.collectGarbage();
    this.#again = this.#again.filter(({ resource, object }) => {
      const present = server.get(resource, keyOf(object));
      if (present !== undefined) return present.metadata.uid === object.metadata.uid;
      const { status: _status, metadata: { name, namespace, labels, annotations }, ...rest } = object as Stateful;
      this.change(() => server.create(resource, { ...rest, metadata: { name, namespace, labels, annotations } }));
      return false;
    });
  }

  /**
   * Deletes all objects that users have created, and returns their number. With `again`, {@linkcode tidy} creates each
   * of them again when it is gone, without its status.
   */
  deleteRoots(options: { readonly again?: boolean } = {}): number {
    if (!options.again) this.#again = [];
    const roots = this.objects().filter(({ object }) => this.#roots.has(object.metadata.uid!));
    this.change(() => {
      for (const { resource, object } of roots) this.server.delete(resource, keyOf(object), { gracePeriodSeconds: 30 });
    });
    const deleted = roots.filter(({ object }) => object.metadata.deletionTimestamp === undefined);
    if (options.again) this.#again.push(...deleted);
    return roots.length;
  }

  /** Returns a description of an object that is left after {@linkcode deleteRoots}, except for resources in `keeps`. */
  leftover(keeps: readonly string[]): string | undefined {
    const left = this.objects().filter(({ resource }) => !keeps.includes(resource.plural));
    const blocked = left.find(({ object }) => object.metadata.deletionTimestamp !== undefined);
    if (blocked !== undefined) {
      const { finalizers = [] } = blocked.object.metadata;
      return `${locatedName(blocked)} is being deleted, and keeps the finalizers ${JSON.stringify(finalizers)}`;
    }
    const orphan = left.find(({ object }) => !this.#roots.has(object.metadata.uid!));
    if (orphan === undefined) return undefined;
    return `${locatedName(orphan)} is orphaned: the controller has created it, and all objects of users are gone`;
  }
}

/** True for leases and events, which controllers write by themselves. */
export function isAuxiliary({ plural }: { readonly plural: string }): boolean {
  return plural === "leases" || plural === "events";
}

function locatedName({ resource, object }: Located): string {
  return `${resource.kind} "${keyOf(object)}"`;
}

/** The most lines after one step. */
const MOST_LINES = 20;

/**
 * The record of a trial: its lines, its first failure, and the number of changes and faults, which may lead to writes.
 */
export class TrialRecord {
  /** The index of the present step: -1 before the first one, and the number of steps after the last. */
  step = -1;
  /** True when changes and faults have ended. */
  isSettling = false;
  /** The number of changes, faults and starts of processes. */
  weight = 0;
  /** The first failure; undefined if there was none. */
  failure: string | undefined;
  /** Is added to a failure: the phase of a history that has phases. */
  where = "";
  readonly #lines: { readonly step: number; readonly text: () => string }[] = [];
  readonly #startedAt = performance.now();

  /** Records a failure and its line, if it is the first. */
  fail(failure: string): void {
    if (this.failure !== undefined) return;
    this.failure = failure += this.where;
    this.note(() => `✗ ${failure.split("\n", 1)[0]}`);
  }

  /** Adds a line to the present step, with the time. */
  note(text: () => string): void {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    this.#lines.push({ step: this.step, text: () => `${seconds.toFixed(3).padStart(9)} s  ${text()}` });
  }

  /** Returns the steps, numbered, each followed by its lines. */
  linesOf(steps: readonly ChaosStep[]): string[] {
    const titles = ["the controller starts", ...steps.map(describeStep), "changes and faults end"];
    return titles.flatMap((title, number) => {
      const own = this.#lines.filter(({ step }) => step === number - 1);
      const left = own.length - MOST_LINES;
      return [
        `${String(number).padStart(3)}. ${title}`,
        ...own.slice(0, MOST_LINES).map(({ text }) => `       ${text()}`),
        ...(left > 0 ? [`       and ${left} more`] : []),
      ];
    });
  }
}

/** The time in which a controller must converge after changes and faults have ended, and be quiet then. */
const SETTLE_MS = 600_000;
const QUIET_MS = 120_000;
/** The most writes for each change, start and fault, on average over a seed. */
const WRITES_PER_CHANGE = 10;

/** Checks what the options of a trial state, and the number of writes. */
export class TrialChecks<World> {
  /** The statements, and the controller that they are about. */
  readonly options: ChaosOptions<World>;
  /** The server and its objects. */
  readonly cluster: Cluster;
  /** The systems outside of the cluster. */
  readonly world: World;
  /** Receives failures. */
  readonly record: TrialRecord = new TrialRecord();
  /** The number of writes that the server has accepted. */
  writes = 0;
  readonly #time: FakeTime;
  /** Writes that are not of leases and events. */
  #counted = 0;
  /** The last of them. */
  #last = "";

  /** Checks nothing yet. `time` is that which passes while the controller converges. */
  constructor(options: ChaosOptions<World>, cluster: Cluster, time: FakeTime) {
    this.options = options;
    this.cluster = cluster;
    this.world = options.world?.() as World;
    this.#time = time;
  }

  /** Counts a write that the server has accepted, and checks the invariants and the number of writes. */
  written(resource: { readonly plural: string }, what: string): void {
    const { record } = this;
    this.writes++;
    if (!isAuxiliary(resource)) {
      this.#counted++;
      this.#last = what;
    }
    this.checkInvariants();
    const most = WRITES_PER_CHANGE * (record.weight + 1);
    // Until the end of the steps, more changes may still account for the writes.
    if (this.#counted <= (record.isSettling ? 1 : 10) * most) return;
    const causes = `${record.weight} changes, starts and faults`;
    record.fail(`too many writes: ${this.#counted} for ${causes}; at most ${most} are allowed`);
  }

  /** Checks the invariants. */
  checkInvariants(): void {
    for (const [name, statement] of Object.entries(this.options.invariants ?? {})) {
      this.#check(`the invariant "${name}" is violated`, statement);
    }
  }

  /** Does the work of the other controllers of the cluster. */
  tidy(): void {
    this.cluster.tidy();
    const { environment } = this.options;
    if (environment !== undefined) this.#check("the environment", environment);
  }

  /** Waits until the controller has converged and is quiet, deletes everything, and waits again. */
  async settle(): Promise<void> {
    const { cluster, record } = this;
    const { converges, keeps = [] } = this.options;
    await this.converge();
    if (record.failure !== undefined) return;
    record.weight += cluster.deleteRoots();
    record.note(() => "all objects that the controller has not created are deleted");
    await this.#converge(() => cluster.leftover(keeps) ?? this.#violation(converges));
  }

  /** Waits until the controller has converged, and is quiet for `quietMs`. */
  async converge(quietMs = QUIET_MS): Promise<void> {
    await this.#converge(() => this.#violation(this.options.converges), quietMs);
  }

  async #converge(violation: () => string | undefined, quietMs = QUIET_MS): Promise<void> {
    const { record } = this;
    const endMs = performance.now() + SETTLE_MS;
    let noisy: string | undefined;
    for (
      let tickMs = 500;
      performance.now() < endMs && record.failure === undefined;
      tickMs = Math.min(2 * tickMs, 60_000)
    ) {
      await this.#time.tickAsync(tickMs);
      this.tidy();
      this.checkInvariants();
      if (violation() !== undefined) continue;
      const before = this.#counted;
      await this.#time.tickAsync(quietMs);
      this.tidy();
      const writes = this.#counted - before;
      if (writes === 0 && violation() === undefined) return;
      noisy = `${writes} writes in ${quietMs / 1_000} s in which nothing changed, the last one: ${this.#last}`;
    }
    if (record.failure !== undefined) return;
    const left = violation();
    if (left === undefined) record.fail(`a hot loop: ${noisy}`);
    else record.fail(`not converged ${SETTLE_MS / 1_000} s after the last change: ${left}`);
  }

  #check(what: string, statement: Statement<World>): void {
    const violation = this.#violation(statement);
    if (violation !== undefined) this.record.fail(`${what}: ${violation}`);
  }

  #violation(statement: Statement<World>): string | undefined {
    const { cluster, world } = this;
    try {
      const result = statement(cluster.server, world);
      return result === false ? "it does not hold" : typeof result === "string" ? result : undefined;
    } catch (error) {
      return messageOf(error);
    }
  }
}
