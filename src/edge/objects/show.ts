import { DecodeError } from "../../api/errors.ts";
import { isSecret } from "../../api/is_secret.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { type Resource, resourceName } from "../../api/resource.ts";
import type { TableRow } from "../../api/table_row.ts";
import { InformerError } from "../../errors/informer_error.ts";

/** Returns what clients may see of the object of an entry; `undefined` if that is nothing. */
export type Show = (entry: { readonly object: KubernetesObject }) => KubernetesObject | undefined;

/** Options of {@linkcode showFor}. */
export interface ShowOptions {
  /** Returns what clients may see of an object. @default {the object} */
  readonly redact?: (object: KubernetesObject, resource: Resource) => KubernetesObject | undefined;
  /** Called with errors of `redact`. */
  readonly onError: (error: unknown) => void;
}

/** Returns a function that shows what `redact` leaves of an object, and nothing where it throws or the object cannot be read. */
export function showFor(resource: Resource, { redact, onError }: ShowOptions): Show {
  const hasGetters = isSecret(resource);
  return (entry) => {
    try {
      const object = hasGetters ? withoutGetters(entry.object) : entry.object;
      return redact === undefined ? object : redact(object, resource);
    } catch (cause) {
      // The informer has reported an object that cannot be read.
      if (!(cause instanceof DecodeError)) {
        onError(new InformerError(`Cannot redact one of "${resourceName(resource)}"`, { cause }));
      }
      return undefined;
    }
  };
}

/** Copies a Secret, or the row of one: members whose reading throws an error are absent from the copy. */
function withoutGetters(object: KubernetesObject): KubernetesObject {
  const { object: inner } = object as Partial<TableRow>;
  return (inner === undefined ? { ...object } : { ...object, object: { ...inner } }) as KubernetesObject;
}
