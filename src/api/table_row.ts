import type { KubernetesObject } from "./object.ts";
import type { Reduced } from "./reduced.ts";

/** A column of the table that a server prints of a kind (`TableColumnDefinition` of meta.k8s.io/v1). */
export interface TableColumn {
  /** The title, `"Restarts"`; kubectl prints it in upper case. */
  readonly name: string;
  /** The type of the cells, as in OpenAPI: `"string"`, `"integer"`, `"number"`, `"boolean"`, or `"date"`. */
  readonly type: string;
  /** The OpenAPI format: `"name"` for the column of the names, else mostly `""`. */
  readonly format: string;
  /** A description for people; may be long. */
  readonly description: string;
  /** 0 for a column that is always shown; above 0 for one of the wide output, `kubectl get -o wide`. */
  readonly priority: number;
}

/** An object as a row of the table of its kind; see `tableOf`. Kind, apiVersion and metadata are those of the object. */
export interface TableRow<T extends KubernetesObject = KubernetesObject> extends KubernetesObject, Reduced {
  /** The cells, in the order of the columns: strings, numbers, booleans, null, or what JSON has else. */
  readonly cells: readonly unknown[];
  /** The columns; all rows of one list or watch share them. */
  readonly columns: readonly TableColumn[];
  /** The object itself. */
  readonly object: T;
}
