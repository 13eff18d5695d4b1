import type { KubernetesObject, ObjectMeta } from "../../api/object.ts";
import type { WrittenValue } from "../../api/written.ts";

/** An object to be put on a fake server: as `Draft`, but with any metadata, and with a status. */
export type Fixture<T extends KubernetesObject> =
  & {
    readonly [Name in keyof T as Name extends "metadata" | "status" | "$ephemeral" ? never : Name]: WrittenValue<
      T[Name]
    >;
  }
  & { readonly [Name in keyof T as Name extends "status" ? Name : never]?: WrittenValue<T[Name]> }
  & {
    /** Metadata; what is missing is filled in. */
    readonly metadata: Partial<ObjectMeta>;
  };
