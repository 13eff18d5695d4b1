/**
 * Random server-side applies by seed, from the drafts of the twin: what an object went through, and a draft that may or
 * may not change it.
 *
 * @module
 */
import type { Random } from "../../../src/testing/fake/random.ts";
import { isObject, type Json, type JsonObject, type MutableJson } from "../../../src/engine/api/json.ts";
import { objectOr } from "../../../src/engine/api/members.ts";
import { type Draft, type Drafts, drawn, drawnObject, overlaid } from "../twin/drafts.ts";
import { MUTATIONS, valueOf } from "../twin/mutations.ts";
import { type Place, type Types, withValueAt } from "../twin/types.ts";

/** The built-in kinds, and the custom one, whose objects are applied. */
export const KINDS: readonly string[] = [
  ...["ConfigMap", "CronJob", "DaemonSet", "Deployment", "HorizontalPodAutoscaler", "Ingress", "Job"],
  ...["NetworkPolicy", "PersistentVolumeClaim", "PodDisruptionBudget", "Role", "RoleBinding", "Secret", "Service"],
  ...["ServiceAccount", "StatefulSet", "Machine"],
];

/** Changes drafts of one kind at random. */
export class DraftChanger {
  readonly #random: Random;
  readonly #draft: Draft;
  readonly #drafts: Drafts;
  readonly #types: Types;

  constructor(random: Random, draft: Draft, drafts: Drafts, types: Types) {
    this.#random = random;
    this.#draft = draft;
    this.#drafts = drafts;
    this.#types = types;
  }

  /** A draft of the kind, without a name. */
  drawn(): JsonObject {
    return drawnObject(this.#random, this.#draft, this.#random.pick([0, 0.1, 0.2, 0.4, 0.8]));
  }

  /** Members that may be set later. */
  change(): JsonObject {
    const random = this.#random;
    const changes = random.next() < 0.3 ? this.#drafts.common.change : this.#draft.change;
    return drawn(random, random.pick(changes), 0.5) as JsonObject;
  }

  /** Members of the status; `undefined` if the kind has none. */
  status(): JsonObject | undefined {
    const { status } = this.#draft;
    return status && drawn(this.#random, this.#random.pick(status), 0.5) as JsonObject;
  }

  /** The same draft, written in another way. */
  disguised(draft: JsonObject): JsonObject {
    const random = this.#random;
    let out = draft;
    if (random.next() < 0.5) out = shuffled(random, out) as JsonObject;
    if (random.next() < 0.5) out = this.#withQuantities(out);
    if (random.next() < 0.2) out = overlaid(out, { metadata: { generation: 7 } }) as JsonObject;
    return out;
  }

  /** Another draft, and the name of the way in which it was made. */
  changed(draft: JsonObject): { readonly way: string; readonly draft: JsonObject } {
    const random = this.#random;
    for (;;) {
      const way = random.pick(Object.keys(WAYS));
      const changed = WAYS[way](this, draft);
      if (changed !== undefined && JSON.stringify(changed) !== JSON.stringify(draft)) return { way, draft: changed };
    }
  }

  /** A place of a draft, but for those that identify the object. */
  place(draft: JsonObject, is: (place: Place) => boolean): Place | undefined {
    const { apiVersion, kind } = this.#draft;
    const places = this.#types.places(draft, this.#types.of(apiVersion, kind)).filter((place) => {
      return place.path.length > 0 && !IDENTITY.has(String(place.path[0])) && is(place);
    });
    return places.length === 0 ? undefined : this.#random.pick(places);
  }

