/**
 * The logs of containers, as a kubelet keeps and serves them.
 *
 * {@linkcode PodLogs} is the entry point. A log belongs to a container ID in the pod's status, so a log ends when the
 * status says that its container no longer runs. Requests are routed by `server/resource_handler.ts`.
 *
 * @module
 */
import { encoder } from "../../../engine/api/object.ts";
import { preciseTime } from "../../../engine/api/precise_time.ts";
import { rfc3339 } from "../../../engine/async/time.ts";
import { type Causes, fieldCause, knownRefusal, refusal } from "../../../engine/protocol/refusal.ts";
import { nameIn, parseStored, type Store, type StoredCollection, type StoreEvent } from "../storage/store.ts";
import { ByteBody } from "../wire/byte_body.ts";
import type { JsonObject } from "../../../engine/api/json.ts";
import { memberAt, objectOr, objectsOf, textOf } from "../../../engine/api/members.ts";
import type { WriteMode } from "../writes/steps.ts";
import type { Writer } from "../writes/writer.ts";

/** The members of a pod's spec that have containers. */
const LISTS = ["containers", "initContainers", "ephemeralContainers"] as const;

/** The members of its status for them. */
const STATUSES = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const;

const MODE: WriteMode = { manager: "fake", subresource: "", dryRun: false, direct: true };

/** The log of one container, from its start to its end. */
class ContainerLog {
  /** All lines: those before `#first` were rotated away. */
  readonly #lines: { readonly time: string; readonly text: string }[] = [];
  #first = 0;
  #isOver = false;
  /** Open responses, with what continues them. */
  readonly #readers = new Map<ByteBody, () => void>();

