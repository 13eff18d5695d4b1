/**
 * The logs of containers, as a kubelet keeps and serves them.
 *
 * {@linkcode PodLogs} is the entry point. A log belongs to a container ID in the pod's status, so a log ends when the
 * status says that its container no longer runs. Requests are routed by `server/resource_handler.ts`.
 *
 * @module
 */
import { encoder } from "../../../api/object.ts";
import { preciseTime } from "../../../api/precise_time.ts";
import { rfc3339 } from "../../../async/time.ts";
import { badRequest, type Causes, forbiddenField, invalid, invalidField } from "../../../client/protocol/refusal.ts";
import { nameIn, parseStored, type Store, type StoredCollection, type StoreEvent } from "../storage/store.ts";
import { ByteBody } from "../wire/byte_body.ts";
import type { JsonObject } from "../wire/json.ts";
import { objectOr, objectsOf, textOf } from "../wire/members.ts";
import type { WriteMode } from "../writes/steps.ts";
import type { Writer } from "../writes/writer.ts";

/** The members of a pod's spec that have containers, and the members of its status for them. */
const LISTS = {
  containers: "containerStatuses",
  initContainers: "initContainerStatuses",
  ephemeralContainers: "ephemeralContainerStatuses",
} as const;

/** A container in a pod's spec. */
interface Container {
  readonly list: keyof typeof LISTS;
  readonly name: string;
  readonly image: string;
}

/** The log of one container, from its start to its end. */
class ContainerLog {
  /** All lines: those before `#first` were rotated away. */
  readonly #lines: { readonly time: string; readonly text: string }[] = [];
  #first = 0;
  #isOver = false;
  /** Continue responses that follow. */
  readonly #readers = new Set<() => void>();

  write(time: string, text: string): void {
    this.#lines.push({ time, text });
    this.#wake();
  }

  rotate(): void {
    this.#first = this.#lines.length;
  }

