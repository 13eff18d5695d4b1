/**
 * The objects that a request is about, and what its client may see of them.
 *
 * {@linkcode ObjectSelection} and {@linkcode ShownObject} are the entry points. Rights are a part of the selection, so
 * what is shared by selection is shared by right. `rights.ts` decides about them.
 *
 * @module
 */
import { FieldTree } from "../../engine/api/fields.ts";
import { keyOf, type KubernetesObject, type ObjectKey } from "../../engine/api/object.ts";
import { isSecret, type Resource, resourceName, type TableRow } from "../../engine/api/resource.ts";
import { fieldValues, splitFieldPaths } from "../../engine/api/selector.ts";
import { DecodeError } from "../../engine/api/status.ts";
import { jsonOf } from "../../engine/entry/entry_json.ts";
import { pickFields } from "../../engine/entry/reduction.ts";
import { EntrySelector } from "../../engine/entry/entry_selector.ts";
import { quoted } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import type { RelaySettings } from "./options.ts";
import type { Right } from "./rights.ts";

/** The parameters of a request that select objects and fields. */
const PARAMETERS = ["namespace", "labelSelector", "fieldSelector", "fields"];

/** The objects, and the fields of them, that a request is about. */
export class ObjectSelection {
  /** Equal for equal selections. */
  readonly id: string;
  /** The namespace; `""` is all. */
  readonly namespace: string;
  /** The right of the client to them; `undefined` where that has all. */
  readonly right: Right | undefined;
  readonly #selector: EntrySelector<KubernetesObject>;
  readonly #paths: readonly string[];
  readonly #tree: FieldTree;
  /** Equal for selections of the same fields. */
  readonly #fields: string;

  private constructor(selector: EntrySelector<KubernetesObject>, paths: readonly string[], right?: Right) {
    const { namespace, labels, fields } = selector;
    this.namespace = namespace;
    this.right = right;
    this.#selector = selector;
    this.#paths = paths;
    this.#tree = paths.length === 0 ? FieldTree.leaf : FieldTree.of(paths);
    this.#fields = JSON.stringify(paths);
    this.id = JSON.stringify([namespace, String(labels), String(fields), paths, right?.id]);
  }

  /**
   * Reads the parameters of an address; `others` are allowed, and not read here.
   *
   * @throws {SyntaxError} when a selector or a path does not parse.
   * @throws {TypeError} when a parameter is unknown, or is given twice.
   */
  static parse(parameters: URLSearchParams, others: readonly string[] = []): ObjectSelection {
    const known: readonly string[] = [...PARAMETERS, ...others];
    for (const name of new Set(parameters.keys())) {
      if (!known.includes(name)) {
        throw new TypeError(
          `${JSON.stringify(quoted(name))} is not a parameter. The parameters are ${known.join(", ")}`,
        );
      }
      if (name !== "fields" && parameters.getAll(name).length > 1) {
        throw new TypeError(`the parameter "${name}" occurs twice`);
      }
    }
    const paths = parameters.getAll("fields").flatMap((list) => splitFieldPaths(list, MAX_PATH));
    const selector = new EntrySelector<KubernetesObject>(Object.fromEntries(parameters), fieldValues);
    return new ObjectSelection(selector, [...new Set(paths)].sort());
  }

