import { assertEquals } from "@std/assert";
import { markedState, type RowState } from "../../page/mark.ts";

Deno.test("a row that is not ready has a mark and its reason, and others have none", () => {
  const of = (status: string, ready = "", ...conditions: RowState["conditions"]): string | undefined =>
    markedState({ status, ready, conditions });
  const short = { type: "Ready", status: "False", reason: "ContainersNotReady" } as const;
  const minimum = { type: "Available", status: "False", reason: "MinimumReplicasUnavailable" } as const;
  const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" } as const;
  assertEquals(of("Running", "2/2"), undefined);
  assertEquals(of("Completed", "0/1", { ...short, reason: "PodCompleted" }), undefined);
  assertEquals(of("Terminating", "0/1", short), undefined);
  assertEquals(of("", "0/0"), undefined);
  assertEquals(of("", "True"), undefined);
  assertEquals(of("CrashLoopBackOff", "0/1", short), "⚠\u00a0CrashLoopBackOff");
  assertEquals(of("Running", "9/10", short), "⚠\u00a0Running: ContainersNotReady");
  const unschedulable = { type: "PodScheduled", status: "False", reason: "Unschedulable" } as const;
  assertEquals(of("Pending", "0/1", short, unschedulable), "⚠\u00a0Pending: Unschedulable");
  assertEquals(of("", "1/2", minimum), "⚠\u00a01/2: MinimumReplicasUnavailable");
  assertEquals(of("", "1/2", minimum, late), "⚠\u00a01/2: ProgressDeadlineExceeded");
  assertEquals(of("", "1/2"), "⚠\u00a01/2"); // a StatefulSet has no conditions
  const lost = { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" } as const;
  assertEquals(of("NotReady,SchedulingDisabled", "", lost), "⚠\u00a0NotReady,SchedulingDisabled: NodeStatusUnknown");
  assertEquals(of("Ready", "", { type: "Ready", status: "True", reason: "KubeletReady" }), undefined);
  assertEquals(of("", "False", { ...short, reason: "Denied" }), "⚠\u00a0False: Denied"); // a column of a CRD
  assertEquals(
    of("Failed", "", { type: "Failed", status: "True", reason: "DeadlineExceeded" }),
    "⚠\u00a0Failed: DeadlineExceeded",
  );
});