  /** Ends the responses that follow, after the last line. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Returns a body with lines, which are made only as fast as they are read. */
  read(options: LogRequest, chunkBytes: number): ByteBody {
    const { since, tailLines = Infinity, timestamps, follow } = options;
    let { limitBytes = Infinity } = options;
    let next = Math.max(this.#first, this.#lines.length - tailLines);
    const refill = (body: ByteBody): void => {
      while (body.queued < chunkBytes && next < this.#lines.length && limitBytes > 0) {
        const { time, text } = this.#lines[next++];
        if (time < since) continue;
        const bytes = encoder.encode(`${timestamps ? `${time} ` : ""}${text}\n`).subarray(0, limitBytes);
        limitBytes -= bytes.length;
        body.push(bytes);
      }
      const isRead = next === this.#lines.length && (this.#isOver || !follow);
      if (isRead || limitBytes <= 0) body.end();
    };
    const body = new ByteBody({ chunkBytes, refill, onClose: () => this.#readers.delete(wake) });
    const wake = (): void => refill(body);
    this.#readers.add(wake);
    wake();
    return body;
  }

  #wake(): void {
    for (const wake of [...this.#readers]) wake();
  }
}

/** The parameters of a request for a log. */
interface LogRequest {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  /** The first time that is sent, or `""`. */
  readonly since: string;
  readonly tailLines?: number;
  readonly limitBytes?: number;
}

/** The logs of all containers. */
export class PodLogs {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #now: () => number;
  readonly #id: () => string;
  /** By pod and container ID. */
  readonly #logs = new Map<string, Map<string, ContainerLog>>();

  /** Writes the status of pods by `writer`; `id` returns a new container ID. */
  constructor(store: Store, writer: Writer, now: () => number, id: () => string) {
    this.#store = store;
    this.#writer = writer;
    this.#now = now;
    this.#id = id;
  }

  /**
   * Adds a line. If the container does not run, this starts it.
   *
   * @throws {StatusError} 404 if there is no pod, 400 if there is no container.
   * @throws {RangeError} if `at` is not RFC 3339.
   */
  write(key: string, text: string, at: string | undefined, container: string | undefined, mode: WriteMode): void {
    const time = preciseTime(at ?? new Date(this.#now()).toISOString());
    if (time === undefined) {
      throw new RangeError(
        `Cannot write a log: time must be RFC 3339, e.g. "2026-01-31T12:00:00.5Z", but it is "${at}"`,
      );
    }
    this.#running(key, container, mode).write(time, text);
  }

  /** Begins a new file: earlier lines can no longer be read, but responses that follow have got them. */
  rotate(key: string, container: string | undefined, mode: WriteMode): void {
    this.#running(key, container, mode).rotate();
  }

  /** Ends a container, and starts it again with a new log. */
  restart(key: string, container: string | undefined, mode: WriteMode): void {
    this.#running(key, container, mode);
    this.#start(key, container, mode);
  }

  /** Ends the logs of containers that no longer run, and forgets all logs of a deleted pod. */
  changed({ collection, type, stored: { key } }: StoreEvent): void {
    const logs = collection === this.#pods ? this.#logs.get(key) : undefined;
    if (logs === undefined) return;
    const statuses = type === "DELETED" ? [] : statusesOf(this.#pod(key));
    const isRunning = (id: string): boolean =>
      statuses.some(({ state, containerID }) => containerID === id && objectOr(state).running !== undefined);
    for (const [id, log] of logs) if (!isRunning(id)) log.end();
    if (type === "DELETED") this.#logs.delete(key);
  }

  /**
   * Returns the body of a response, like kube-apiserver and a kubelet. It is `undefined` for a pod on no node.
   *
   * @throws {StatusError} 400 if the container has no log yet or does not exist, 404, 422.
   */
  read(key: string, query: URLSearchParams, chunkBytes: number): ByteBody | undefined {
    const name = nameIn(key);
    const request = requestOf(name, query, this.#now());
    const pod = this.#pod(key);
    const { name: container } = containerOf(pod, name, query.get("container") ?? "");
    if (!objectOr(pod.spec).nodeName) return undefined;
    const id = idOf(`container "${container}" in pod "${name}"`, statusOf(pod, container), request.previous);
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

  /** Returns the log of the container that runs, and starts it if none does. */
  #running(key: string, container: string | undefined, mode: WriteMode): ContainerLog {
    const pod = this.#pod(key);
    const { state, containerID } = statusOf(pod, writtenTo(pod, key, container).name) ?? {};
    const id = objectOr(state).running === undefined ? "" : textOf(containerID);
    return this.#logs.get(key)?.get(id) ?? this.#start(key, container, mode);
  }

  #start(key: string, container: string | undefined, mode: WriteMode): ContainerLog {
    const id = `containerd://${this.#id()}`;
    const logs = this.#logs.get(key) ?? new Map<string, ContainerLog>();
    const log = new ContainerLog();
    this.#logs.set(key, logs.set(id, log));
    const now = rfc3339(this.#now());
    this.#writer.change(this.#pods, key, (pod) => started(pod, writtenTo(pod, key, container), id, now), mode);
    return log;
  }
}

/** Returns a pod's containers: first its regular containers, then init and ephemeral containers. */
function containersOf(pod: JsonObject): Container[] {
  const lists = Object.keys(LISTS) as Container["list"][];
  return lists.flatMap((list) =>
    objectsOf(objectOr(pod.spec)[list]).map(({ name, image }) => ({ list, name: textOf(name), image: textOf(image) }))
  );
}

/** Returns the container that a request names, or the only one. @throws {StatusError} 400 if there is none. */
function containerOf(pod: JsonObject, podName: string, name: string): Container {
  const all = containersOf(pod);
  const found = name === "" ? all.filter(({ list }) => list === "containers") : all.filter((it) => it.name === name);
  if (found.length === 1) return found[0];
  if (name !== "") throw badRequest(`container ${name} is not valid for pod ${podName}`);
  const names = all.map(({ name }) => name).join(" ");
  throw badRequest(`a container name must be specified for pod ${podName}, choose one of: [${names}]`);
}

/** Returns the container that a test names, or the first one. @throws {StatusError} 400 if there is none. */
function writtenTo(pod: JsonObject, key: string, name: string | undefined): Container {
  return containerOf(pod, nameIn(key), name ?? containersOf(pod)[0]?.name ?? "");
}

function statusesOf({ status }: JsonObject): readonly JsonObject[] {
  return Object.values(LISTS).flatMap((list) => objectsOf(objectOr(status)[list]));
}

function statusOf(pod: JsonObject, container: string): JsonObject | undefined {
  return statusesOf(pod).find(({ name }) => name === container);
}

/** Returns the pod with a status in which a container runs. If it ran before, it has been restarted. */
function started(pod: JsonObject, { list, name, image }: Container, containerID: string, now: string): JsonObject {
  const { spec, status } = { spec: objectOr(pod.spec), status: objectOr(pod.status) };
  const before = statusOf(pod, name);
  const oldID = before?.containerID;
  const terminated = { exitCode: 0, reason: "Completed", finishedAt: now, containerID: oldID };
  const next: JsonObject = {
    imageID: "",
    ...before,
    ...(oldID === undefined ? {} : { lastState: { terminated } }),
    name,
    image,
    containerID,
    ready: true,
    restartCount: oldID === undefined ? 0 : Number(before?.restartCount ?? 0) + 1,
    state: { running: { startedAt: now } },
  };
  const others = objectsOf(status[LISTS[list]]).filter((it) => it.name !== name);
  return {
    ...pod,
    spec: { ...spec, nodeName: spec.nodeName || "fake-node" },
    status: {
      ...status,
      phase: (status.phase ?? "Pending") === "Pending" ? "Running" : status.phase,
      [LISTS[list]]: [...others, next],
    },
  };
}

/** Returns the parameters of a request. @throws {StatusError} 400 or 422 if one is invalid. */
function requestOf(name: string, query: URLSearchParams, nowMs: number): LogRequest {
  const isSet = (name: string): boolean => query.has(name) && !/^(?:false|0)$/i.test(query.get(name)!);
  const count = (name: string): number | undefined => {
    const text = query.get(name) || undefined;
    if (text === undefined || /^-?\d+$/.test(text)) return text === undefined ? undefined : Number(text);
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  };
  const [tailLines, limitBytes, sinceSeconds] = ["tailLines", "limitBytes", "sinceSeconds"].map(count);
  const sinceTime = query.get("sinceTime") || undefined;
  const since = sinceTime === undefined ? "" : preciseTime(sinceTime);
  if (since === undefined) throw badRequest(`parsing time ${JSON.stringify(sinceTime)} as RFC 3339: cannot parse`);
  const causes: Causes = [];
  const atLeast = (least: number, field: string, value: number | undefined, why: string): void => {
    if (value !== undefined && value < least) causes.push(invalidField(field, String(value), why));
  };
  atLeast(0, "tailLines", tailLines, "must be greater than or equal to 0");
  atLeast(1, "limitBytes", limitBytes, "must be greater than 0");
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    causes.push(forbiddenField("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  } else atLeast(1, "sinceSeconds", sinceSeconds, "must be greater than 0");
  if (query.has("stream")) causes.push(forbiddenField("stream", "may not be specified"));
  if (causes.length > 0) throw invalid({ group: "", kind: "PodLogOptions", name }, causes);
  const [follow, previous, timestamps] = ["follow", "previous", "timestamps"].map(isSet);
  const sinceMs = nowMs - (sinceSeconds ?? 0) * 1_000;
  return {
    follow,
    previous,
    timestamps,
    // kube-apiserver passes on whole seconds.
    since: sinceSeconds === undefined ? since.slice(0, 19) : new Date(sinceMs).toISOString().slice(0, -1),
    tailLines,
    limitBytes,
  };
}

/** Returns the container whose log is read (kubelet `validateContainerLogStatus`). @throws {StatusError} 400. */
function idOf(what: string, status: JsonObject | undefined, previous: boolean): string {
  if (status === undefined) throw badRequest(`${what} is not available`);
  const { state, lastState, containerID } = status;
  const { waiting, running, terminated } = objectOr(state);
  const last = textOf(objectOr(objectOr(lastState).terminated).containerID);
  if (previous && last === "") throw badRequest(`previous terminated ${what} not found`);
  const own = textOf(running === undefined ? objectOr(terminated).containerID : containerID);
  const id = previous ? last : own || last;
  if (id !== "") return id;
  if (terminated !== undefined) throw badRequest(`${what} is terminated`);
  if (waiting === undefined) throw badRequest(`${what} is waiting to start - no logs yet`);
  const reason = textOf(objectOr(waiting).reason);
  throw badRequest(`${what} is waiting to start: ${PULLING[reason] ?? reason}`);
}

/** Reasons for which a container waits, as kubelets put them into words. */
const PULLING: Readonly<Record<string, string | undefined>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: "trying and failing to pull image",
};
