/**
 * What the events of a job change: the objects of each mix in the bytes that a server writes, and their states.
 *
 * {@linkcode mixOf} is the entry point. Nothing is encoded while events are sent: values are changed in place, and an
 * object whose values have other lengths has several forms, of which an event takes one. Objects are made when they
 * are first needed.
 *
 * @module
 */
import { type Item, leaseItem, nodeItem, podItem } from "../_data.ts";
import { changedVersion, eventVersion, FIRST_VERSION, type Followed, followedIn, type Job } from "./job.ts";
import { type EventType, ObjectBytes, writeDigits } from "./object_bytes.ts";

/** The resource of a collection, as it is in addresses and lists. */
export interface CollectionType {
  readonly path: string;
  readonly kind: string;
  readonly apiVersion: string;
}

const TYPES = {
  pods: { path: "/api/v1/pods", kind: "Pod", apiVersion: "v1" },
  nodes: { path: "/api/v1/nodes", kind: "Node", apiVersion: "v1" },
  leases: { path: "/apis/coordination.k8s.io/v1/leases", kind: "Lease", apiVersion: "coordination.k8s.io/v1" },
} as const satisfies Record<Followed, CollectionType>;

/** An object at a moment. */
export interface State {
  /** The index of its collection. */
  readonly collection: number;
  /** Its number in the collection. */
  readonly index: number;
  /** How many times it has changed. */
  readonly revision: number;
  /** Its resourceVersion. */
  readonly version: number;
}

/** One event of a watch: the object, and what happened to it. */
export interface Step extends State {
  readonly type: EventType;
}

/** The objects of a job, and what happens to them. */
export abstract class Objects {
  /** The collections that clients follow. The watch of the first one expires after the events. */
  readonly collections: readonly CollectionType[];
  protected readonly job: Job;

  /** Makes no object yet. */
  constructor(job: Job) {
    this.job = job;
    this.collections = followedIn(job.mix ?? "metadata").map((name) => TYPES[name]);
  }

  /** The event number `event`. */
  abstract step(event: number): Step;

  /** The number of objects in the list of a collection, before or after the events. */
  abstract size(collection: number, after: boolean): number;

  /** The object at a place in the list of a collection, before or after the events. */
  abstract listed(collection: number, place: number, after: boolean): State;

  /** The bytes of an object. They are valid until they are asked for in another state. */
  abstract bytes(state: State): ObjectBytes;

  /** Makes all objects of the first lists. */
  prepare(): void {
    this.collections.forEach((_, collection) => {
      for (let place = 0; place < this.size(collection, false); place++) {
        this.bytes(this.listed(collection, place, false));
      }
    });
  }
}

/** The objects of a job. @throws {Error} if there are too few for its mix. */
export function mixOf(job: Job): Objects {
  switch (job.mix ?? "metadata") {
    case "metadata":
      return new Pods(job, (index) => new Changing([podBytes(podItem(index), index.toString(36))]));
    case "status":
      return new Pods(job, (index) => {
        const forms = [true, false].map((isReady) => statusItem(index, isReady));
        return new Changing(forms.map((item) => podBytes(withRestarts(item), index.toString(36))));
      });
    case "heartbeats":
      if (job.pods < 2) {
        throw new Error("Cannot serve heartbeats: there must be 2 objects at least, a node and a lease");
      }
      return new Heartbeats(job);
    case "rollout":
      return new Rollout(job);
  }
}

/** The time at which values that events change begin, without its zone. No generated object has it elsewhere. */
const CHANGED = "2027-03-01T00:00:00";

/** The time at which the pods of a rollout were created. No generated object has it elsewhere. */
const CREATED = "2027-02-01T00:00:00";

/** Writes day, hour, minute and second into a time. */
function writeTime(bytes: Uint8Array, start: number, seconds: number): void {
  const day = 1 + Math.floor(seconds / 86_400) % 28;
  writeDigits(bytes, start + 10, 2, day);
  writeDigits(bytes, start + 13, 2, Math.floor(seconds / 3_600) % 24);
  writeDigits(bytes, start + 16, 2, Math.floor(seconds / 60) % 60);
  writeDigits(bytes, start + 19, 2, seconds % 60);
}

