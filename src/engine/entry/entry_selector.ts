/**
 * The entries that selectors match: of one namespace, by labels and by fields.
 *
 * {@linkcode EntrySelector} is the entry point. It reads only the labels and the selected fields of an entry, which
 * stays unparsed. What a reader may see is not decided here.
 *
 * @module
 */
import type { CacheEntry } from "../api/entry.ts";
import { FieldSelector, LabelSelector } from "../api/selector.ts";
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

/** A namespace and selectors, parsed: which entries they match. */
export class EntrySelector {
  /** The namespace; `""` is all. */
  readonly namespace: string;
  /** The labels. */
  readonly labels: LabelSelector;
  /** The fields. */
  readonly fields: FieldSelector;

  /** @throws {SyntaxError} when a selector does not parse. */
  constructor({ namespace = "", labelSelector = "", fieldSelector = "" }: SelectorTexts) {
    this.namespace = namespace;
    this.labels = LabelSelector.parse(labelSelector);
    this.fields = FieldSelector.parse(fieldSelector);
  }

  /** Returns `true` for an entry that is selected. @throws {DecodeError} when labels or fields cannot be read. */
  matches(entry: CacheEntry<unknown>): boolean {
    return (this.namespace === "" || entry.namespace === this.namespace) &&
      (this.labels.requirements.length === 0 || this.labels.matches(entry.labels)) &&
      (this.fields.isEmpty || this.fields.matchesValues((keys) => valuesAt(entry, keys)));
  }
}