  /** Adds a line. */
  write(time: string, text: string): void {
    this.#lines.push({ time, text });
    for (const wake of [...this.#readers.values()]) wake();
  }

  /** Begins a new file: earlier lines can no longer be read, but responses that follow have got them. */
  rotate(): void {
    this.#first = this.#lines.length;
  }

  /** Ends the responses that follow, after the last line. */
  end(): void {
    this.#isOver = true;
    for (const wake of [...this.#readers.values()]) wake();
  }

  /** Interrupts open responses. */
  interrupt(interrupt: (body: ByteBody) => void): void {
    for (const body of [...this.#readers.keys()]) interrupt(body);
  }

  /** Returns a body with lines, which are made only as fast as they are read. */
  read({ follow, timestamps, since, tailLines, limitBytes }: LogRequest, chunkBytes: number): ByteBody {
    let next = Math.max(this.#first, this.#lines.length - tailLines);
    let left = limitBytes;
    const refill = (body: ByteBody): void => {
      while (body.queued < chunkBytes && next < this.#lines.length && left > 0) {
        const { time, text } = this.#lines[next++];
        if (time < since) continue;
        const bytes = encoder.encode(`${timestamps ? `${time} ` : ""}${text}\n`).subarray(0, left);
        left -= bytes.length;
        body.push(bytes);
      }
      if (left <= 0 || (next === this.#lines.length && (this.#isOver || !follow))) body.end();
    };
    const body: ByteBody = new ByteBody({ chunkBytes, refill, onClose: () => this.#readers.delete(body) });
    this.#readers.set(body, () => refill(body));
    refill(body);
    return body;
  }
}

/** The parameters of a request for a log, whose names are the server's. */
type LogRequest = Readonly<
  Record<"follow" | "previous" | "timestamps", boolean> & Record<"tailLines" | "limitBytes", number> & { since: string }
>;

/** The logs of all containers. */
export class PodLogs {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #now: () => number;
  readonly #id: () => string;
  /** By pod and container ID. */
  readonly #logs = new Map<string, Map<string, ContainerLog>>();
  /** If `false`, the logs of deleted pods stay open. */
  endsDeleted = true;

  /** Writes the status of pods by `writer`; `id` returns a new container ID. */
  constructor(store: Store, writer: Writer, now: () => number, id: () => string) {
    this.#store = store;
    this.#writer = writer;
    this.#now = now;
    this.#id = id;
  }

  /**
   * Returns the log of the container that runs, by default the pod's first one, and starts it if it does not. With
   * `again`, it restarts the container.
   *
   * @throws {StatusError} 404 if there is no pod, 400 if there is no container.
   */
  running(key: string, container?: string, again = false): ContainerLog {
    const pod = this.#pod(key);
    const name = textOf(container ?? objectsOf(memberAt(pod, "spec", "containers"))[0]?.name);
    const { state, containerID } = statusOf(pod, namedContainer(pod, key, name)) ?? {};
    const id = objectOr(state).running === undefined ? "" : textOf(containerID);
    const log = this.#logs.get(key)?.get(id) ?? this.#start(key, name);
    return again ? this.#start(key, name) : log;
  }

  /** Interrupts open responses. */
  interrupt(interrupt: (body: ByteBody) => void): void {
    for (const logs of this.#logs.values()) for (const log of logs.values()) log.interrupt(interrupt);
  }

  /** Ends the logs of containers that no longer run, and forgets all logs of a deleted pod. */
  changed({ collection, type, stored: { key } }: StoreEvent): void {
    const logs = collection === this.#pods ? this.#logs.get(key) : undefined;
    if (logs === undefined) return;
    const statuses = type === "DELETED" ? [] : statusesOf(this.#pod(key));
    const running = statuses.filter(({ state }) => objectOr(state).running !== undefined);
    if (type === "DELETED") this.#logs.delete(key);
    // What interrupts responses still finds them.
    if (type === "DELETED" && !this.endsDeleted) return void this.#logs.set(this.#id(), logs);
    for (const [id, log] of logs) if (running.every(({ containerID }) => containerID !== id)) log.end();
  }

  /**
   * Returns the body of a response, like kube-apiserver and a kubelet. It is `undefined` for a pod on no node.
   *
   * @throws {StatusError} 400 if the container has no log yet or does not exist, 404, 422.
   */
  read(key: string, query: URLSearchParams, chunkBytes: number): ByteBody | undefined {
    const request = requestOf(nameIn(key), query, this.#now());
    const pod = this.#pod(key);
    const container = namedContainer(pod, key, query.get("container") ?? "");
    if (!objectOr(pod.spec).nodeName) return undefined;
    const what = `container "${container}" in pod "${nameIn(key)}"`;
    const id = idOf(what, statusOf(pod, container), request.previous);
    const log = this.#logs.get(key)?.get(id);
    if (log !== undefined) return log.read(request, chunkBytes);
    // A kubelet has begun to answer when it finds this out, so the error is the body.
    const body = new ByteBody({ chunkBytes });
    body.push(encoder.encode(`unable to retrieve container logs for ${id}`));
    body.end();
    return body;
  }

  get #pods(): StoredCollection {
    return this.#store.collection({ group: "", version: "v1", plural: "pods" })!;
  }

  #pod(key: string): JsonObject {
    return parseStored(this.#pods.existing(key));
  }

  #start(key: string, container: string): ContainerLog {
    const id = `containerd://${this.#id()}`;
    const logs = this.#logs.get(key) ?? new Map<string, ContainerLog>();
    const log = new ContainerLog();
    this.#logs.set(key, logs.set(id, log));
    this.#writer.change(this.#pods, key, (pod) => started(pod, container, id, rfc3339(this.#now())), MODE);
    return log;
  }
}

/** Returns the name of a pod's container, or of its only one. @throws {StatusError} 400 if there is none. */
function namedContainer({ spec }: JsonObject, key: string, name: string): string {
  const [own, ...others] = LISTS.map((list) => objectsOf(objectOr(spec)[list]).map(({ name }) => textOf(name)));
  const all = [...own, ...others.flat()];
  if (all.includes(name)) return name;
  if (name !== "") throw refusal(400, `container ${name} is not valid for pod ${nameIn(key)}`);
  if (own.length === 1) return own[0];
  const which = `choose one of: [${all.join(" ")}]`;
  throw refusal(400, `a container name must be specified for pod ${nameIn(key)}, ${which}`);
}

function statusesOf({ status }: JsonObject): readonly JsonObject[] {
  return STATUSES.flatMap((list) => objectsOf(objectOr(status)[list]));
}

function statusOf(pod: JsonObject, container: string): JsonObject | undefined {
  return statusesOf(pod).find(({ name }) => name === container);
}

/** Returns the pod with a status in which a container runs. If it ran before, it has been restarted. */
function started(pod: JsonObject, name: string, containerID: string, now: string): JsonObject {
  const { spec, status } = { spec: objectOr(pod.spec), status: objectOr(pod.status) };
  const list = STATUSES[LISTS.findIndex((list) => objectsOf(spec[list]).some((it) => it.name === name))];
  const { containerID: oldID, restartCount, ...before } = statusOf(pod, name) ?? {};
  const ran = objectOr(objectOr(before.state).running ?? objectOr(before.state).terminated);
  const terminated = { exitCode: 0, reason: "Completed", ...ran, finishedAt: now, containerID: oldID };
  const next = {
    ...before,
    ...(oldID === undefined ? { restartCount: 0 } : {
      lastState: { terminated },
      restartCount: Number(restartCount ?? 0) + 1,
    }),
    name,
    containerID,
    ready: true,
    state: { running: { startedAt: now } },
  };
  const others = objectsOf(status[list]).filter((it) => it.name !== name);
  const phase = (status.phase ?? "Pending") === "Pending" ? "Running" : status.phase;
  return {
    ...pod,
    spec: { ...spec, nodeName: spec.nodeName || "fake-node" },
    status: { ...status, phase, [list]: [...others, next] },
  };
}

/** Returns the parameters of a request. @throws {StatusError} 400 or 422 if one is invalid. */
function requestOf(name: string, query: URLSearchParams, nowMs: number): LogRequest {
  const isSet = (name: string): boolean => query.has(name) && !/^(?:false|0)$/i.test(query.get(name)!);
  const causes: Causes = [];
  const count = (name: string, least: number, why: string): number => {
    const text = query.get(name) || undefined;
    if (text === undefined) return Infinity;
    if (!/^-?\d+$/.test(text)) throw refusal(400, `strconv.ParseInt: parsing "${text}": invalid syntax`);
    if (Number(text) < least) causes.push(fieldCause.invalid(name, text, why));
    return Number(text);
  };
  const sinceTime = query.get("sinceTime") ?? "";
  const since = sinceTime === "" ? "" : preciseTime(sinceTime);
  if (since === undefined) throw refusal(400, `parsing time "${sinceTime}" as RFC 3339: cannot parse`);
  const tailLines = count("tailLines", 0, "must be greater than or equal to 0");
  const limitBytes = count("limitBytes", 1, "must be greater than 0");
  const isTwice = query.has("sinceSeconds") && since !== "";
  if (isTwice) causes.push(fieldCause.forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  const sinceSeconds = isTwice ? Infinity : count("sinceSeconds", 1, "must be greater than 0");
  if (query.has("stream")) causes.push(fieldCause.forbidden("stream", "may not be specified"));
  if (causes.length > 0) throw knownRefusal("invalid", { group: "", kind: "PodLogOptions", name }, causes);
  return {
    follow: isSet("follow"),
    previous: isSet("previous"),
    timestamps: isSet("timestamps"),
    tailLines,
    limitBytes,
    // kube-apiserver passes on whole seconds.
    since: sinceSeconds === Infinity
      ? since.slice(0, 19)
      : new Date(nowMs - sinceSeconds * 1_000).toISOString().slice(0, -1),
  };
}

/** Returns the container whose log is read (kubelet `validateContainerLogStatus`). @throws {StatusError} 400. */
function idOf(what: string, status: JsonObject | undefined, previous: boolean): string {
  if (status === undefined) throw refusal(400, `${what} is not available`);
  const { waiting, running, terminated } = objectOr(status.state);
  const last = textOf(memberAt(status, "lastState", "terminated", "containerID"));
  if (previous && last === "") throw refusal(400, `previous terminated ${what} not found`);
  const own = textOf(running === undefined ? objectOr(terminated).containerID : status.containerID);
  const id = previous ? last : own || last;
  if (id !== "") return id;
  if (terminated !== undefined) throw refusal(400, `${what} is terminated`);
  if (waiting === undefined) throw refusal(400, `${what} is waiting to start - no logs yet`);
  throw refusal(400, `${what} is waiting to start: ${textOf(objectOr(waiting).reason)}`);
}