/** The restarts of a container at first. They have two digits, so that they can be changed in place. */
const RESTARTS = 10;

/** The marker before the restarts of the first container. */
const RESTART_COUNT = `"restartCount":`;

/** An object whose values change: one form or two, which follow each other. */
class Changing {
  readonly #forms: readonly {
    readonly bytes: ObjectBytes;
    readonly times: readonly number[];
    readonly restarts: readonly number[];
  }[];

  constructor(forms: readonly ObjectBytes[]) {
    this.#forms = forms.map((bytes) => ({
      bytes,
      times: bytes.places(CHANGED),
      restarts: bytes.places(`${RESTART_COUNT}${RESTARTS}`).map((place) => place + RESTART_COUNT.length),
    }));
  }

  /** All forms. */
  get forms(): readonly ObjectBytes[] {
    return this.#forms.map(({ bytes }) => bytes);
  }

  at(revision: number, version: number): ObjectBytes {
    const { bytes, times, restarts } = this.#forms[revision % this.#forms.length];
    for (const start of times) writeTime(bytes.object, start, version - FIRST_VERSION);
    for (const start of restarts) writeDigits(bytes.object, start + 2, 2, RESTARTS + revision % (100 - RESTARTS));
    bytes.version = version;
    return bytes;
  }
}

/** Objects of a collection, which are made when they are first needed. */
class Made {
  readonly #make: (index: number) => Changing;
  readonly #objects: Changing[] = [];

  constructor(make: (index: number) => Changing) {
    this.#make = make;
  }

  at(index: number): Changing {
    return this.#objects[index] ??= this.#make(index);
  }
}

/** Objects of one collection that all exist from beginning to end, and change in turns. */
class Rounds {
  readonly #objects: Made;
  readonly #job: Job;
  readonly #collection: number;
  /** The number of objects. */
  readonly count: number;
  readonly #first: number;
  readonly #events: number;
  readonly #changed: number;
  readonly #eventOf: (turn: number) => number;

  constructor(objects: Made, job: Job, options: {
    /** The index of the collection. */
    readonly collection?: number;
    readonly count?: number;
    /** The number of objects that the collections before have. */
    readonly first?: number;
    /** The number of events. */
    readonly events?: number;
    /** The number of objects that change without an event. */
    readonly changed?: number;
    /** The number that the collection's event has among all events. */
    readonly eventOf?: (turn: number) => number;
  } = {}) {
    const { collection = 0, count = job.pods, first = 0, events = job.events, changed = job.changed } = options;
    this.#objects = objects;
    this.#job = job;
    this.#collection = collection;
    this.count = count;
    this.#first = first;
    this.#events = events;
    this.#changed = changed;
    this.#eventOf = options.eventOf ?? ((turn) => turn);
  }

