import { assertEquals } from "@std/assert";
import { LiveView } from "../../../src/cli/terminal/live_view.ts";
import { Terminal } from "../../../src/cli/terminal/terminal.ts";
import type { InformerStatus } from "../../../src/informer/status.ts";
import { Pod } from "../../../src/kinds/core/v1.ts";
import { FakeTime } from "../../support/fake_time.ts";
import { Captured } from "../../support/session.ts";

function status(part: Partial<InformerStatus>): InformerStatus {
  return {
    state: "live",
    since: new Date(),
    resourceVersion: "1",
    objects: 0,
    events: 0,
    lists: 0,
    completedLists: 0,
    watches: 0,
    recentRelists: 0,
    recentResumes: 0,
    errors: 0,
    quarantined: 0,
    outdated: 0,
    differences: 0,
    handlers: [],
    ...part,
  };
}

Deno.test("LiveView shows the status of an informer", async () => {
  using time = new FakeTime();
  const err = new Captured(true);
  const screen = { stdout: new Captured(), stderr: err, columns: () => 120, capable: true };
  const terminal = new Terminal(() => {}, screen);
  let now = status({ state: "listing", listing: { objects: 500, remaining: 9_500 } });
  const view = new LiveView([{ resource: Pod, informer: { status: () => now } }], terminal);
  const shown = (): string => {
    err.text = "";
    time.tick(250);
    return err.text.replace("\r\x1b[2K", "");
  };
  assertEquals(shown(), "pods: listing, 500 of 10000 listed · 0 events/s");
  now = status({ state: "listing", listing: { objects: 700 } });
  assertEquals(shown(), "pods: listing, 700 listed · 0 events/s");
  now = status({ objects: 10_000, lastBookmarkAt: new Date(Date.now() - 12_000), handlers: [{ pending: 7 } as never] });
  assertEquals(shown(), "pods: live, 10000 objects, 7 behind, bookmark 12s ago · 0 events/s");
  now = status({ state: "unreachable", objects: 10_000, since: new Date(Date.now() - 59_750) });
  assertEquals(shown(), "pods: unreachable for 60s, 10000 objects · 0 events/s");
  err.text = "";
  view[Symbol.dispose]();
  assertEquals(err.text, "\r\x1b[2K");
  err.text = "";
  await time.tickAsync(1_000);
  assertEquals([err.text, time.timers], ["", 0]);
  await terminal.flush();
});
