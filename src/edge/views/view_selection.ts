import type { KubernetesObject } from "../../api/object.ts";
import type { TableRow } from "../../api/table_row.ts";
import { parseSortKey, type SortKey } from "../../informer/view/sort_key.ts";
import { checkedWindow, type ViewWindow } from "../../informer/view/view_window.ts";
import type { ViewRequest } from "../format/view_events.ts";
import { ObjectSelection } from "../objects/object_selection.ts";
import type { Show } from "../objects/show.ts";

/** The longest window. */
const MAX_LIMIT = 1_000;

/** The greatest number of views of a stream. */
const MAX_VIEWS = 16;

/** The members of a request, and the types that they have as JSON. */
const MEMBERS: Readonly<Record<keyof ViewRequest, "string" | "number" | "strings">> = {
  of: "string",
  namespace: "string",
  labelSelector: "string",
  fieldSelector: "string",
  search: "string",
  sortBy: "strings",
  fields: "strings",
  offset: "number",
  limit: "number",
};

/** The objects, their order, their fields and the window that a client asks for. */
export class ViewSelection {
  /** The name of the collection. */
  readonly of: string;
  /** Equal for views with the same rows in the same order. */
  readonly order: string;
  /** Equal for views that differ in their window alone. */
  readonly id: string;
  /** The window. */
  readonly window: ViewWindow;
  readonly #objects: ObjectSelection;
  readonly #fields: ObjectSelection;
  readonly #words: readonly string[];
  readonly #sortBy: readonly string[];

  private constructor(request: ViewRequest) {
    const { of, namespace, labelSelector, fieldSelector, search = "", sortBy = [], fields = [], offset } = request;
    this.of = of;
    this.#objects = ObjectSelection.parse(parameters({ namespace, labelSelector, fieldSelector }));
    this.#fields = ObjectSelection.parse(parameters({ fields: fields.join(",") }));
    this.#words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
    this.#sortBy = sortBy;
    sortBy.forEach((key) => parseSortKey(key));
    this.window = checkedWindow({ offset, limit: request.limit ?? 50 });
    if (this.window.limit! > MAX_LIMIT) {
      throw new RangeError(`found the limit ${request.limit}, expected at most ${MAX_LIMIT}`);
    }
    this.order = JSON.stringify([of, this.#objects.id, this.#words, sortBy]);
    this.id = JSON.stringify([this.order, this.#fields.id]);
  }

  /**
   * Reads the views of a stream.
   *
   * @throws {SyntaxError} when the text is no JSON, or a selector or path does not parse.
   * @throws {TypeError} when it is no object of requests.
   * @throws {RangeError} when there are too many views, or a window is too long.
   */
  static parse(json: string): Map<string, ViewSelection> {
    const requests: unknown = JSON.parse(json);
    if (!isObject(requests)) throw new TypeError("expected an object of views by their names");
    const entries = Object.entries(requests);
    if (entries.length > MAX_VIEWS) {
      throw new RangeError(`found ${entries.length} views, expected at most ${MAX_VIEWS}`);
    }
    return new Map(entries.map(([name, request]) => [name, new ViewSelection(checked(request))]));
  }

  /** `true` if every object of the collection belongs to the view. */
  get selectsAll(): boolean {
    return this.#words.length === 0 && this.#objects.id === ObjectSelection.parse(new URLSearchParams()).id;
  }

  /** The namespace; `""` is all. */
  get namespace(): string {
    return this.#objects.namespace;
  }

  /** The number of sort keys. */
  get keys(): number {
    return this.#sortBy.length;
  }

  /** Returns the sort keys, which read what `show` returns. */
  sortBy(show: Show): readonly SortKey<KubernetesObject>[] {
    return this.#sortBy.map((text) => {
      const key = parseSortKey<KubernetesObject>(text);
      return {
        by: (object) => {
          const shown = show({ object });
          return shown === undefined ? undefined : key.by(shown);
        },
        descending: key.descending,
      };
    });
  }

  /** Returns true when an object, as clients may see it, belongs to the view. */
  matches(object: KubernetesObject): boolean {
    if (!this.#objects.matches(object)) return false;
    if (this.#words.length === 0) return true;
    const { namespace = "", name } = object.metadata;
    const { cells = [] } = object as Partial<TableRow>;
    const text = [namespace, name, ...cells].join("\n").toLowerCase();
    return this.#words.every((word) => text.includes(word));
  }

  /** Returns the fields of an object that the client asks for, as JSON. */
  json(object: KubernetesObject): string {
    return this.#fields.json(object);
  }
}

function parameters(values: Readonly<Record<string, string | undefined>>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ""),
  );
}

function checked(request: unknown): ViewRequest {
  if (!isObject(request)) throw new TypeError("expected each view to be an object");
  for (const [name, value] of Object.entries(request)) {
    const type = Object.hasOwn(MEMBERS, name) ? MEMBERS[name as keyof ViewRequest] : undefined;
    if (type === undefined) {
      throw new TypeError(`found ${JSON.stringify(name)} in a view, expected ${Object.keys(MEMBERS).join(", ")}`);
    }
    const isRight = type === "number"
      ? typeof value === "number"
      : type === "string"
      ? typeof value === "string"
      : Array.isArray(value) && value.length <= 100 && value.every((it) => typeof it === "string");
    if (!isRight) throw new TypeError(`found ${JSON.stringify(value)} as ${name} of a view`);
  }
  if (typeof request.of !== "string") throw new TypeError(`expected the name of a collection as "of" of a view`);
  return request as unknown as ViewRequest;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
