import {
  type AddedEvent,
  type Client,
  type DeletedEvent,
  type KubernetesObject,
  type ReflectorOptions,
  type Resource,
  type Selection,
  SharedIndexInformer,
  type UpdatedEvent,
} from "@kube/informer";
import { assertEquals } from "@std/assert";
import { assertEqualToServer } from "../../cluster/_compare.ts";
import { Phases } from "../../cluster/_phases.ts";
import { Requests } from "../../cluster/_requests.ts";
import { Story } from "../../cluster/_story.ts";
import { within } from "../../cluster/_within.ts";
import { settle } from "../../cluster/_writers.ts";
import type { World } from "./_world.ts";

/** Tries again at once: no scenario is about how long it takes. */
const IMPATIENT = { initialMs: 10, maxMs: 250, jitter: 0 };

/** What is observed, and how. */
export interface ObservedOptions {
  /** Which objects. @default {all of the scenario's namespace} */
  readonly selection?: Selection;
  /** How they are followed. */
  readonly reflector?: ReflectorOptions;
  /** Whose client asks. @default {the world's} */
  readonly client?: Client;
}

/** An informer on a scenario's server that runs, what it asked for, and what it told. */
export class Observed<T extends KubernetesObject> implements AsyncDisposable {
  /** The informer, which runs. */
  readonly informer: SharedIndexInformer<T>;
  /** What it asks for. */
  readonly requests: Requests<T>;
  /** Through which phases it goes. */
  readonly phases = new Phases();
  /** Holds what is told to the promises. */
  readonly story: Story<T>;
  /** What went wrong. */
  readonly errors: unknown[] = [];
  readonly #world: World;
  readonly #resource: Resource<T>;
  readonly #selection: Selection;
  readonly #told = new Map<string, string[]>();

  /** Begins to follow. */
  constructor(world: World, resource: Resource<T>, options: ObservedOptions = {}) {
    const { selection = { namespace: world.namespace }, reflector, client = world.client } = options;
    this.#world = world;
    this.#resource = resource;
    this.#selection = selection;
    this.requests = new Requests(client.resource(resource, selection));
    this.informer = new SharedIndexInformer(this.requests, {
      reflector: { backoff: IMPATIENT, onPhase: this.phases.onPhase, ...reflector },
      onError: (error) => this.errors.push(error),
    });
    this.story = new Story(this.informer);
    this.informer.addEventHandler({
      onAdd: (event) => this.#tell(event),
      onUpdate: (event) => this.#tell(event),
      onDelete: (event) => this.#tell(event),
    });
    this.informer.run();
  }

  /** The cache has been equal to the server; patient with one that refuses, when asked to be. */
  async synced(options: { readonly patient?: boolean } = {}): Promise<this> {
    await within("the first sync", (signal) => this.informer.waitForCacheSync({ signal, ...options }));
    return this;
  }

  /**
   * Writes one more object, waits for it, and fails unless the cache then is what the server has and every story is true.
   * Answers with the milliseconds that it took the last write to arrive.
   */
  async check(labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const ms = await settle([this.informer], this.#world.client, this.#resource, this.#world.namespace, labels);
    await this.compare();
    return ms;
  }

  /** Fails unless the cache is what the server has, and every story is true. Nobody may write meanwhile. */
  async compare(): Promise<void> {
    await assertEqualToServer(this.informer, this.#world.client, this.#resource, this.#selection);
    assertEquals(await this.story.end(), []);
  }

  /**
   * What was told of the objects of that name, in order: `"+"` added, `"+i"` added and initial, `"~"` updated, `"-"`
   * deleted, `"-?"` deleted with a final state that nobody knows.
   */
  told(name: string): string {
    return (this.#told.get(name) ?? []).join(" ");
  }

  /** How much was asked for and told, in a few words. */
  get summary(): string {
    const { lists, watches } = this.requests;
    return `${lists} list requests, ${watches} watches, ${this.story.summary}`;
  }

  /** Stops the informer. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.informer[Symbol.asyncDispose]();
  }

  #tell(event: AddedEvent<T> | UpdatedEvent<T> | DeletedEvent<T>): void {
    const { name } = event.object.metadata;
    const lines = this.#told.get(name) ?? [];
    this.#told.set(name, lines);
    lines.push(wordOf(event));
  }
}

function wordOf<T extends KubernetesObject>(event: AddedEvent<T> | UpdatedEvent<T> | DeletedEvent<T>): string {
  if (event.type === "added") return event.initial ? "+i" : "+";
  if (event.type === "updated") return "~";
  return event.finalStateUnknown ? "-?" : "-";
}
