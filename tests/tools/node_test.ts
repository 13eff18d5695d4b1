import { assertEquals } from "@std/assert";
import { CLUSTER_TESTS, ROOMS } from "../../tools/node.ts";
import { FAILS } from "../support/node/fails_on_bun.ts";
import { LEFT_OUT } from "../support/node/left_out.ts";

function exists(path: string): boolean {
  try {
    return Deno.statSync(new URL(path, new URL("../", import.meta.url))) !== undefined;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return false;
  }
}

Deno.test("the folders and tests that run on Node, and those that it or Bun leaves out, exist", () => {
  const named = [...ROOMS, ...CLUSTER_TESTS, ...Object.keys(LEFT_OUT), ...Object.keys(FAILS)];
  assertEquals(named.filter((path) => !exists(path)), []);
});
