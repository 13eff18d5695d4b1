import type { Lease } from "../../kinds/coordination/v1.ts";

/** The election's view of a Lease. */
export interface LeaseRecord {
  /** The identity of the holder; `""` when the lease is free. */
  readonly holder: string;
  /** The time for which others leave the lease to its holder after they have seen it renewed, in seconds. */
  readonly durationSeconds: number;
  /** The number of times that the holder has changed. */
  readonly transitions: number;
  /** The time at which the holder acquired the lease, RFC 3339 by the holder's clock; `""` when unknown. */
  readonly acquireTime: string;
  /** The time of the last renewal, RFC 3339 by the holder's clock; `""` when unknown. No other process compares it. */
  readonly renewTime: string;
}

/** Returns the record of a Lease; missing fields count as empty or 0. */
export function leaseRecordOf({ spec = {} }: Pick<Lease, "spec">): LeaseRecord {
  return {
    holder: spec.holderIdentity ?? "",
    durationSeconds: spec.leaseDurationSeconds ?? 0,
    transitions: spec.leaseTransitions ?? 0,
    acquireTime: spec.acquireTime ?? "",
    renewTime: spec.renewTime ?? "",
  };
}

/** Returns the spec of a Lease with this record. */
export function leaseSpecOf(record: LeaseRecord): NonNullable<Lease["spec"]> {
  return {
    holderIdentity: record.holder,
    leaseDurationSeconds: record.durationSeconds,
    leaseTransitions: record.transitions,
    ...(record.acquireTime === "" ? {} : { acquireTime: record.acquireTime }),
    ...(record.renewTime === "" ? {} : { renewTime: record.renewTime }),
  };
}

/** Returns true when nothing in the records differs. */
export function isSameRecord(a: LeaseRecord, b: LeaseRecord): boolean {
  return a.holder === b.holder && a.durationSeconds === b.durationSeconds && a.transitions === b.transitions &&
    a.acquireTime === b.acquireTime && a.renewTime === b.renewTime;
}
