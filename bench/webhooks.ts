/**
 * Admission webhooks over TLS, ours and controller-runtime's, in turns under the same load, and then the same load
 * while the certificate is replaced. `--help` prints the flags, and README.md says what is sent.
 */
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type MadeCertificates, makeCertificates } from "../src/testing/control_plane/mod.ts";
import { count, list, readFlags } from "../tools/flags.ts";
import { rounded, table } from "../tools/table.ts";
import { type Item, podItem } from "./_data.ts";
import { Child, type Command } from "./peers/child.ts";
import { denoRun, goProgram, onNode } from "./peers/peer.ts";
import { median, medianInterval } from "./statistics.ts";

/** A server, whose command gets the folder of the certificate and how often to look at it. */
interface Side {
  readonly id: string;
  readonly name: string;
  command(folder: string, reloadMs: number): Promise<Command>;
}

function controllerRuntime(id: string, name: string, mode: "typed" | "handler", gogc = 100): Side {
  const command: Side["command"] = async (folder) =>
    ["env", `GOGC=${gogc}`, await goProgram("webhooks", "./webhooks"), folder, mode] as const;
  return { id, name: `controller-runtime 0.25.2, ${name}`, command };
}

/** All servers, in the order of the table. The first is judged. */
const SIDES: readonly Side[] = [
  {
    id: "deno",
    name: `ours, Deno ${Deno.version.deno}`,
    command: (folder, reloadMs) =>
      Promise.resolve([...denoRun("clients/webhooks.ts"), folder, String(reloadMs)] as const),
  },
  {
    id: "node",
    name: "ours, Node",
    command: async (folder, reloadMs) => [...await onNode("webhooks", "webhooks.ts"), folder, String(reloadMs)],
  },
  controllerRuntime("typed", "Validator and Defaulter", "typed"),
  controllerRuntime("typed-gogc", "the same, GOGC=400", "typed", 400),
  controllerRuntime("handler", "admission.Handler", "handler"),
];

/** The figures of `peers/go/load`. */
interface Load {
  readonly reviews: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
  /** What was wrong with one of them. */
  readonly failure?: string;
  /** How many certificates the clients have seen. */
  readonly certificates: number;
}

/** The figures of one round. */
interface Round extends Pick<Load, "p50Ms" | "p99Ms"> {
  readonly perSecond: number;
  /** CPU of the server, in milliseconds a review. */
  readonly cpuMs: number;
}

/** Defaults of the certificate of ours, and for its replacement, in milliseconds. */
const RELOAD_MS = { usual: 10_000, often: 20 };

const flags = readFlags({
  task: "bench:webhooks",
  summary:
    "Sends reviews of updates of 10 kB pods over TLS, in turns to a validating and a mutating webhook of ours\n" +
    "and of controller-runtime. Then it replaces the certificate of each under the same load.",
  flags: {
    only: list(
      "IDS",
      `servers, comma separated; default all:\n${SIDES.map(({ id }) => id).join(", ")}`,
      SIDES.map(({ id }) => id),
    ),
    rounds: count("rounds, in which each server has its turn", 7),
    seconds: count("seconds of load for a server in a round, after a round that is not measured", 5),
    connections: count("connections that are kept", 8),
    replacements: count("new certificates; half of the clients make a new connection for each review", 20),
  },
  examples: ["--only deno,typed", "--rounds 1 --seconds 1 --replacements 4"],
  exits: "Exits with 1 when it fails or a review fails, with 2 when the command line is wrong.",
});
const folder = await mkdtemp(join(tmpdir(), "informer-bench-webhooks-"));

