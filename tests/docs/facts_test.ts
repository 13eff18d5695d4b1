import { assert, assertEquals } from "@std/assert";
import { OLDEST_DENO } from "../../tools/oldest.ts";
import { NODE_VERSIONS } from "../../tools/npm.ts";
import { TESTED } from "../../tools/versions.ts";
import { RELAY_CLIENT_KB } from "../support/texts/facts.ts";
import { REASONS, reasonsOnBun } from "../support/node/fails_on_bun.ts";
import { pages, ROOT } from "../support/texts/pages.ts";

/** The rows of the page about what is not included, each with the export of `public_api.txt` that contradicts it. */
const ABSENT: Readonly<Record<string, RegExp>> = {
  "authentication and authorization webhooks": /^\.\/webhooks .*auth/i,
  "`kubectl top`": / (?:function top|.*(?:Pod|Node)Metrics$)/,
  "`exec`, `attach`, `port-forward`, `cp`": / function (?:exec|attach|portForward|cp)/,
  "protobuf or CBOR": /protobuf|cbor/i,
  "a rate limit on the client": /qps|ClientRate/i,
  "OIDC login inside the process": /oidc/i,
  "discovery documents kept on disk": /FileDiscovery|DiscoveryCache/,
  "an in-browser client for the API server": /browser/i,
  "methods for every API group": /V1(?:Api|Client)/,
};

/** The version of Deno that CI uses, which commands for a clone name. */
const [, CI_DENO] = /deno@(\d+\.\d+\.\d+)/.exec(Deno.readTextFileSync(new URL(".ci/run", ROOT)))!;

/**
 * The statements of a page that differ from the constants: versions of Deno, Node and kube-apiserver, and the size of
 * the client of a relay. A part of a version, such as Deno 2.3, is as good as all of it.
 */
function wrongIn(text: string): string[] {
  const found: string[] = [];
  const check = (pattern: RegExp, isRight: (versions: string[]) => boolean): void => {
    for (const { 0: statement } of text.matchAll(pattern)) {
      if (!isRight(statement.match(/\d+(?:\.\d+)+/g) ?? [])) found.push(statement);
    }
  };
  const isPartOf = (version: string, ...all: string[]): boolean => all.some((it) => `${it}.`.startsWith(`${version}.`));
  check(/\b[Dd]eno[ @]v?\d+\.\d+(?:\.\d+)?/g, ([version]) => isPartOf(version, OLDEST_DENO, CI_DENO));
  check(/\bNode(?:\.js)?(?: needs version)? v?\d+\.\d+(?:\.\d+)?/g, ([version]) => {
    return isPartOf(version, NODE_VERSIONS.replace(">=", ""));
  });
  check(/\bkube-apiserver v?1\.\d+(?:\.\d+)?(?:(?:,|,? and) 1\.\d+)*/g, (versions) => {
    const areTested = versions.every((version) => TESTED.some((tested) => isPartOf(tested, version)));
    return areTested && (versions.length < 3 || versions.length === TESTED.length);
  });
  for (const line of text.split("\n").filter((line) => /relay\/client|\bminified\b/.test(line))) {
    for (const [size, kilobytes] of line.matchAll(/\b([\d.]+) kB/g)) {
      if (Number(kilobytes) !== RELAY_CLIENT_KB) found.push(size);
    }
  }
  return found;
}

Deno.test("wrongIn finds statements that differ from the constants", () => {
  const parts = [`Deno ${OLDEST_DENO}`, "Deno 2.3 and newer", `npx -y deno@${CI_DENO}`, "Node 24.2", "Node 22"];
  const all = `kube-apiserver ${TESTED.slice(0, -1).join(", ")} and ${TESTED.at(-1)}`;
  const right = [...parts, all, `kube-apiserver ${TESTED[0]} and ${TESTED.at(-1)}`, `kube-apiserver ${TESTED[0]}.2`];
  assertEquals(wrongIn([...right, "minified, about 8 kB", "A pod has 10 kB"].join("\n")), []);
  const wrong = ["Deno 2.4", "Node 24.1", "kube-apiserver 1.31", "kube-apiserver 1.32, 1.33 and 1.34", "deno@2.30"];
  for (const statement of wrong) assertEquals(wrongIn(`It runs on ${statement}.`), [statement]);
  assertEquals(wrongIn("`./relay/client`: 7 kB"), ["7 kB"]);
});

Deno.test("versions and sizes that README and docs state are those that are tested", () => {
  let count = 0;
  for (const page of pages()) {
    const text = Deno.readTextFileSync(new URL(page, ROOT));
    count += text.match(/\b(?:[Dd]eno[ @]|kube-apiserver )\d/g)?.length ?? 0;
    assertEquals(wrongIn(text), [], page);
  }
  assert(count >= 3, `found ${count} statements`);
});

Deno.test("what is said to be absent is not exported", async () => {
  const exported = (await Deno.readTextFile(new URL("tests/public_api.txt", ROOT))).split("\n");
  const page = await Deno.readTextFile(new URL("docs/reference/not-included.md", ROOT));
  const rows = [...page.matchAll(/^\| ((?!you want|--).*?) +\|/gm)].map(([, row]) => row);
  assertEquals(rows, Object.keys(ABSENT), "each row has its export here");
  for (const row of rows) assertEquals(exported.filter((line) => ABSENT[row].test(line)), [], row);
});

Deno.test('the section "On Bun" names each reason for which tests fail on Bun, but for those of the tests alone', () => {
  const page = Deno.readTextFileSync(new URL("docs/operations/node-and-bun.md", ROOT));
  const [, section = ""] = /^## On Bun\n([^]*?)^## /m.exec(page) ?? [];
  const claims = Array.from(section.matchAll(/^- \*\*(.*?)\*\*/gm), ([, claim]) => claim.replace(/\.$/, ""));
  assertEquals(reasonsOnBun(), [...REASONS.ofTests, ...REASONS.onPage].sort());
  assertEquals(REASONS.onPage.filter((reason) => !claims.includes(reason)), []);
});
