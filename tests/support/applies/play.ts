import {
  type Apply,
  type Client,
  defineResource,
  type DynamicObject,
  type ResourceClient,
  SharedIndexInformer,
  StatusError,
  UnreachableError,
} from "@kube/informer";
import { equal } from "@std/assert";
import { Random } from "../../../src/testing/fake/random.ts";
import type { JsonObject } from "../../../src/engine/api/json.ts";
import { type Draft, type Drafts, overlaid } from "../twin/drafts.ts";
import type { Types } from "../twin/types.ts";
import { DraftChanger, KINDS } from "./drafts.ts";

/**
 * The effect of an apply. The first one after a creation may store what creating it has set, so that the version alone
 * is new. One that has a value in another form than the server takes it from its other owners, although it stays as it
 * is. An object that others have made unreadable to the server can be applied by nobody.
 */
export type Effect =
  | "changes"
  | "changes other owners"
  | "changes the version alone"
  | "changes nothing"
  | "is refused"
  | "is impossible";

/** The end of one case. */
export interface Outcome {
  readonly seed: number;
  readonly kind: string;
  /** The way in which the draft was made of the one that was applied before. */
  readonly way: string;
  /** The effect of an apply that was sent. */
  readonly apply: Effect;
  /** Why `applyIfChanged` sent the draft; `undefined` if it sent nothing. */
  readonly reason: string | undefined;
  /** The draft, and the object before it. */
  readonly draft: JsonObject;
  readonly before: DynamicObject;
  /** The object after it; absent if it was refused. */
  readonly after?: DynamicObject;
  /** The refusal. */
  readonly error?: unknown;
}

/** True for a write that should have been sent. */
export function isLeftOut({ apply, reason }: Outcome): boolean {
  return reason === undefined && (apply === "changes" || apply === "is refused");
}

/** The manager whose drafts are compared. */
/** Drafts that a case tries until one is accepted. */
const DRAWS = 100;

const MANAGER = "one";

/** Applies drafts to a server, of which informers have caches with the managedFields of one manager. */
export class ApplyPlayer implements AsyncDisposable {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #drafts: Drafts;
  readonly #types: Types;
  /** The beginning of names: no run has that of another. Older servers want a letter first in the name of a Service. */
  readonly #run = `a${crypto.randomUUID().slice(0, 6)}`;
  readonly #kinds: Map<string, Kind>;

