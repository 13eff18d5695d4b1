/**
 * Sends random requests to a real kube-apiserver and to the fake, and compares the answers. `--help` prints its flags.
 *
 * @module
 */
import { BreakableControlPlane } from "../tests/support/cluster/control_plane.ts";
import { ACCEPTED } from "../tests/support/twin/accepted.ts";
import { caseOf } from "../tests/support/twin/cases.ts";
import { CATEGORIES, compared, type Difference } from "../tests/support/twin/compare.ts";
import { type Draft, readDrafts } from "../tests/support/twin/drafts.ts";
import { type Exchange, TwinPlayer, type TwinServer } from "../tests/support/twin/play.ts";
import { defineCustomKinds, fakeServer, realServer, typesOf, versionOf } from "../tests/support/twin/servers.ts";
import { shrinkCase } from "../tests/support/twin/shrink_case.ts";
import { compareRules } from "../tests/support/twin/rules.ts";
import { compareSchemas } from "../tests/support/twin/schemas.ts";
import { PARTS, signatureOf } from "../tests/support/twin/signature.ts";
import { lineOf, type Step } from "../tests/support/twin/step.ts";
import { type Group, Summary } from "../tests/support/twin/summary.ts";
import { compareValues } from "../tests/support/twin/values.ts";
import { choice, count, quit, readFlags, text, toggle } from "./flags.ts";
import { table } from "./table.ts";

/** The share of cases that must be equal in each category. */
const GOAL = 0.95;

/** The number of cases that are under way at a time. */
const AT_ONCE = 8;

/** The most signatures that are printed. */
const MOST_PRINTED = 40;

const drafts = readDrafts();
const flags = readFlags({
  task: "twin",
  summary: "Sends random requests to a real kube-apiserver and to the fake, and compares status codes and causes,\n" +
    "objects, and managedFields. Each case is a seed.",
  flags: {
    cases: count("number of cases", 2_000),
    from: count("the first seed", 1),
    kind: choice(drafts.kinds.map(({ kind }: Draft) => kind), "the only kind"),
    kubeconfig: text(
      "FILE",
      "a server without controllers; without it, the programs in KUBEBUILDER_ASSETS are started",
    ),
    beside: text("FILE", "a second server in place of the fake: shows what chance and versions do"),
    only: choice(PARTS, "prints the differences of a part of the server alone"),
    report: text("FILE", "writes what differs, as JSON"),
    schemas: count("compares so many random kinds instead, with their schemas and rules: 20 writes each", 0),
    rules: count("compares the values of so many expressions of rules instead, at most those of `rules.txt`", 0),
    shrink: toggle("cuts the first case of each printed difference down to what matters"),
    values: count("compares so many random values of random schemas instead, also with validate()", 0),
    show: toggle("prints the requests and the differences of each case"),
  },
  examples: ["--from 100000", "--kind Pod --cases 1 --from 17 --show", "--cases 500 --shrink --report /tmp/twin.json"],
  exits: `Exits with 1 when less than ${GOAL * 100} % of the cases are equal, with 2 when the command line is wrong.`,
});
Deno.exit(await main() ? 0 : 1);

