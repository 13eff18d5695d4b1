import type { Followed } from "./job.ts";

/** The fields that handlers read. */
interface ReadObject {
  readonly metadata?: { readonly resourceVersion?: string };
  readonly spec?: { readonly nodeName?: string; readonly podCIDR?: string; readonly holderIdentity?: string };
  readonly status?: { readonly phase?: string; readonly nodeInfo?: unknown };
}

/**
 * Reads a field of an object's metadata, of its spec and of its status, and returns how many of them are set. A lease
 * has no status.
 */
export function readFields(name: Followed, object: object): number {
  const { metadata, spec, status } = object as ReadObject;
  let fields = metadata?.resourceVersion === undefined ? 0 : 1;
  switch (name) {
    case "pods":
      if (spec?.nodeName !== undefined) fields++;
      if (status?.phase !== undefined) fields++;
      return fields;
    case "nodes":
      if (spec?.podCIDR !== undefined) fields++;
      if (status?.nodeInfo !== undefined) fields++;
      return fields;
    case "leases":
      if (spec?.holderIdentity !== undefined) fields++;
      return fields;
  }
}
