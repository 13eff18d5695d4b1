import { assertEquals } from "@std/assert";
import { type Report, reportLines } from "../../../src/cli/doctor/report.ts";

const REPORT: Report = {
  server: "https://farm.example:6443",
  exitCode: 3,
  steps: [
    { name: "address", status: "ok", what: "https://farm.example:6443 is 10.0.0.1, connected in 3 ms", ms: 3 },
    { name: "clock", status: "warn", what: "120 s behind the server's", remedy: "set this machine's clock", ms: 0 },
    { name: "bookmarks pods", status: "skip", what: "none in 3 s", ms: 3_000 },
    {
      name: "watch pods",
      status: "fail",
      what: `not allowed in namespace "shop"`,
      remedy: `ask for a Role in namespace "shop" with the verbs "list" and "watch" on "pods"`,
      ms: 5,
    },
  ],
  permissions: [`--allow-read="/home/ada/my config"`, "--allow-net=farm.example:6443"],
  ms: 3_210,
};

Deno.test("reportLines prints one line per check for logs", () => {
  assertEquals(reportLines(REPORT, { pretty: false, colours: false, columns: 40 }), [
    "ok    address         https://farm.example:6443 is 10.0.0.1, connected in 3 ms",
    "warn  clock           120 s behind the server's; to do: set this machine's clock",
    "skip  bookmarks pods  none in 3 s",
    `fail  watch pods      not allowed in namespace "shop"; to do: ask for a Role in namespace "shop" with the verbs ` +
    `"list" and "watch" on "pods"`,
    `ok    permissions     --allow-read="/home/ada/my config" --allow-net=farm.example:6443`,
    "1 of 4 checks failed, 1 warning (3.2 s)",
  ]);
});

Deno.test("reportLines wraps and aligns text for terminals, and does not split flags", () => {
  assertEquals(reportLines(REPORT, { pretty: true, colours: false, columns: 64 }), [
    "informer doctor  https://farm.example:6443",
    "",
    "  ✓ address         https://farm.example:6443 is 10.0.0.1,",
    "                    connected in 3 ms",
    "  ! clock           120 s behind the server's",
    "                    → set this machine's clock",
    "  - bookmarks pods  none in 3 s",
    `  ✗ watch pods      not allowed in namespace "shop"`,
    `                    → ask for a Role in namespace "shop" with`,
    `                      the verbs "list" and "watch" on "pods"`,
    `  ✓ permissions     --allow-read="/home/ada/my config"`,
    "                    --allow-net=farm.example:6443",
    "",
    "  1 of 4 checks failed, 1 warning (3.2 s)",
  ]);
});

Deno.test("reportLines adds nothing but colours", () => {
  const style = { pretty: true, columns: 80 };
  const coloured = reportLines(REPORT, { ...style, colours: true });
  // deno-lint-ignore no-control-regex -- the colours themselves
  const bare = coloured.map((line) => line.replaceAll(/\x1b\[\d+m/g, ""));
  assertEquals(bare, reportLines(REPORT, { ...style, colours: false }));
  assertEquals(coloured.find((line) => line.includes("watch pods"))?.includes("\x1b[31m✗\x1b[0m"), true);
});

Deno.test("reportLines ends with a verdict: informers can run, or cannot", () => {
  const verdict = (steps: Report["steps"]): string | undefined =>
    reportLines({ ...REPORT, steps }, { pretty: false, colours: false, columns: 80 }).at(-1);
  const [ok, warn] = REPORT.steps;
  assertEquals(verdict([ok]), "all is well: informers can run (3.2 s)");
  assertEquals(verdict([ok, warn, warn]), "informers can run, with 2 warnings (3.2 s)");
});