  constructor(client: Client, namespace: string, drafts: Drafts, types: Types) {
    this.#client = client;
    this.#namespace = namespace;
    this.#drafts = drafts;
    this.#types = types;
    this.#kinds = new Map(
      drafts.kinds.filter(({ kind }) => KINDS.includes(kind)).map((draft) => {
        return [draft.kind, new Kind(client, namespace, draft)];
      }),
    );
  }

  /** Waits until the caches have synced. */
  async start(): Promise<void> {
    await Promise.all([...this.#kinds.values()].map((kind) => kind.start()));
  }

  /** Plays the case of a seed. Kinds take turns, unless one is given. */
  async play(seed: number, only?: string): Promise<Outcome> {
    const random = new Random(seed);
    const name = `${this.#run}-${seed}`;
    const played = this.#kinds.get(only ?? KINDS[seed % KINDS.length])!;
    const { draft, objects, informer } = played;
    const changer = new DraftChanger(random, draft, this.#drafts, this.#types);
    const write = async (manager: string, body: JsonObject): Promise<DynamicObject | undefined> => {
      const object = overlaid(body, { metadata: { name } }) as Apply<DynamicObject>;
      const options = { fieldManager: manager, force: true };
      return await accepted(objects.apply(object, options), (error) => refusal = error.message);
    };
    let refusal = "";
    let applied: JsonObject | undefined;
    let before: DynamicObject | undefined;
    if (random.next() < 0.2) before = await write("editor", changer.drawn());
    for (let tries = 0; applied === undefined; tries++) {
      if (tries === DRAWS) throw new Error(`The server refuses ${DRAWS} drafts of ${draft.kind} ${name}: ${refusal}`);
      const drawn = changer.drawn();
      const answer = await write(MANAGER, drawn);
      if (answer !== undefined) [applied, before] = [drawn, answer];
    }
    while (random.next() < 0.35) {
      const next: JsonObject = random.next() < 0.5
        ? changer.changed(applied).draft
        : overlaid(applied, changer.change()) as JsonObject;
      const answer = await write(MANAGER, next);
      if (answer !== undefined) [applied, before] = [next, answer];
    }
    while (random.next() < 0.35) before = await this.#interfere(random, changer, played, name, applied) ?? before;
    const isSame = random.next() < 0.5;
    const probe = isSame ? { way: "the same", draft: changer.disguised(applied) } : changer.changed(applied);
    await informer.waitForVersion(before!.metadata.resourceVersion);
    const current = informer.lister.get(`${this.#namespace}/${name}`)!;
    return await this.#judge(objects, { seed, kind: draft.kind, ...probe, before: before! }, name, current);
  }

  /** Applies the draft, or compares with an apply that would have been left out. */
  async #judge(
    objects: ResourceClient<DynamicObject>,
    given: Pick<Outcome, "seed" | "kind" | "way" | "draft" | "before">,
    name: string,
    current: DynamicObject,
  ): Promise<Outcome> {
    const draft = overlaid(given.draft, { metadata: { name } }) as Apply<DynamicObject>;
    const options = { fieldManager: MANAGER, force: true };
    try {
      const { object, reason } = await objects.applyIfChanged(draft, { ...options, current });
      const answer = reason === undefined ? await objects.apply(draft, options) : object;
      return { ...given, after: answer, apply: effectOf(given.before, answer), reason };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // The draft is refused. It must have been sent.
      const reason = await objects.applyIfChanged(draft, { ...options, current }).then((it) => it.reason, String);
      const isOfObject = /failed to create typed live object/.test(error.message);
      return { ...given, apply: isOfObject ? "is impossible" : "is refused", reason, error };
    }
  }

  /** Writes to the object as somebody else would. */
  async #interfere(
    random: Random,
    changer: DraftChanger,
    { objects, ofOtherVersion }: Kind,
    name: string,
    applied: JsonObject,
  ): Promise<DynamicObject | undefined> {
    const identity = { metadata: { name } };
    const status = changer.status();
    const force = { fieldManager: "two", force: true };
    const part = (random.next() < 0.5 ? changer.change() : changer.changed(applied).draft) as JsonObject;
    switch (random.below(7)) {
      case 0:
        return await accepted(objects.apply(overlaid(part, identity) as Apply<DynamicObject>, force));
      case 1:
        return await accepted(objects.apply(overlaid(applied, identity) as Apply<DynamicObject>, force));
      case 2:
        return await accepted(objects.patch(name, { type: "merge", body: part }, { fieldManager: "editor" }));
      case 3:
        // The same manager, by another operation.
        return await accepted(objects.patch(name, { type: "merge", body: part }, { fieldManager: MANAGER }));
      case 4: {
        if (status === undefined) return undefined;
        const body = { ...identity, status } as Apply<DynamicObject>;
        return await accepted(objects.apply(body, { ...force, fieldManager: MANAGER, subresource: "status" }));
      }
      case 5: {
        // The same manager, at another version of the kind.
        const spec = { maxReplicas: 7, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } };
        const body = { ...identity, spec } as Apply<DynamicObject>;
        const answer = ofOtherVersion?.apply(body, { ...force, fieldManager: MANAGER });
        return answer && await accepted(answer).then((answer) => answer && objects.get(name));
      }
      default: {
        const body = { spec: { replicas: 1 + random.below(3) } };
        return await accepted(objects.patch(name, { type: "merge", body }, { subresource: "scale" }))
          .then((answer) => answer && objects.get(name));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#kinds.values()].map((kind) => kind[Symbol.asyncDispose]()));
  }
}

/** A kind, with a cache of its objects. */
class Kind implements AsyncDisposable {
  readonly draft: Draft;
  readonly objects: ResourceClient<DynamicObject>;
  /** The same objects at another version, if there is one. */
  readonly ofOtherVersion: ResourceClient<DynamicObject> | undefined;
  readonly informer: SharedIndexInformer<DynamicObject>;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(client: Client, namespace: string, draft: Draft) {
    this.draft = draft;
    const { apiVersion, kind, path } = draft;
    const [version, group] = apiVersion.split("/").toReversed();
    const resource = defineResource<DynamicObject>({
      group,
      version,
      kind,
      plural: path.slice(path.lastIndexOf("/") + 1),
    });
    this.objects = client.resource(resource, { namespace });
    this.ofOtherVersion = version === "v2" ? client.resource({ ...resource, version: "v1" }, { namespace }) : undefined;
    this.informer = new SharedIndexInformer(this.objects, {
      managedFields: { manager: MANAGER },
      ...kind === "Secret" && { secretData: "keep" },
    });
  }

  async start(): Promise<void> {
    this.#running = this.informer.run({ signal: this.#stop.signal });
    await this.informer.waitForCacheSync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

function effectOf(before: DynamicObject, after: DynamicObject): Effect {
  if (after.metadata.resourceVersion === before.metadata.resourceVersion) return "changes nothing";
  const [old, now] = [before, after].map(withoutVersion);
  if (equal(old, now)) return "changes the version alone";
  const [mine, then] = [old, now].map(({ owners, ...rest }) => ({ ...rest, owners: owners.filter(isOwn) }));
  return equal(mine, then) ? "changes other owners" : "changes";
}

/** An object without versions and times, with the owners of its fields in an order of their own. */
function withoutVersion({ metadata, ...rest }: DynamicObject): { readonly owners: readonly string[] } {
  const { resourceVersion: _, managedFields = [], ...others } = metadata;
  const owners = managedFields.map(({ time: _, manager, operation, ...entry }) => {
    return JSON.stringify([manager, operation, entry]);
  });
  return { ...rest, ...{ metadata: others, owners: owners.sort() } };
}

function isOwn(owner: string): boolean {
  return owner.startsWith(JSON.stringify([MANAGER, "Apply"]).slice(0, -1));
}

/** True for a refused write; where a handler of the server panics, it breaks the connection off. */
function isRefusal(error: unknown): error is StatusError | UnreachableError {
  return error instanceof StatusError || error instanceof UnreachableError;
}

/** The answer to a write; `undefined` if it is refused, with a call of `onRefusal`. */
async function accepted<T>(write: Promise<T>, onRefusal?: (error: Error) => void): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    onRefusal?.(error);
    return undefined;
  }
}