  /** A draft changed by its schema. */
  mutated(draft: JsonObject, name: string): JsonObject | undefined {
    const { apiVersion, kind } = this.#draft;
    return MUTATIONS[name](this.#random, this.#types, draft, this.#types.of(apiVersion, kind));
  }

  /** A draft with another value at a place. */
  replaced(
    draft: JsonObject,
    is: (place: Place) => boolean,
    by: (value: Json, place: Place) => Json | undefined,
  ): JsonObject | undefined {
    const place = this.place(draft, is);
    return place && withValueAt(draft, place.path, by(place.value, place)) as JsonObject;
  }

  pick<T>(values: readonly T[]): T {
    return this.#random.pick(values);
  }

  shuffled<T>(values: readonly T[]): T[] {
    return shuffledList(this.#random, values);
  }

  /** A value that the schema of a place allows. */
  valueFor({ path, type }: Place): Json {
    return valueOf(this.#random, this.#types, String(path.at(-1)), type, 2);
  }

  #withQuantities(draft: JsonObject): JsonObject {
    const isQuantity = ({ path, value }: Place): boolean =>
      /^(limits|requests)$/.test(String(path.at(-2))) && typeof value !== "object" && !this.#draft.custom;
    return this.replaced(draft, isQuantity, (value) => this.pick(formsOf(String(value)))) ?? draft;
  }
}

const IDENTITY = new Set(["apiVersion", "kind"]);

/** Texts, and numbers, of the same quantity that are stored in the same form. */
function formsOf(quantity: string): Json[] {
  const forms: Readonly<Record<string, Json[]>> = {
    "1": [1, "1000m", "1.0"],
    "2": [2, "2000m", "0.002k"],
    "1500m": ["1.5", 1.5],
    "100m": ["0.1", 0.1],
    "0.1": ["100m", 0.1],
    "0.25": ["250m", 0.25],
    "1Gi": ["1024Mi", "1048576Ki"],
    "128Mi": ["131072Ki", "0.125Gi"],
    "1G": ["1000M", "1000000k"],
  };
  return forms[quantity] ?? [quantity];
}

/** Ways to change a draft. Some change nothing for the server. */
const WAYS: Readonly<Record<string, (changer: DraftChanger, draft: JsonObject) => JsonObject | undefined>> = {
  "members that may be set": (changer, draft) => overlaid(draft, changer.change()) as JsonObject,
  "another draft": (changer, draft) => {
    const { metadata: _, ...rest } = changer.drawn();
    return { ...rest, metadata: objectOr(draft.metadata) };
  },
  "a field of the schema": (changer, draft) => changer.mutated(draft, "a field of the schema"),
  "an edge of a value": (changer, draft) => changer.mutated(draft, "an edge of a value"),
  "another value": (changer, draft) =>
    changer.replaced(draft, ({ value }) => !isObject(value), (_, place) => changer.valueFor(place)),
  "a removed member": (changer, draft) => changer.replaced(draft, ({ path }) => path.length > 1, () => undefined),
  "an empty or absent value": (changer, draft) =>
    changer.replaced(draft, ({ path }) => path.length > 1, (value) => {
      const empty: Json = Array.isArray(value) ? [] : isObject(value) ? {} : typeof value === "string" ? "" : 0;
      return changer.pick([null, empty, typeof value === "boolean" ? false : empty]);
    }),
  "another order": (changer, draft) =>
    changer.replaced(
      draft,
      ({ value }) => Array.isArray(value) && value.length > 1,
      (value) => changer.shuffled(value as Json[]),
    ),
  "an item twice": (changer, draft) =>
    changer.replaced(
      draft,
      ({ value }) => Array.isArray(value) && value.length > 0,
      (value) => [...value as Json[], changer.pick(value as Json[])],
    ),
  "an item less": (changer, draft) =>
    changer.replaced(draft, ({ value }) => Array.isArray(value), (value) => (value as Json[]).slice(1)),
  "a quantity in another form anywhere": (changer, draft) =>
    changer.replaced(
      draft,
      ({ value }) => /^\d/.test(String(value)) && typeof value !== "object",
      (value) =>
        changer.pick([...formsOf(String(value)), `${value}`, `${value}.0`, `${Number.parseFloat(`${value}`)}`]),
    ),
  "a number for a text, a text for a number": (changer, draft) =>
    changer.replaced(
      draft,
      ({ value }) => typeof value === "number" || /^\d+$/.test(String(value)),
      (value) => typeof value === "number" ? String(value) : Number(value),
    ),
  "data for texts": (_, { data, stringData, ...rest }) =>
    !isObject(stringData) ? undefined : {
      ...rest,
      data: {
        ...objectOr(data),
        ...Object.fromEntries(Object.entries(stringData).map(([name, text]) => [name, btoa(String(text))])),
      },
    },
  "texts for data": (_, { data, ...rest }) =>
    rest.type === undefined || !isObject(data) ? undefined : {
      ...rest,
      stringData: Object.fromEntries(Object.entries(data).map(([name, text]) => [name, atob(String(text))])),
    },
  "a default that the server sets": (changer, draft) =>
    changer.replaced(
      draft,
      ({ path, value }) => isObject(value) && DEFAULTED.has(parentOf(path)),
      (value, { path }) => {
        const [name, given] = DEFAULTED.get(parentOf(path))!;
        const { [name]: found, ...others } = value as MutableJson;
        return found === undefined ? { ...others, [name]: given } : others;
      },
    ),
};

/** The name of the list or structure that an element or a member is in. */
function parentOf(path: Place["path"]): string {
  return String(path.findLast((key) => typeof key === "string"));
}

const DEFAULTED: ReadonlyMap<string, readonly [name: string, value: Json]> = new Map([
  ["ports", ["protocol", "TCP"]],
  ["fieldRef", ["apiVersion", "v1"]],
  ["resourceFieldRef", ["divisor", "0"]],
  ["serviceAccountToken", ["expirationSeconds", 3600]],
]);

function shuffled(random: Random, value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => shuffled(random, item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    shuffledList(random, Object.entries(value)).map(([name, member]) => [name, shuffled(random, member!)]),
  );
}

function shuffledList<T>(random: Random, values: readonly T[]): T[] {
  const left = [...values];
  return values.map(() => left.splice(random.below(left.length), 1)[0]);
}
