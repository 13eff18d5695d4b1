import {
  type AddedEvent,
  type Client,
  type DeletedEvent,
  type KubernetesObject,
  type Resource,
  type Selection,
  SharedIndexInformer,
  type UpdatedEvent,
} from "@kube/informer";
import type { ReflectorOptions } from "@kube/informer/types";
import { assertEquals } from "@std/assert";
import { assertEqualToServer } from "../cluster/compare.ts";
import { EventChecker } from "../cluster/event_checker.ts";
import { Phases } from "../cluster/phases.ts";
import { Requests } from "../cluster/requests.ts";
import { withDeadline } from "../cluster/with_deadline.ts";
import { settle } from "../cluster/writers.ts";
import type { ScenarioServer } from "./scenario_server.ts";

/** Short waits between attempts: no scenario measures them. */
const QUICK_RETRIES = { initialMs: 10, maxMs: 250, jitter: 0 };

/** Options of an {@linkcode ObservedInformer}. */
export interface ObservedInformerOptions {
  /** The objects to follow. @default {all of the scenario's namespace} */
  readonly selection?: Selection;
  /** Options of the reflector. */
  readonly reflector?: ReflectorOptions;
  /** The client that sends the requests. @default {the administrator's} */
  readonly client?: Client;
}

/** A running informer on a scenario's server, with its requests and the events that it delivered. */
export class ObservedInformer<T extends KubernetesObject> implements AsyncDisposable {
  /** The informer, which runs. */
  readonly informer: SharedIndexInformer<T>;
  /** Its requests. */
  readonly requests: Requests<T>;
  /** The phases of its reflector. */
  readonly phases = new Phases();
  /** Checks the delivered events. */
  readonly checker: EventChecker<T>;
  /** The reported errors. */
  readonly errors: unknown[] = [];
  readonly #server: ScenarioServer;
  readonly #resource: Resource<T>;
  readonly #selection: Selection;
  readonly #events = new Map<string, string[]>();

  /** Runs the informer. */
  constructor(server: ScenarioServer, resource: Resource<T>, options: ObservedInformerOptions = {}) {
    const { selection = { namespace: server.namespace }, reflector, client = server.client } = options;
    this.#server = server;
    this.#resource = resource;
    this.#selection = selection;
    this.requests = new Requests(client.resource(resource, selection));
    this.informer = new SharedIndexInformer(this.requests, {
      reflector: { backoff: QUICK_RETRIES, onPhase: this.phases.onPhase, ...reflector },
      onError: (error) => this.errors.push(error),
    });
    this.checker = new EventChecker(this.informer);
    this.informer.addEventHandler({
      onAdd: (event) => this.#record(event),
      onUpdate: (event) => this.#record(event),
      onDelete: (event) => this.#record(event),
    });
    this.informer.run();
  }

  /** Waits for the first sync; with `patient`, also while the server refuses. */
  async synced(options: { readonly patient?: boolean } = {}): Promise<this> {
    await withDeadline("the first sync", (signal) => this.informer.waitForCacheSync({ signal, ...options }));
    return this;
  }

  /**
   * Writes one more object, waits for it, and fails unless the cache then equals the server and the delivered events
   * keep all promises. Returns the milliseconds until the last write arrived.
   */
  async check(labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const ms = await settle([this.informer], this.#server.client, this.#resource, this.#server.namespace, labels);
    await this.compare();
    return ms;
  }

  /**
   * Fails unless the cache equals the server, and the delivered events keep all promises. No writes may happen
   * meanwhile.
   */
  async compare(): Promise<void> {
    await assertEqualToServer(this.informer, this.#server.client, this.#resource, this.#selection);
    assertEquals(await this.checker.end(), []);
  }

  /**
   * The events of the objects of that name, in order: `"+"` added, `"+i"` added and initial, `"~"` updated, `"-"`
   * deleted, `"-?"` deleted with an unknown final state.
   */
  eventsOf(name: string): string {
    return (this.#events.get(name) ?? []).join(" ");
  }

  /** The numbers of requests and events, as text. */
  get summary(): string {
    const { lists, watches } = this.requests;
    return `${lists} list requests, ${watches} watches, ${this.checker.summary}`;
  }

  /** Stops the informer. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.informer[Symbol.asyncDispose]();
  }

  #record(event: AddedEvent<T> | UpdatedEvent<T> | DeletedEvent<T>): void {
    const { name } = event.object.metadata;
    const lines = this.#events.get(name) ?? [];
    this.#events.set(name, lines);
    lines.push(wordOf(event));
  }
}

function wordOf<T extends KubernetesObject>(event: AddedEvent<T> | UpdatedEvent<T> | DeletedEvent<T>): string {
  if (event.type === "added") return event.initial ? "+i" : "+";
  if (event.type === "updated") return "~";
  return event.finalStateUnknown ? "-?" : "-";
}