async function main(): Promise<boolean> {
  await using plane = flags.kubeconfig === undefined ? await startedPlane() : undefined;
  using real = await realServer(flags.kubeconfig ?? plane!.kubeconfig);
  using fake = flags.beside === undefined ? fakeServer() : await realServer(flags.beside);
  if (flags.schemas > 0) return await areSchemasEqual(real, fake);
  if (flags.values > 0) return await areValuesEqual(real, fake);
  if (flags.rules > 0) return await areRulesEqual(real, fake);
  await Promise.all([defineCustomKinds(real), defineCustomKinds(fake)]);
  const types = await typesOf(real, drafts.kinds);
  const version = await versionOf(real);
  const player = new TwinPlayer(real, fake, crypto.randomUUID().slice(0, 6));
  const summary = new Summary(ACCEPTED);
  const startedAt = performance.now();
  let next = flags.from;
  const end = flags.from + flags.cases;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < end) {
      const seed = next++;
      const drawn = caseOf(seed, drafts, types, flags.kind);
      const exchanges = await player.play(drawn);
      summary.add(drawn, exchanges);
      if (flags.show) show(seed, exchanges);
      const done = seed - flags.from + 1;
      if (done % 250 === 0) console.error(`${done} of ${flags.cases} cases, ${seconds(startedAt)}`);
    }
  }));
  console.error(`${flags.cases} cases against kube-apiserver ${version}, ${seconds(startedAt)}`);
  const groups = summary.groups().filter(({ part }) => part === (flags.only ?? part));
  const smaller = flags.shrink ? await shrunk(player, groups.slice(0, MOST_PRINTED)) : new Map();
  print(summary, groups, smaller);
  if (flags.report !== undefined) await Deno.writeTextFile(flags.report, reportOf(summary, version, smaller));
  return summary.reaches(GOAL);
}

/** Compares random kinds, and prints what differs. Returns `true` if the goals are reached. */
async function areSchemasEqual(real: TwinServer, fake: TwinServer): Promise<boolean> {
  const prefix = `r${crypto.randomUUID().slice(0, 4)}x`;
  const range = { from: flags.from, to: flags.from + flags.schemas, prefix };
  const { cases, answers, causes, messages, refused, differences } = await compareSchemas(real, fake, range);
  const percent = (count: number): string => `${(100 * count / cases).toFixed(2)} %`;
  for (const difference of differences.slice(0, MOST_PRINTED)) console.log(difference);
  console.log(
    `${cases} cases of ${flags.schemas} kinds, ${refused} refused; equal: accepted or refused ${percent(answers)}, ` +
      `fields and reasons ${percent(causes)}, messages ${percent(messages)}`,
  );
  return answers >= 0.99 * cases && causes >= GOAL * cases;
}

async function areValuesEqual(real: TwinServer, fake: TwinServer): Promise<boolean> {
  const minor = Number(/^v1\.(\d+)/.exec(await versionOf(real))?.[1]);
  const tally = await compareValues(real, fake, {
    count: flags.values,
    from: flags.from,
    minor,
    onKind: ({ values }) => console.error(`${values} of ${flags.values} values`),
  });
  for (const difference of tally.differences.sort().slice(0, MOST_PRINTED)) console.log(difference);
  for (const [reason, count] of tally.accepted) console.log(`accepted ${count} times: ${reason}`);
  const percentOf = (count: number): string => `${(100 * count / tally.values).toFixed(2)} %`;
  console.log(
    `${tally.values} values on kube-apiserver 1.${minor}, ${tally.refused} refused; equal: accepted or refused ` +
      `${percentOf(tally.answers)}, fields and reasons ${percentOf(tally.causes)}, messages ${
        percentOf(tally.messages)
      }`,
  );
  return tally.answers === tally.values && tally.causes === tally.values;
}

/** Compares expressions of rules, and prints what differs. Returns `true` if 99 % are equal. */
async function areRulesEqual(real: TwinServer, fake: TwinServer): Promise<boolean> {
  const { cases, equal, differences, known, answers } = await compareRules(real, fake, { count: flags.rules });
  for (const line of [...differences, ...known.map((text) => `known: ${text}`)]) console.log(line);
  console.log(`${cases} expressions, ${equal} with the same value or error on ${await versionOf(real)}`);
  if (flags.report !== undefined) await Deno.writeTextFile(flags.report, answers);
  return equal >= 0.99 * cases;
}

async function startedPlane(): Promise<BreakableControlPlane> {
  const assets = Deno.env.get("KUBEBUILDER_ASSETS");
  if (assets === undefined) {
    quit(`no server: set KUBEBUILDER_ASSETS to a folder with "etcd" and "kube-apiserver", or give --kubeconfig`, 2);
  }
  return await BreakableControlPlane.start(assets, { flags: ["--allow-privileged"] });
}

