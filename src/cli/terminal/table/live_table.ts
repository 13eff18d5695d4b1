import type { KubernetesObject } from "../../../api/object.ts";
import { type Resource, resourceName } from "../../../api/resource.ts";
import { GrowingTable } from "./growing_table.ts";
import { rowCells, rowHeads, type RowStyle } from "./row_cells.ts";

/** The objects of one resource. */
interface Section {
  readonly resource: Resource;
  readonly layout: GrowingTable;
  readonly objects: Map<string, KubernetesObject>;
  /** The keys in order; `undefined` after an object came or went. */
  keys: readonly string[] | undefined;
}

/** A line of a {@linkcode LiveTable} before it is formatted: the heads of a section, an object, or an empty line. */
interface Line {
  readonly section: Section;
  readonly key?: string;
  readonly isEmpty?: boolean;
}

/** The rows of one or more resources, as they change. Only rows that are asked for are formatted. */
export class LiveTable {
  readonly #style: Pick<RowStyle, "wide" | "namespaces">;
  readonly #sections = new Map<string, Section>();

  /** A table of these resources, in their order. */
  constructor(resources: readonly Resource[], style: Pick<RowStyle, "wide" | "namespaces">) {
    this.#style = style;
    for (const resource of resources) {
      const section = { resource, layout: new GrowingTable(), objects: new Map(), keys: undefined };
      this.#sections.set(resourceName(resource), section);
    }
  }

  /** Adds or replaces an object. */
  set(resource: Resource, key: string, object: KubernetesObject): void {
    const section = this.#sections.get(resourceName(resource))!;
    if (!section.objects.has(key)) section.keys = undefined;
    section.objects.set(key, object);
  }

  /** Removes an object. */
  delete(resource: Resource, key: string): void {
    const section = this.#sections.get(resourceName(resource))!;
    if (section.objects.delete(key)) section.keys = undefined;
  }

  /** Number of objects. */
  get size(): number {
    let size = 0;
    for (const { objects } of this.#sections.values()) size += objects.size;
    return size;
  }

  /** Number of lines: of each resource that has objects, its heads and rows; an empty line between two resources. */
  get length(): number {
    const sizes = [...this.#sections.values()].map(({ objects }) => objects.size).filter((size) => size > 0);
    return sizes.reduce((sum, size) => sum + size + 1, Math.max(0, sizes.length - 1));
  }

  /**
   * Returns the lines from `first` on, at most `count`; `now` is the time for ages. The heads of the resource that line
   * `first` belongs to take the place of that line.
   */
  lines(first: number, count: number, now: number): string[] {
    const shown = this.#from(first, count);
    if (shown.length > 0 && shown[0].key !== undefined) shown[0] = { section: shown[0].section };
    const style = { ...this.#style, kinds: this.#sections.size > 1, now };
    // Twice, as a later row may widen a column.
    for (const line of shown) format(line, style);
    return shown.map((line) => format(line, style));
  }

  #from(first: number, count: number): Line[] {
    const found: Line[] = [];
    let at = 0;
    const add = (line: Line): void => {
      if (at++ >= first && found.length < count) found.push(line);
    };
    for (const section of this.#sections.values()) {
      const { objects } = section;
      if (objects.size === 0) continue;
      if (at > 0) add({ section, isEmpty: true });
      add({ section });
      section.keys ??= [...objects.keys()].sort();
      const start = Math.max(0, first - at);
      const stop = Math.min(objects.size, first + count - at);
      for (let i = start; i < stop; i++) found.push({ section, key: section.keys[i] });
      at += objects.size;
    }
    return found.slice(0, count);
  }
}

function format({ section, key, isEmpty }: Line, style: RowStyle): string {
  if (isEmpty) return "";
  const { resource, objects, layout } = section;
  if (key !== undefined) return layout.line(rowCells(resource, objects.get(key)!, style));
  const [object] = objects.values();
  return layout.line(rowHeads(resource, object, style));
}
