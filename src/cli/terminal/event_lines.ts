import type { KubernetesObject } from "../../api/object.ts";
import { type Resource, resourceName } from "../../api/resource.ts";
import type { AddedEvent, DeletedEvent, SyncedEvent, UpdatedEvent } from "../../informer/events/event.ts";
import { jsonText, plain } from "./text/plain.ts";
import { qualifiedName } from "./table/qualified_name.ts";
import { objectIn, rowCells } from "./table/row_cells.ts";
import type { GrowingTable } from "./table/growing_table.ts";
import { redactObject } from "./redact_object.ts";
import type { OutputFormat } from "./output_format.ts";

/** Options for {@linkcode EventLines}. */
export interface EventLinesOptions {
  /** Output format. */
  readonly output: OutputFormat;
  /** If `true`, prints the object, or its cells. */
  readonly object: boolean;
  /** If `true`, prints the namespace in tables. */
  readonly namespaces: boolean;
  /** If `true`, prints the data of Secrets. */
  readonly showSecrets: boolean;
  /** The columns, shared by all resources. */
  readonly table: GrowingTable;
  /** `true` if there are several resources; then each line names its resource. */
  readonly several: boolean;
}

/** An event about an object. */
export type PrintedEvent =
  | AddedEvent<KubernetesObject>
  | UpdatedEvent<KubernetesObject>
  | DeletedEvent<KubernetesObject>;

/** Formats the events of one resource as lines. */
export class EventLines {
  readonly #resource: Resource<KubernetesObject>;
  readonly #options: EventLinesOptions;
  readonly #of: { readonly resource?: string };

  /** Formats events of `resource`. */
  constructor(resource: Resource<KubernetesObject>, options: EventLinesOptions) {
    this.#resource = resource;
    this.#options = options;
    this.#of = options.several ? { resource: resourceName(resource) } : {};
  }

  /** Returns the line for an event. Parses the object only if it is printed. */
  of(event: PrintedEvent): string {
    const { output, object, namespaces, showSecrets, table, several } = this.#options;
    const resource = this.#resource;
    if (output === "name") return plain(qualifiedName(resource, event.name));
    if (output === "json") {
      const { type, ...rest } = event.toJSON() as { readonly type: string };
      const shown = object ? { object: redactObject(objectIn(resource, event.object), resource, showSecrets) } : {};
      return jsonText({ type, ...this.#of, ...rest, ...shown });
    }
    const verb = event.type === "updated" && event.resync ? "resync" : event.type;
    const bare = namespaces && resource.scope === "Namespaced" ? [event.namespace, event.name] : [event.name];
    const cells = object ? rowCells(resource, event.object, { wide: output === "wide", namespaces }) : bare.map(plain);
    return table.line([verb, ...(several ? [resource.plural] : []), ...cells]);
  }

  /** Returns the line for the initial sync; `undefined` for formats without such a line. */
  synced({ objects, resourceVersion }: SyncedEvent): string | undefined {
    if (this.#options.output !== "json") return undefined;
    return JSON.stringify({ type: "synced", ...this.#of, objects, resourceVersion });
  }
}