/** The lines of a group's example, by its signature. */
async function shrunk(player: TwinPlayer, groups: readonly Group[]): Promise<Map<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for (const [at, { signature, example }] of groups.entries()) {
    console.error(`shrinking ${at + 1} of ${groups.length}`);
    const show = async (steps: readonly Step[]): Promise<readonly string[] | undefined> => {
      for (const exchange of await player.play({ steps })) {
        const difference = compared(exchange).differences.find((one) => signatureOf(one, exchange) === signature);
        if (difference !== undefined) return [...steps.map(lineOf), differenceLine(difference)];
      }
      return undefined;
    };
    try {
      found.set(signature, (await shrinkCase(example.case, show)).seen);
    } catch (error) {
      found.set(signature, [(error as Error).message]);
    }
  }
  return found;
}

function show(seed: number, exchanges: readonly Exchange[]): void {
  console.log(`seed ${seed}`);
  for (const exchange of exchanges) {
    const { step, real, fake } = exchange;
    console.log(`  ${lineOf(step)}\n    ${real.status} | ${fake.status}`);
    for (const difference of compared(exchange).differences) console.log(`    ${differenceLine(difference)}`);
    if (real.status !== fake.status) console.log(`    ${JSON.stringify([real.body, fake.body]).slice(0, 2_000)}`);
  }
}

function differenceLine({ category, path, real, fake }: Difference): string {
  const text = (value: unknown): string => value === undefined ? "nothing" : JSON.stringify(value).slice(0, 300);
  return `${category} ${path}: real ${text(real)}, fake ${text(fake)}`;
}

function print(summary: Summary, groups: readonly Group[], smaller: ReadonlyMap<string, readonly string[]>): void {
  console.log(table([
    ["cases", "differs", "part", "difference: real | fake"],
    ...groups.slice(0, MOST_PRINTED).map(({ cases, category, part, signature, accepted }) => [
      String(cases),
      category,
      part,
      `${signature}${accepted === undefined ? "" : ` (accepted: ${accepted})`}`,
    ]),
  ]));
  if (groups.length > MOST_PRINTED) console.log(`… ${groups.length - MOST_PRINTED} more`);
  for (const [signature, lines] of smaller) console.log(`\n${signature}\n  ${lines.join("\n  ")}`);
  const sent = [...summary.sent].map(([method, count]) => `${method} ${count}`).join(", ");
  console.log(`\nrequests: ${sent}\n`);
  console.log(table([
    ["kind", ...CATEGORIES.map((category) => `${category} %`), "cases"],
    ...[...summary.kinds].sort().map(([kind, tallies]) => [
      kind,
      ...CATEGORIES.map((category) => percent(tallies[category].equal, tallies[category].compared)),
      String(tallies.answer.compared),
    ]),
    [
      "all",
      ...CATEGORIES.map((category) => percent(summary.cases[category].equal, summary.cases[category].compared)),
      String(summary.cases.answer.compared),
    ],
    [
      "requests",
      ...CATEGORIES.map((category) => percent(summary.requests[category].equal, summary.requests[category].compared)),
      String(summary.requests.answer.compared),
    ],
  ]));
}

function reportOf(summary: Summary, version: string, smaller: ReadonlyMap<string, readonly string[]>): string {
  const { cases, requests, kinds } = summary;
  const groups = summary.groups().map(({ example, kinds, ...group }) => ({
    ...group,
    kinds: Object.fromEntries(kinds),
    seed: example.case.seed,
    isShrunk: smaller.has(group.signature),
    example: smaller.get(group.signature) ?? [...example.case.steps.map(lineOf), differenceLine(example.difference)],
    ...group.category === "answer" && { answers: [example.exchange.real, example.exchange.fake] },
  }));
  const report = { version, from: flags.from, cases, requests, kinds: Object.fromEntries(kinds), groups };
  return `${JSON.stringify(report, null, 1)}\n`;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "-" : (100 * part / whole).toFixed(1);
}

function seconds(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
}
