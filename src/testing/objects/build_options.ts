import type { OwnerReference } from "../../api/object.ts";

/** What every builder takes. */
export interface BuildOptions {
  /** Name of the object. */
  readonly name: string;
  /** What selectors match. @default {none} */
  readonly labels?: Readonly<Record<string, string>>;
  /** Data for tools and people. @default {none} */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Who must act before a deletion is carried out. @default {none} */
  readonly finalizers?: readonly string[];
  /** Whom it belongs to. @default {none} */
  readonly ownerReferences?: readonly OwnerReference[];
  /** Which object of that name it is. @default {made of kind, namespace and name} */
  readonly uid?: string;
  /** Which version of it. @default {"1"} */
  readonly resourceVersion?: string;
}

/** What builders of objects in namespaces take. */
export interface NamespacedBuildOptions extends BuildOptions {
  /** Where it is. @default {"default"} */
  readonly namespace?: string;
}