  /** Returns the same selection of what a right has, instead of its own. */
  limitedTo(right: Right | undefined): ObjectSelection {
    if (right?.id === this.right?.id) return this;
    return new ObjectSelection(this.#selector, this.#paths, right);
  }

  /** Returns true when the object is selected, and may be seen. */
  matches(object: KubernetesObject): boolean {
    return this.right?.allows(object) !== false && this.#selector.matches(object.metadata, object);
  }

  /** Returns the selected fields of an object as JSON; `texts` has the texts of that object, by their fields. */
  json(object: KubernetesObject, texts?: Map<string, string>): string {
    const text = texts?.get(this.#fields) ?? jsonOf(pickFields(object, this.#tree), keyOf(object));
    texts?.set(this.#fields, text);
    return text;
  }
}

/** The longest path of a field, in characters: the longest key of an annotation, and what may be around it. */
const MAX_PATH = 512;

/** Returns what clients may see of the object of an entry; `undefined` if that is nothing. */
export type Show = (entry: { readonly object: KubernetesObject }) => KubernetesObject | undefined;

/**
 * Returns a function that shows what `redact` leaves of an object, and nothing where it throws or the object cannot be
 * read.
 */
export function showFor(resource: Resource, { redact, onError }: Pick<RelaySettings, "redact" | "onError">): Show {
  const hasGetters = isSecret(resource);
  return (entry) => {
    try {
      const object = hasGetters ? withoutGetters(entry.object) : entry.object;
      return redact === undefined ? object : redact(object, resource);
    } catch (cause) {
      // The informer has reported an object that cannot be read.
      if (!(cause instanceof DecodeError)) {
        onError(new InformerError(`Cannot redact an object of "${resourceName(resource)}"`, { cause }));
      }
      return undefined;
    }
  };
}

/** Copies a Secret, or the row of one: members whose reading throws an error are absent from the copy. */
function withoutGetters(object: KubernetesObject): KubernetesObject {
  const { object: inner } = object as Partial<TableRow>;
  return (inner === undefined ? { ...object } : { ...object, object: { ...inner } }) as KubernetesObject;
}

/** An object as clients may see it, which is read at the first use. */
export class ShownObject {
  /** The key. */
  readonly key: ObjectKey;
  /** As {@linkcode Entry.textBytes}. */
  readonly textBytes: number | undefined;
  readonly #show: Show;
  /** Set until the object was read. */
  #entry: { readonly object: KubernetesObject } | undefined;
  #object: KubernetesObject | undefined;

  /** The object of `entry`, reduced by `show`. */
  constructor(
    entry: { readonly key: ObjectKey; readonly object: KubernetesObject; readonly textBytes?: number },
    show: Show,
    textBytes: number | undefined = entry.textBytes,
  ) {
    this.key = entry.key;
    this.textBytes = textBytes;
    this.#entry = entry;
    this.#show = show;
  }

  /** The object; `undefined` if nothing of it may be shown. */
  get object(): KubernetesObject | undefined {
    if (this.#entry !== undefined) {
      this.#object = this.#show(this.#entry);
      this.#entry = undefined;
    }
    return this.#object;
  }
}

/** A part ends behind the object with which it reaches this length, in characters. */
const PART_LENGTH = 64 * 1024;

/** The largest number of objects that are looked at for one part. */
export const PART_OBJECTS = 256;

/** Some objects, as JSON. */
export interface ObjectTexts {
  /** The texts of those that are selected, of which there may be none. */
  readonly texts: readonly string[];
  /** The index behind the last object that was looked at. */
  readonly to: number;
}

/** Returns the selected objects from an index on as JSON, no more than can be made in a short time. */
export function objectTexts(objects: readonly ShownObject[], from: number, selection: ObjectSelection): ObjectTexts {
  return textsFrom(objects.length, from, (index) => {
    if (selection.right?.allowsKey(objects[index].key) === false) return undefined; // it is not parsed
    const { object } = objects[index];
    return object !== undefined && selection.matches(object) ? selection.json(object) : undefined;
  });
}

/**
 * Returns texts from an index on, which is below `end`, as `textAt` returns them for those that are selected; no more
 * than can be made in a short time.
 */
export function textsFrom(end: number, from: number, textAt: (index: number) => string | undefined): ObjectTexts {
  const texts: string[] = [];
  const last = Math.min(end, from + PART_OBJECTS);
  let to = from;
  for (let length = 0; to < last && length < PART_LENGTH; to++) {
    const text = textAt(to);
    if (text === undefined) continue;
    texts.push(text);
    length += text.length;
  }
  return { texts, to };
}
