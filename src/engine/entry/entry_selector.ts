/**
 * The objects that belong to a selection: in one namespace, by labels and by fields.
 *
 * {@linkcode EntrySelector} is the entry point. It reads only the labels and the selected fields of an entry, which
 * stays unparsed. Relays and the fake server use it for objects that they read in another way. Rights of readers are
 * not decided here.
 *
 * @module
 */
import type { CacheEntry } from "../api/entry.ts";
import { FieldSelector, type FieldValue, LabelSelector } from "../api/selector.ts";
import { valuesAt } from "./path.ts";

/** Selectors as text. */
interface SelectorTexts {
  /** One namespace. @default {"": all} */
  readonly namespace?: string;
  /** The labels that objects must have. @default {any} */
  readonly labelSelector?: string;
  /** The fields that objects must have. @default {any} */
  readonly fieldSelector?: string;
}

/** The namespace and labels of an object. */
interface Labelled {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A namespace and selectors, parsed: which objects they match. `Source` is what their fields are read from. */
export class EntrySelector<Source = CacheEntry<unknown>> {
  /** The namespace; `""` is all. */
  readonly namespace: string;
  /** The labels. */
  readonly labels: LabelSelector;
  /** The fields. */
  readonly fields: FieldSelector;
  readonly #read: (source: Source, keys: readonly string[]) => readonly FieldValue[];

  /** @throws {SyntaxError} when a selector does not parse. */
  constructor(
    { namespace = "", labelSelector = "", fieldSelector = "" }: SelectorTexts,
    read: (source: Source, keys: readonly string[]) => readonly FieldValue[] = valuesAt as never,
  ) {
    this.namespace = namespace;
    this.labels = LabelSelector.parse(labelSelector);
    this.fields = FieldSelector.parse(fieldSelector);
    this.#read = read;
  }

  /** Returns `true` for an object that is selected. @throws {DecodeError} when labels or fields cannot be read. */
  matches(object: Source & Labelled): boolean;
  /** Returns `true` for an object that is selected, whose namespace and labels are in `metadata`. */
  matches(metadata: Labelled, object: Source): boolean;
  matches(object: Labelled, source: Source = object as Source): boolean {
    return (this.namespace === "" || object.namespace === this.namespace) &&
      (this.labels.requirements.length === 0 || this.labels.matches(object.labels)) &&
      (this.fields.isEmpty || this.fields.matchesValues((keys) => this.#read(source, keys)));
  }
}
