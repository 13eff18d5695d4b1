import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { INTRODUCED, introducedIn, minorOf } from "../../tools/introduced.ts";
import { countsOf, TESTED } from "../../tools/versions.ts";

Deno.test("README names the versions that are tested, and the newest is that of src/kinds", async () => {
  const text = (path: string): Promise<string> => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
  const last = TESTED.at(-1)!;
  assertStringIncludes(await text("README.md"), `kube-apiserver ${TESTED.slice(0, -1).join(", ")} and ${last}.`);
  assertStringIncludes(await text("src/kinds/core/v1.ts"), ` from Kubernetes v${last}.`);
});

Deno.test("the counts of a run are those of its last line", () => {
  const output = "ok | 1 passed | 0 failed (1s)\nmore\nFAILED | 101 passed (3 steps) | 2 failed | 1 ignored (4m2s)\n";
  assertEquals(countsOf(output), { passed: 101, failed: 2, ignored: 1 });
  assertEquals(countsOf("ok | 5 passed | 0 failed (1s)\n"), { passed: 5, failed: 0, ignored: 0 });
  assertEquals(countsOf("error: Module not found\n"), undefined);
});

Deno.test("a kind that is not recorded is as old as the oldest version that is tested", () => {
  assert(Object.values(INTRODUCED).every((minor) => minor > minorOf(`v${TESTED[0]}.0`)));
  const device = { group: "resource.k8s.io", version: "v1", kind: "DeviceClass" };
  assertEquals([introducedIn(device), introducedIn({ ...device, kind: "Unknown" })], [34, 32]);
  assertEquals([minorOf("v1.37.2"), minorOf("v1.33.1-gke.1000")], [37, 33]);
  assertThrows(() => minorOf("2.0"), Error, 'Cannot read the version "2.0": it is not v1.N.N');
});