async function main(): Promise<boolean> {
  const reviews = reviewTexts();
  await writeFile(join(folder, "reviews"), reviews.join("\n"));
  const sides: Side[] = [];
  for (const side of SIDES.filter(({ id }) => flags.only?.includes(id) ?? true)) {
    try {
      await side.command(folder, 1); // it is built
      sides.push(side);
    } catch (error) {
      console.error(`${side.name}: left out: ${error instanceof Error ? error.message : error}`);
    }
  }
  const load = await goProgram("load", "./load");
  const rounds = await race(sides, load);
  const bytes = reviews.reduce((sum, text) => sum + text.length, 0) / reviews.length;
  console.log(
    `Reviews of ${rounded(bytes / 1_000)} kB over ${flags.connections} kept TLS connections; medians of ` +
      `${flags.rounds} rounds of ${flags.seconds} s; ${navigator.hardwareConcurrency} cores, ` +
      `load ${Deno.loadavg()[0].toFixed(1)}\n`,
  );
  printFigures(sides, rounds);
  const replaced: (readonly [Side, Load])[] = [];
  for (const side of sides) replaced.push([side, await replaceCertificates(side, load)]);
  const clients = flags.connections;
  console.log(
    `\n${flags.replacements} new certificates under load; ${clients} clients, half of them by new connections\n`,
  );
  console.log(table([
    ["server", "reviews", "failed", "certificates seen", "a failure"],
    ...replaced.map((
      [{ name }, { reviews, failed, certificates, failure = "" }],
    ) => [name, String(reviews), String(failed), String(certificates), failure]),
  ]));
  const ours = replaced.filter(([{ id }]) => id === "deno" || id === "node");
  return ours.every(([, { failed, certificates }]) => failed === 0 && certificates === flags.replacements + 1);
}

/** Measures all servers in turns. @throws {Error} when a review fails. */
async function race(sides: readonly Side[], load: string): Promise<ReadonlyMap<string, readonly Round[]>> {
  const certificate = await makeCertificates();
  const secret = await MountedSecret.create("usual", certificate);
  await writeFile(join(folder, "ca.crt"), certificate.ca);
  await using running = new AsyncDisposableStack();
  const servers: { readonly id: string; readonly server: Child; readonly url: string }[] = [];
  for (const { id, command } of sides) {
    const server = running.use(new Child(await command(secret.path, RELOAD_MS.usual)));
    servers.push({ id, server, url: await server.line(30_000) });
  }
  const rounds = new Map<string, Round[]>(sides.map(({ id }) => [id, []]));
  for (let round = 0; round <= flags.rounds; round++) {
    for (const { id, server, url } of round % 2 === 0 ? servers : servers.toReversed()) {
      const before = await server.stat();
      const { reviews, seconds, failed, failure, p50Ms, p99Ms } = await runLoad(load, url, {
        seconds: flags.seconds,
        kept: flags.connections,
        fresh: 0,
      });
      if (failed > 0) throw new Error(`${failed} reviews by ${id} have failed: ${failure}`);
      const cpuMs = ((await server.stat()).cpuSeconds - before.cpuSeconds) * 1_000 / reviews;
      const perSecond = reviews / seconds;
      console.error(
        `${id}: ${rounded(perSecond)} reviews/s, p99 ${rounded(p99Ms)} ms${round === 0 ? ", not counted" : ""}`,
      );
      if (round > 0) rounds.get(id)!.push({ perSecond, p50Ms, p99Ms, cpuMs });
    }
  }
  return rounds;
}

/** Clients of a load, and how long they send reviews. */
interface LoadOptions {
  readonly seconds: number;
  /** Clients that keep their connection. */
  readonly kept: number;
  /** Clients that make a connection for each review. */
  readonly fresh: number;
}

async function runLoad(load: string, url: string, { seconds, kept, fresh }: LoadOptions): Promise<Load> {
  const files = [join(folder, "ca.crt"), join(folder, "reviews")];
  await using child = new Child([load, url, ...files, String(seconds), String(kept), String(fresh)]);
  return JSON.parse(await child.line(seconds * 1_000 + 30_000)) as Load;
}

function printFigures(sides: readonly Side[], rounds: ReadonlyMap<string, readonly Round[]>): void {
  const of = (id: string, field: keyof Round): number => median(rounds.get(id)!.map((round) => round[field]));
  const fields = ["perSecond", "p50Ms", "p99Ms", "cpuMs"] as const;
  console.log(table([
    ["server", "reviews/s", "p50 ms", "p99 ms", "server CPU ms a review"],
    ...sides.map(({ id, name }) => [name, ...fields.map((field) => rounded(of(id, field)))]),
  ]));
  const isOurs = ({ id }: Side): boolean => id === "deno" || id === "node";
  const pairs = sides.filter(isOurs).flatMap((ours) =>
    sides.filter((side) => !isOurs(side)).map(({ id }) => [ours.id, id] as const)
  );
  const rows = pairs.map(([ours, theirs]) => {
    const others = rounds.get(theirs)!;
    const ratios = fields.map((field) => rounds.get(ours)!.map((round, at) => round[field] / others[at][field]));
    const shown = ratios.map((of) => {
      const { from, to } = medianInterval(of, 0.9) ?? { from: Math.min(...of), to: Math.max(...of) };
      return `${rounded(median(of))} (${rounded(from)} to ${rounded(to)})`;
    });
    return [`${ours} : ${theirs}`, ...shown, median(ratios[0]) >= 0.5 ? "yes" : "no"];
  });
  const heading = ["ours : theirs", "reviews/s", "p50", "p99", "CPU", "reviews/s >= 0.5"];
  if (rows.length > 0) console.log(`\n${table([heading, ...rows])}`);
}

