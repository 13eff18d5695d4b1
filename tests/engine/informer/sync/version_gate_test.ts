import { assertEquals, assertRejects } from "@std/assert";
import { VersionGate } from "../../../../src/engine/informer/sync/version_gate.ts";

/** A version that counts how often its length is read, as each comparison does. */
class Counted {
  compared = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get length(): number {
    this.compared++;
    return this.#text.length;
  }

  toString(): string {
    return this.#text;
  }
}

Deno.test("VersionGate compares a version that no wait is for with the nearest wait alone", async () => {
  const gate = new VersionGate();
  gate.reached("1");
  const versions = Array.from({ length: 100 }, (_, i) => new Counted(`${1_000 + i}`));
  const waits = versions.map((version) => gate.wait(version as unknown as string, {}));
  const before = versions.map(({ compared }) => compared);
  for (let version = 2; version < 52; version++) gate.reached(`${version}`);
  const since = versions.map(({ compared }, i) => compared - before[i]);
  assertEquals(since, [50, ...Array(99).fill(0)]);
  gate.reached("1000");
  await waits[0];
  const next = versions[1].compared;
  const others = versions.slice(2).map(({ compared }) => compared);
  for (let i = 0; i < 10; i++) gate.reached("1000");
  assertEquals([versions[1].compared - next, versions.slice(2).map(({ compared }) => compared)], [10, others]);
  gate.reached("1099");
  await Promise.all(waits);
});

Deno.test("VersionGate resolves waits in any order of their versions, also once the nearest has left", async () => {
  const gate = new VersionGate();
  gate.reached("1");
  const reached: string[] = [];
  const wait = (version: string, signal?: AbortSignal): Promise<void> =>
    gate.wait(version, { signal }).then(() => void reached.push(version));
  const stop = new AbortController();
  const left = assertRejects(() => wait("3", stop.signal), DOMException);
  const waits = ["9", "5", "12", "7"].map((version) => wait(version));
  stop.abort();
  await left;
  const seen: string[][] = [];
  for (const version of ["4", "5", "6", "8", "12"]) {
    gate.reached(version);
    for (let i = 0; i < 10; i++) await Promise.resolve();
    seen.push(reached.splice(0));
  }
  assertEquals(seen, [[], ["5"], [], ["7"], ["9", "12"]]);
  await Promise.all(waits);
  const back = wait("20");
  gate.reached("2");
  await assertRejects(() => back, Error, "went back from 12 to 2");
});

Deno.test("VersionGate that has ended rejects waits with the reason, pending and later ones, unless it has the version", async () => {
  const gate = new VersionGate();
  gate.reached("5");
  const pending = gate.wait("6", {});
  gate.end(new Error("over"));
  await assertRejects(() => pending, Error, "over");
  await assertRejects(() => gate.wait("6", {}), Error, "over");
  await gate.wait("5", {});
});
