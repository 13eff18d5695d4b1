import { assertEquals } from "@std/assert";
import { internals } from "../../../../src/engine/errors/internals.ts";
import { entry } from "../../../support/sources/fixtures.ts";
import { holding, Run } from "../../../support/sources/informer.ts";

Deno.test("PartSync that is paused before its resume has begun ends a check, as that phase is not entered again", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const [part] = run.informer[internals].sync.parts;
  part.pause();
  await run.tick(0);
  const reasons: string[] = [];
  part.resume();
  part.check = { deleted: () => {}, listing: () => {}, abort: ({ message }) => void reasons.push(message) };
  part.pause();
  await run.tick(0);
  assertEquals(reasons, ["Cannot continue the check: the informer was paused"]);
  part.check = undefined;
});
