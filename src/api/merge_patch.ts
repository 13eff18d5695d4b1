import type { EnumLiterals, Scalar, SentScalar, SentValue } from "./written.ts";

/**
 * The part of a value that a merge patch (RFC 7386) changes: values replace, `null` deletes, lists are replaced by complete
 * ones. `Enums` is computed from `T`; leave it out.
 *
 * @example
 * ```ts
 * import type { MergePatch } from "@kube/informer";
 * import type { Deployment } from "@kube/informer/kinds/apps/v1";
 *
 * const patch: MergePatch<Deployment> = { metadata: { labels: { tier: null } }, spec: { replicas: 3 } };
 * ```
 */
export type MergePatch<T, Enums = EnumLiterals<T>> = unknown extends T ? T
  : T extends Scalar ? SentScalar<T, Enums>
  : T extends readonly (infer Item)[] ? readonly SentValue<Item>[]
  : { readonly [Name in keyof T]?: MergePatch<T[Name]> | null };
