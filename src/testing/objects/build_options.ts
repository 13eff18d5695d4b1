import type { ObjectMeta, OwnerReference } from "../../api/object.ts";

/** Options of all builders. Fields of an object that they set replace those that the builder fills in. */
export interface BuildOptions {
  /** Name of the object. */
  readonly name: string;
  /** Labels. @default {none} */
  readonly labels?: Readonly<Record<string, string>>;
  /** Annotations. @default {none} */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Finalizers. @default {none} */
  readonly finalizers?: readonly string[];
  /** Owner references. @default {none} */
  readonly ownerReferences?: readonly OwnerReference[];
  /** The uid. @default {derived from kind, namespace and name} */
  readonly uid?: string;
  /** The resourceVersion. @default {"1"} */
  readonly resourceVersion?: string;
  /** Any other metadata. @default {none} */
  readonly metadata?: Partial<ObjectMeta>;
}

/** Options of builders for namespaced objects. */
export interface NamespacedBuildOptions extends BuildOptions {
  /** Namespace of the object. @default {"default"} */
  readonly namespace?: string;
}
