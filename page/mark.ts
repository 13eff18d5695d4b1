import type { Condition } from "../src/engine/kinds/meta/v1.ts";

/** The sign before the state of a row that needs somebody. The two are never on different lines. */
const MARK = "⚠\u00a0";

/** What a row says about its state. */
export interface RowState {
  /** The cell of the column Ready: `1/2`, or `False`. */
  readonly ready: string;
  /** The cell of the column Status: `CrashLoopBackOff`. */
  readonly status: string;
  readonly conditions: readonly Partial<Condition>[];
}

/** States that need somebody, or at least somebody who looks. */
const BAD = /BackOff|Err|Fail|Evicted|OOMKilled|Lost|Pending|Unknown|NotReady|Deadline|Invalid/;
/** States that say nothing about their reason. */
const VAGUE = /^(?:Pending|Running|Failed|Unknown|NotReady\b.*|)$/;
/** Conditions with the reason, the most telling one first. */
const TELLING = ["PodScheduled", "Progressing", "Failed", "Ready", "Available"];

/** Returns the text of the state's cell with the mark and the reason, if the row is not ready; else `undefined`. */
export function markedState({ ready, status, conditions }: RowState): string | undefined {
  if (/^(?:Completed?|Succeeded|Terminating)$/.test(status)) return undefined;
  const [, part, whole] = /^(\d+)\/(\d+)$/.exec(ready) ?? [];
  if (!BAD.test(status) && !(Number(part) < Number(whole)) && !/^(?:False|Unknown)$/.test(ready)) return undefined;
  const state = status || ready;
  const found = TELLING.flatMap((type) => conditions.filter((it) => it.type === type))
    .find((it) => it.type === "Failed" ? it.status === "True" : it.status !== "True");
  return `${MARK}${state}${VAGUE.test(status) && found?.reason ? `: ${found.reason}` : ""}`;
}

/** By kind, the sort keys that put objects first that are not ready. The second cell is Ready or Status. */
const UNREADY: Readonly<Record<string, readonly string[]>> = {
  Pod: ["object.status.phase", "cells.1"], // Failed, Pending, Running, Succeeded
  Deployment: ["cells.1"],
  StatefulSet: ["cells.1"],
  DaemonSet: ["-object.status.numberUnavailable"],
  Job: ["-object.status.failed"],
  Node: ["cells.1"], // NotReady, Ready
  PersistentVolumeClaim: ["-cells.1"], // Pending, Lost, Bound
};

/** Returns the sort keys that put objects of a kind first that are not ready; `undefined` if there are none. */
export function unreadyKeys(kind: string): readonly string[] | undefined {
  return UNREADY[kind];
}
