import { Random } from "../../../src/testing/fake/random.ts";
import { isObject, type Json, type JsonObject, type MutableJson } from "../../../src/engine/api/json.ts";
import { objectOr } from "../../../src/engine/api/members.ts";
import { type Draft, type Drafts, drawn, drawnObject, overlaid } from "./drafts.ts";
import { MUTATIONS } from "./mutations.ts";
import { patchOf } from "./patch_bodies.ts";
import type { Case, PatchType, Step } from "./step.ts";
import type { Types } from "./types.ts";
import { WRONG_REQUESTS } from "./wrong_requests.ts";

/** The share of cases with something that is meant to be wrong. */
const WRONG_SHARE = 0.38;

/** The share of cases in which managers share untyped fields, of kinds that have some. */
const UNTYPED_SHARE = 0.15;

/** The weights of the steps that follow the first. */
const WEIGHTS: readonly (readonly [step: PatchType | "put" | "delete" | "post", weight: number])[] = [
  ["json", 18],
  ["merge", 18],
  ["strategic", 21],
  ["apply", 18],
  ["put", 15],
  ["delete", 4],
  ["post", 6],
];

/** The case of a seed: the same drafts, types and seed give the same case. Kinds take turns, unless one is given. */
export function caseOf(seed: number, drafts: Drafts, types: Types, kind?: string): Case {
  const draft = drafts.kinds.find((draft) => draft.kind === kind) ?? drafts.kinds[seed % drafts.kinds.length];
  return new CaseWriter(seed, draft, drafts, types).write();
}

class CaseWriter {
  readonly #seed: number;
  readonly #draft: Draft;
  readonly #drafts: Drafts;
  readonly #types: Types;
  readonly #random: Random;
  /** The objects as far as they can be known from the requests alone. */
  readonly #known = new Map<string, JsonObject>();
  /** The objects that have a name that the server chose. */
  readonly #nameless = new Set<string>();
  readonly #steps: Step[] = [];

  constructor(seed: number, draft: Draft, drafts: Drafts, types: Types) {
    this.#seed = seed;
    this.#draft = draft;
    this.#drafts = drafts;
    this.#types = types;
    this.#random = new Random(seed);
  }