/** Replaces the certificate of a server in equal intervals, while half of the clients make new connections. */
async function replaceCertificates({ id, command }: Side, load: string): Promise<Load> {
  const made = await Promise.all(Array.from({ length: flags.replacements + 1 }, () => makeCertificates()));
  const secret = await MountedSecret.create(id, made[0]);
  await writeFile(join(folder, "ca.crt"), made.map(({ ca }) => ca).join(""));
  await using server = new Child(await command(secret.path, RELOAD_MS.often));
  const url = await server.line(30_000);
  const fresh = Math.ceil(flags.connections / 2);
  const seconds = Math.max(flags.seconds, Math.ceil(made.length / 4)); // so that each can be seen
  const loading = runLoad(load, url, { seconds, kept: flags.connections - fresh, fresh });
  const pauseMs = seconds * 1_000 / made.length;
  for (const certificate of made.slice(1)) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    await secret.replace(certificate);
  }
  return await loading;
}

/**
 * A folder as a mounted Secret: `tls.crt` and `tls.key` lead to files in `..data`, a link that is switched. The former
 * files are removed then, as the kubelet does.
 */
class MountedSecret {
  readonly path: string;
  #version = 0;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(name: string, certificate: MadeCertificates): Promise<MountedSecret> {
    const secret = new MountedSecret(join(folder, name));
    await secret.replace(certificate);
    for (const file of ["tls.crt", "tls.key"]) await symlink(join("..data", file), join(secret.path, file));
    return secret;
  }

  async replace({ cert, key }: MadeCertificates): Promise<void> {
    const name = `..v${this.#version++}`;
    await mkdir(join(this.path, name), { recursive: true });
    await writeFile(join(this.path, name, "tls.crt"), cert);
    await writeFile(join(this.path, name, "tls.key"), key);
    await symlink(name, join(this.path, "..next"));
    await rename(join(this.path, "..next"), join(this.path, "..data"));
    await rm(join(this.path, `..v${this.#version - 2}`), { recursive: true, force: true });
  }
}

/** Reviews of 100 updates, which change a label and an annotation. */
function reviewTexts(): string[] {
  const kind = { group: "", version: "v1", kind: "Pod" };
  const resource = { group: "", version: "v1", resource: "pods" };
  return Array.from({ length: 100 }, (_, index) => {
    const [oldObject, object] = [podOf(index, "before"), podOf(index, "after")];
    const { name, namespace } = object.metadata as Record<string, string>;
    const request = {
      uid: crypto.randomUUID(),
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      name,
      namespace,
      operation: "UPDATE",
      userInfo: { username: "kubernetes-admin", groups: ["kubeadm:cluster-admins", "system:authenticated"] },
      object,
      oldObject,
      dryRun: false,
      options: { kind: "UpdateOptions", apiVersion: "meta.k8s.io/v1", fieldManager: "kubectl-edit" },
    };
    return JSON.stringify({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request });
  });
}

/** A pod of 10 kB: the other benches' pod with one more annotation, like an applied configuration. */
function podOf(index: number, phase: string): Item {
  const { metadata, spec, status } = podItem(index) as Record<"metadata" | "spec" | "status", Item>;
  const { labels, annotations, ...rest } = metadata as Record<string, Item>;
  const applied = JSON.stringify(spec).slice(0, 700);
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: {
      ...rest,
      labels: { ...labels, phase },
      annotations: { ...annotations, "bench.example.com/applied": applied, "bench.example.com/phase": phase },
    },
    spec,
    status,
  };
}

try {
  if (!await main()) Deno.exitCode = 1;
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  Deno.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}