  /** The event number `turn` of the collection. */
  step(turn: number): Step {
    const revision = Math.floor(turn / this.count) + 1;
    const version = eventVersion(this.#job, this.#eventOf(turn));
    return { type: "MODIFIED", collection: this.#collection, index: turn % this.count, revision, version };
  }

  listed(index: number, after: boolean): State {
    const collection = this.#collection;
    const turns = after ? Math.max(0, Math.ceil((this.#events - index) / this.count)) : 0;
    if (after && index < this.#changed) {
      return { collection, index, revision: turns + 1, version: changedVersion(this.#job, index) };
    }
    if (turns === 0) return { collection, index, revision: 0, version: FIRST_VERSION + this.#first + index + 1 };
    const { revision, version } = this.step((turns - 1) * this.count + index);
    return { collection, index, revision, version };
  }

  bytes({ index, revision, version }: State): ObjectBytes {
    return this.#objects.at(index).at(revision, version);
  }
}

/** Pods that change in turns. */
class Pods extends Objects {
  readonly #pods: Rounds;

  constructor(job: Job, make: (index: number) => Changing) {
    super(job);
    this.#pods = new Rounds(new Made(make), job);
  }

  step(event: number): Step {
    return this.#pods.step(event);
  }

  size(): number {
    return this.#pods.count;
  }

  listed(_collection: number, place: number, after: boolean): State {
    return this.#pods.listed(place, after);
  }

  bytes(state: State): ObjectBytes {
    return this.#pods.bytes(state);
  }
}

/** The events of nodes to one of a lease. */
const NODE_EVENTS = 10;

/** Nodes and as many leases: ten events of nodes, then one of a lease. */
class Heartbeats extends Objects {
  readonly #collections: readonly [nodes: Rounds, leases: Rounds];

  constructor(job: Job) {
    super(job);
    const nodes = Math.ceil(job.pods / 2);
    const renewals = Math.floor(job.events / (NODE_EVENTS + 1));
    this.#collections = [
      new Rounds(new Made((index) => new Changing([nodeBytes(index)])), job, {
        count: nodes,
        events: job.events - renewals,
        eventOf: (turn) => Math.floor(turn / NODE_EVENTS) * (NODE_EVENTS + 1) + turn % NODE_EVENTS,
      }),
      new Rounds(new Made((index) => new Changing([leaseBytes(index)])), job, {
        collection: 1,
        count: job.pods - nodes,
        first: nodes,
        events: renewals,
        changed: 0, // its watch does not expire
        eventOf: (turn) => turn * (NODE_EVENTS + 1) + NODE_EVENTS,
      }),
    ];
  }

  step(event: number): Step {
    const [nodes, leases] = this.#collections;
    const round = Math.floor(event / (NODE_EVENTS + 1));
    const place = event % (NODE_EVENTS + 1);
    return place < NODE_EVENTS ? nodes.step(round * NODE_EVENTS + place) : leases.step(round);
  }

  size(collection: number): number {
    return this.#collections[collection].count;
  }

  listed(collection: number, place: number, after: boolean): State {
    return this.#collections[collection].listed(place, after);
  }

  bytes(state: State): ObjectBytes {
    return this.#collections[state.collection].bytes(state);
  }
}

/**
 * A rollout: a pod is added, a pod half as old as the oldest changes its status, and the oldest is deleted. A new
 * pod is not ready, and becomes so when it changes; one of the first list is ready until then.
 *
 * Pod number `index` is the `index`th that ever was. The bytes of a deleted pod are used again, with another name, uid
 * and time.
 */
class Rollout extends Objects {
  readonly #slots: Made;
  /** By slot: the places of what a new pod has for itself. */
  readonly #identities = new Map<ObjectBytes, Identity>();

  constructor(job: Job) {
    super(job);
    this.#slots = new Made((slot) => {
      const pod = new Changing([true, false].map((isReady) => podBytes(newPod(statusItem(slot, isReady)), SERIAL)));
      for (const form of pod.forms) this.#identities.set(form, identityOf(form));
      return pod;
    });
  }

  step(event: number): Step {
    const round = Math.floor(event / 3);
    const version = eventVersion(this.job, event);
    switch (event % 3) {
      case 0:
        return { type: "ADDED", collection: 0, index: this.job.pods + round, revision: 0, version };
      case 1:
        return { type: "MODIFIED", collection: 0, index: this.#half + round, revision: 1, version };
      default:
        return { type: "DELETED", ...this.#state(round, event - 1), version };
    }
  }

  size(_collection: number, after: boolean): number {
    return after ? this.job.pods + this.#rounds(0) - this.#rounds(2) : this.job.pods;
  }

  listed(_collection: number, place: number, after: boolean): State {
    if (!after) return this.#state(place, -1);
    const state = this.#state(this.#rounds(2) + place, this.job.events - 1);
    if (place >= this.job.changed) return state;
    return { ...state, revision: state.revision + 1, version: changedVersion(this.job, place) };
  }

  bytes({ index, revision, version }: State): ObjectBytes {
    const { pods } = this.job;
    const pod = this.#slots.at(index % (pods + 1)).at(index < pods ? revision : revision + 1, version);
    const { name, uid, times } = this.#identities.get(pod)!;
    writeDigits(pod.object, name, SERIAL.length, index, 36);
    writeDigits(pod.object, uid, 8, index, 16);
    for (const start of times) writeTime(pod.object, start, index);
    return pod;
  }

  /** The pod that is changed by the first event of its kind. */
  get #half(): number {
    return Math.floor(this.job.pods / 2) + 1;
  }

  /** The number of events that are first, second or third of their round. */
  #rounds(place: 0 | 1 | 2): number {
    return Math.ceil((this.job.events - place) / 3);
  }

  /** The pod after event number `last`, if it is not deleted. */
  #state(index: number, last: number): State {
    const change = (index - this.#half) * 3 + 1;
    if (change >= 0 && change <= last) {
      return { collection: 0, index, revision: 1, version: eventVersion(this.job, change) };
    }
    const { pods } = this.job;
    const version = index < pods ? FIRST_VERSION + index + 1 : eventVersion(this.job, (index - pods) * 3);
    return { collection: 0, index, revision: 0, version };
  }
}

/** The places of what a pod of a rollout has for itself: where its name ends, and the first part of its uid. */
interface Identity {
  readonly name: number;
  readonly uid: number;
  readonly times: readonly number[];
}

/** The end of the name of a rollout's pods, and its place holder. */
const SERIAL = "00000";

/** The beginning of the uid of a rollout's pods, and its place holder. */
const UID = "ffffffff-";

function identityOf(bytes: ObjectBytes): Identity {
  return {
    name: bytes.after(`-${SERIAL}"`) - 1,
    uid: bytes.after(`"uid":"${UID}`) - 1,
    times: bytes.places(CREATED),
  };
}

interface PodParts {
  readonly metadata: { name: string; uid: string; creationTimestamp: string; managedFields: { time: string }[] };
  readonly status: {
    startTime: string;
    conditions: { type: string; status: string; lastTransitionTime: string }[];
    containerStatuses: {
      ready: boolean;
      started: boolean;
      restartCount: number;
      state: { running: { startedAt: string } };
    }[];
  };
}

/** A pod whose status is of {@linkcode CHANGED}: its first container, and the conditions that this one decides. */
function statusItem(index: number, isReady: boolean): Item & PodParts {
  const pod = podItem(index) as Item & PodParts;
  const { metadata, status } = pod;
  const time = `${CHANGED}Z`;
  metadata.managedFields[1].time = time; // of the kubelet
  for (const condition of status.conditions) {
    if (!/^(?:Containers)?Ready$/.test(condition.type)) continue;
    condition.status = isReady ? "True" : "False";
    condition.lastTransitionTime = time;
  }
  const [container] = status.containerStatuses;
  container.ready = container.started = isReady;
  container.state.running.startedAt = time;
  return pod;
}

function withRestarts(pod: Item & PodParts): Item {
  pod.status.containerStatuses[0].restartCount = RESTARTS;
  return pod;
}

/** A pod with the place holders of what a new one has for itself. */
function newPod(pod: Item & PodParts): Item {
  const { metadata, status } = pod;
  metadata.uid = metadata.uid.replace(/^\w+-/, UID);
  metadata.creationTimestamp = status.startTime = metadata.managedFields[0].time = `${CREATED}Z`;
  return pod;
}

/** Encodes a pod; the end of its name makes it the only one with it. */
function podBytes(pod: Item, end: string): ObjectBytes {
  const metadata = pod.metadata as Record<string, unknown>;
  metadata.name = `${metadata.name}-${end}`;
  return new ObjectBytes("Pod", "v1", pod);
}

function nodeBytes(index: number): ObjectBytes {
  return new ObjectBytes("Node", "v1", nodeItem(index, `${CHANGED}Z`));
}

function leaseBytes(index: number): ObjectBytes {
  const lease = leaseItem(index) as { metadata: { managedFields: { time: string }[] }; spec: { renewTime: string } };
  lease.metadata.managedFields[0].time = `${CHANGED}Z`;
  lease.spec.renewTime = `${CHANGED}.123456Z`;
  return new ObjectBytes("Lease", "coordination.k8s.io/v1", lease as unknown as Item);
}