  write(): Case {
    const random = this.#random;
    const { untyped = [], kind } = this.#draft;
    if (untyped.length > 0 && random.next() < UNTYPED_SHARE) {
      return { seed: this.#seed, kind, steps: this.#sharing(untyped) };
    }
    const length = random.pick([1, 2, 3, 3, 4, 4, 5, 5, 6]);
    const wrongAt = random.next() < WRONG_SHARE ? random.below(length) : -1;
    for (let at = 0; at < length; at++) {
      const isLast = at === length - 1 && length > 1;
      const step = this.#known.size === 0
        ? (random.next() < 0.12 ? this.#patch("a", "apply") : this.#create("a"))
        : isLast && random.next() < 0.22
        ? this.#delete("a")
        : this.#next();
      this.#steps.push(at === wrongAt ? this.#wrong(step) : step);
      // What was refused does not exist: the next step creates it.
      if (at === wrongAt && this.#steps.length === 1) this.#known.clear();
    }
    return { seed: this.#seed, kind: this.#draft.kind, steps: this.#steps };
  }

  #next(): Step {
    const random = this.#random;
    let at = random.below(WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0));
    const [kind] = WEIGHTS.find(([, weight]) => (at -= weight) < 0)!;
    const object = random.pick([...this.#known.keys()]);
    if (kind === "post") return this.#create(random.next() < 0.7 ? "b" : object);
    if (kind === "delete") return this.#delete(object);
    if (kind === "put") return this.#put(object);
    return this.#patch(object, kind === "strategic" && this.#draft.custom && random.next() < 0.8 ? "merge" : kind);
  }

  #create(object: string): Step {
    const random = this.#random;
    const body = this.#drawn();
    const isNameless = random.next() < 0.07;
    const metadata: MutableJson = { ...objectOr(body.metadata) };
    if (isNameless) metadata.generateName = `${this.#nameOf(object)}-`;
    else metadata.name = this.#nameOf(object);
    const query = this.#query();
    if (query.dryRun === undefined) {
      this.#known.set(object, body);
      if (isNameless) this.#nameless.add(object);
      else this.#nameless.delete(object);
    }
    return { method: "POST", collection: this.#draft.path, object, query, body: { ...body, metadata } };
  }

  #put(object: string): Step {
    const random = this.#random;
    const base = { ...this.#base(object), method: "PUT" as const };
    const status = this.#statusChange();
    if (status !== undefined) return { ...base, subresource: "status", body: { status }, isOverlay: true };
    const change = this.#change();
    if (random.next() < 0.65) {
      // Null removes the version of the answer: the update is unconditional.
      const metadata = { ...objectOr(change.metadata), resourceVersion: null };
      this.#learn(object, change);
      return { ...base, body: random.next() < 0.3 ? { ...change, metadata } : change, isOverlay: true };
    }
    const body = overlaid(random.next() < 0.5 ? this.#known.get(object) : this.#drawn(), change) as JsonObject;
    const version = random.next() < 0.5 ? { resourceVersion: "${version}" } : {};
    this.#known.set(object, body);
    const metadata = { ...objectOr(body.metadata), name: base.name ?? "${name}", ...version };
    return { ...base, body: { ...body, metadata } };
  }

  #patch(object: string, patch: PatchType): Step {
    const random = this.#random;
    const base = { ...this.#base(object), method: "PATCH" as const, patch };
    const status = this.#known.has(object) ? this.#statusChange() : undefined;
    if (patch === "apply") return this.#apply(object, base, status);
    if (status !== undefined) {
      return { ...base, subresource: "status", body: patchOf(random, patch, {}, { status }) };
    }
    const known = this.#known.get(object) ?? {};
    const change = this.#change();
    if (base.query.dryRun === undefined) this.#learn(object, change);
    return { ...base, body: patchOf(random, patch, known, change) };
  }

  #apply(object: string, base: Omit<Step, "body">, status: JsonObject | undefined): Step {
    const random = this.#random;
    const { apiVersion, kind } = this.#draft;
    const query: Record<string, string> = { ...base.query, fieldManager: random.pick(["one", "two"]) };
    if (random.next() < 0.4) query.force = "true";
    const identity = { apiVersion, kind, metadata: { name: base.name ?? "${name}" } };
    if (status !== undefined) return { ...base, query, subresource: "status", body: { ...identity, status } };
    const isWhole = !this.#known.has(object) || random.next() < 0.5;
    const whole = isWhole ? this.#drawn() : {};
    const change = isWhole && random.next() < 0.5 ? {} : this.#change();
    const body = overlaid(overlaid(whole, change), identity) as JsonObject;
    if (query.dryRun === undefined) this.#learn(object, body);
    return { ...base, query, body };
  }

  /** Managers apply untyped fields of an object, and give up those that their next configuration lacks. */
  #sharing(untyped: readonly string[]): Step[] {
    const random = this.#random;
    const { apiVersion, kind, path } = this.#draft;
    const name = this.#nameOf("a");
    const identity = { apiVersion, kind, metadata: { name } };
    const { spec } = drawnObject(random, this.#draft, 0);
    const some = (): JsonObject => Object.fromEntries(untyped.map((key) => [key, untypedTree(random, 3)]));
    const base = { collection: path, object: "a", name } as const;
    const steps: Step[] = [{
      ...base,
      method: "POST",
      query: {},
      body: { ...identity, spec: { ...objectOr(spec), ...some() } },
    }];
    for (let left = 2 + random.below(4); left > 0; left--) {
      const fieldManager = random.pick(["one", "two", "unknown"]);
      const query = { fieldManager, ...random.next() < 0.7 && { force: "true" } };
      const given = random.next() < 0.4 ? {} : some();
      steps.push({ ...base, method: "PATCH", patch: "apply", query, body: { ...identity, spec: given } });
    }
    return steps;
  }

  #delete(object: string): Step {
    const random = this.#random;
    const { query: _, ...base } = this.#base(object);
    const options = random.pick<JsonObject | undefined>([
      undefined,
      undefined,
      { gracePeriodSeconds: 0 },
      { gracePeriodSeconds: 5 },
      { preconditions: { uid: "${uid}" } },
      { preconditions: { resourceVersion: "${version}" } },
      { propagationPolicy: "Foreground" },
      { propagationPolicy: "Orphan" },
      { propagationPolicy: "Background" },
      { dryRun: ["All"] },
    ]);
    const queries: readonly Record<string, string>[] = [{ gracePeriodSeconds: "0" }, { propagationPolicy: "Orphan" }];
    const query = random.next() < 0.2 ? random.pick(queries) : {};
    const body = options && { kind: "DeleteOptions", apiVersion: "v1", ...options };
    return { ...base, method: "DELETE", query, ...body && { body } };
  }

  /** Makes a step wrong: by the kind's own mistakes, by its schema, or by its request. */
  #wrong(step: Step): Step {
    const random = this.#random;
    const way = random.next();
    if (way < 0.2 || step.method === "DELETE" || Array.isArray(step.body)) {
      const wrong = WRONG_REQUESTS.filter(({ fits }) => fits(step));
      if (wrong.length > 0) {
        const { name, change } = random.pick(wrong);
        return { ...step, ...change(random, step), wrong: name };
      }
    }
    const body = objectOr(step.body);
    if (way < 0.62) {
      const isCommon = random.next() < 0.25;
      const draft = random.pick((isCommon ? this.#drafts.common : this.#draft).wrong);
      const mistake = drawn(random, draft, 0.5);
      return { ...step, body: withMistake(body, mistake), wrong: `${isCommon ? "metadata" : "kind"}` };
    }
    const { apiVersion, kind } = this.#draft;
    const type = this.#types.of(apiVersion, kind);
    for (let tries = 0; tries < 20; tries++) {
      const name = random.pick(Object.keys(MUTATIONS));
      const changed = MUTATIONS[name](random, this.#types, body, type);
      if (changed !== undefined) return { ...step, body: changed, wrong: name };
    }
    return { ...step, body: { ...body, nonsense: 1 }, wrong: "an unknown field" };
  }

  #drawn(): JsonObject {
    return drawnObject(this.#random, this.#draft, this.#random.pick([0, 0.1, 0.2, 0.4, 0.8]));
  }

  #change(): JsonObject {
    const random = this.#random;
    const changes = random.next() < 0.3 ? this.#drafts.common.change : this.#draft.change;
    return drawn(random, random.pick(changes), 0.5) as JsonObject;
  }

  #statusChange(): JsonObject | undefined {
    const { status } = this.#draft;
    if (status === undefined || this.#random.next() > 0.2) return undefined;
    return drawn(this.#random, this.#random.pick(status), 0.5) as JsonObject;
  }

  #query(): Record<string, string> {
    const random = this.#random;
    const query: Record<string, string> = {};
    if (random.next() < 0.4) query.fieldManager = random.pick(["editor", "one", "kubectl-edit"]);
    if (random.next() < 0.18) query.fieldValidation = random.pick(["Strict", "Warn", "Ignore"]);
    if (random.next() < 0.04) query.dryRun = "All";
    return query;
  }

  #base(object: string): Pick<Step, "collection" | "object" | "name" | "query"> {
    const name = this.#nameless.has(object) ? undefined : this.#nameOf(object);
    return { collection: this.#draft.path, object, ...name !== undefined && { name }, query: this.#query() };
  }

  #nameOf(object: string): string {
    return this.#draft.cluster ? `\${ns}-${object}` : `web-${object}`;
  }

  #learn(object: string, change: JsonObject): void {
    this.#known.set(object, overlaid(this.#known.get(object), change) as JsonObject);
  }
}

/** Any JSON, of few keys and values, so that two of them often meet. */
function untypedTree(random: Random, depth: number): Json {
  if (depth === 0 || random.next() < 0.15) return random.pick<Json>([1, 2, null, {}, [1], [{ a: 1 }]]);
  const keys = ["a", "b"].filter(() => random.next() < 0.6);
  return Object.fromEntries(keys.map((key) => [key, untypedTree(random, depth - 1)]));
}

/** Puts a mistake into a body. Of the containers there, the first takes the members of the mistake's first. */
function withMistake(body: Json | undefined, mistake: Json): Json {
  if (!isObject(mistake) || !isObject(body)) return mistake;
  const out: MutableJson = { ...body };
  for (const [key, value] of Object.entries(mistake)) out[key] = withMistake(body[key], value!);
  return out;
}
