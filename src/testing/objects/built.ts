import type { Mutable } from "../../api/mutable.ts";
import type { KubernetesObject } from "../../api/object.ts";

/** An object of type `T` that a builder returns: the fields `Present` are there, and all can be changed. */
export type Built<T extends KubernetesObject, Present extends keyof T = never> =
  & Mutable<T>
  & { [Name in Present | "apiVersion" | "kind"]-?: Exclude<Mutable<T[Name]>, undefined> };
