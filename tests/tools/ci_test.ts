import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { load } from "js-yaml";
import { entriesIn, examplesOf } from "../../tools/node.ts";
import { oldestOf } from "../../tools/ranges.ts";
import { tagProblem } from "../../tools/release.ts";

interface Job {
  readonly environment?: unknown;
  readonly needs?: string | readonly string[];
  readonly strategy?: { readonly matrix?: unknown };
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: unknown }[];
}

async function jobsOf(workflow: string): Promise<Record<string, Job>> {
  return (load(await Deno.readTextFile(`.github/workflows/${workflow}`)) as { jobs: Record<string, Job> }).jobs;
}

const jobs = await jobsOf("ci.yml");
const nightly = await jobsOf("nightly.yml");
const { tasks } = JSON.parse(await Deno.readTextFile("deno.json")) as {
  readonly tasks: Record<string, { readonly command: string }>;
};
const commands = new Map(
  Object.entries(jobs).map(([name, { steps }]) => [name, steps.flatMap(({ run }) => run ?? [])]),
);
const taskOf = (command: string): string | undefined => /^deno task ([\w:]+)/.exec(command)?.[1];

Deno.test("each job of CI is one task, without logic", () => {
  const nights = Object.entries(nightly).map(([name, { steps }]) =>
    [name, steps.flatMap(({ run }) => run?.replace(/\$\{\{ matrix\.\w+ \}\}/, "x") ?? [])] as const
  );
  for (const [name, found] of [...commands, ...nights]) {
    assertEquals(found.length, 1, name);
    assert(Object.hasOwn(tasks, taskOf(found[0]) ?? ""), `${name} runs "${found[0]}"`);
    assertEquals(/[;|&`]|\$\(/.test(found[0]), false, `${name} has logic: ${found[0]}`);
  }
});

/** Tests, measurements, and tasks that start servers or change many files. */
const ALL_RIGHTS =
  "informer test test:cluster test:versions test:whole twin applies replicas mutants test:node kinds bench bench:limits bench:peers bench:webhooks recovery pictures site";

Deno.test("every other task has the rights that it needs, and not all", () => {
  const found = Object.entries(tasks).filter(([, { command }]) => / -A\b/.test(command)).map(([name]) => name);
  assertEquals(found, ALL_RIGHTS.split(" "));
});

Deno.test("the site is built by one task, which refuses while there are no addresses, and then deployed", async () => {
  const { build, deploy, ...rest } = await jobsOf("site.yml");
  assertEquals([rest, deploy.needs], [{}, "build"]);
  assertEquals(build.steps.flatMap(({ run }) => run ?? []), ["deno task site --build --public --out .site/build"]);
  assertEquals(build.steps.at(-1)!.with, { path: ".site/build" });
  assertEquals(deploy.steps.flatMap(({ run }) => run ?? []), []);
});

Deno.test("actions are pinned to a commit, the same one everywhere, beside the name of its version", async () => {
  const pins = new Map<string, Set<string>>();
  for (const workflow of ["ci.yml", "nightly.yml", "site.yml"]) {
    const lines = (await Deno.readTextFile(`.github/workflows/${workflow}`)).split("\n");
    for (const line of lines.filter((line) => /^ *(?:- )?uses:/.test(line))) {
      const [, action, pin] = /uses: ([\w-]+\/[\w-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)$/.exec(line) ?? [];
      assert(action !== undefined, `${workflow}: ${line}`);
      pins.set(action, (pins.get(action) ?? new Set()).add(pin));
    }
  }
  for (const [action, found] of pins) assertEquals(found.size, 1, action);
});

Deno.test("publishing needs every other job of CI", () => {
  assertEquals([...jobs.publish.needs!].sort(), Object.keys(jobs).filter((name) => name !== "publish").sort());
});

Deno.test("a person approves a release: publishing has an environment, and no other job of CI has the one of it", () => {
  const named = Object.entries(jobs).filter(([, { environment }]) => environment !== undefined);
  assertEquals(named.map(([name, { environment }]) => [name, environment]), [["publish", "release"]]);
});

Deno.test("each night the tests run with the oldest and with the newest npm packages in range", () => {
  const { strategy, steps } = nightly.ranges;
  assertEquals(strategy?.matrix, { end: ["oldest", "newest"] });
  assertEquals(steps.at(-1)?.run, "deno task test:ranges --end ${{ matrix.end }}");
  assertEquals(oldestOf({ a: "npm:a@^1.2.3", "@b/c": "npm:@b/c@^4.0.0", d: "jsr:d@^1.0.0" }), {
    a: "npm:a@1.2.3",
    "@b/c": "npm:@b/c@4.0.0",
    d: "jsr:d@^1.0.0",
  });
  const { imports } = JSON.parse(Deno.readTextFileSync("deno.json")) as { imports: Record<string, string> };
  const others = Object.values(imports).filter((it) => it.startsWith("npm:") && !/@\^\d+\.\d+\.\d+$/.test(it));
  assertEquals(others, [], "ranges whose oldest version is not the number in them");
});

Deno.test("each night the whole cluster and kine are built and tested", () => {
  const runs = (name: string): readonly string[] => nightly[name].steps.flatMap(({ run }) => run ?? []);
  assertEquals(runs("whole"), ["deno task test:whole --install"]);
  assertEquals(runs("kine"), ["deno task test:versions --kine --version newest --install"]);
});

Deno.test(".ci/run runs the tasks of all jobs, but for those that need a route to JSR", async () => {
  const script = await Deno.readTextFile(".ci/run");
  for (const [name, [command]] of commands) {
    if (name === "packages" || name === "publish") continue;
    // The parts of the gate are run one by one, as the tests write a report.
    const wanted = name === "gate" ? ["task static", "task test ", "publish --dry-run"] : [`task ${taskOf(command)}`];
    for (const part of wanted) assertStringIncludes(script, part, name);
  }
});

Deno.test(".ci/run runs the tests first, with an empty cache of packages", async () => {
  const script = await Deno.readTextFile(".ci/run");
  const [, first] = /^npx -y deno@\S+ (.*)$/m.exec(script) ?? [];
  assertStringIncludes(first, "task test ");
  assert(script.indexOf("\nDENO_DIR=$(mktemp -d)\nexport DENO_DIR\n") < script.indexOf(first), "DENO_DIR");
});

Deno.test("a release is refused if its tag is not the version", () => {
  assertEquals(tagProblem("v1.2.3", "1.2.3"), undefined);
  for (const tag of ["v1.2.4", "1.2.3", "", undefined]) {
    assertStringIncludes(tagProblem(tag, "1.2.3")!, "version 1.2.3");
  }
});

Deno.test("examples are read from pages and comments, with the entry points that they import", () => {
  const page = 'text\n```ts\nimport a from "@kube/informer/relay";\n```\n```ts ignore\nx\n```\n';
  const comment = '/**\n * @example\n * ```ts\n * import b from "@kube/informer";\n *\n * b();\n * ```\n */\n';
  assertEquals(examplesOf(page), [`import a from "@kube/informer/relay";\n`]);
  assertEquals(examplesOf(comment), [`import b from "@kube/informer";\n\nb();\n`]);
  assertEquals([...examplesOf(page), ...examplesOf(comment)].flatMap(entriesIn), ["./relay", "."]);
});
