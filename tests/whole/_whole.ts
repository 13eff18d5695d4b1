// Declares situations: tests that share the whole cluster of their file.
import type { Client } from "@kube/informer";
import { Namespace, Pod } from "@kube/informer/kinds/core/v1";
import { isForbidden, isNotFound } from "@kube/informer";
import { delay } from "@std/async";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { podDraft } from "../support/cluster/writers.ts";
import type { Output } from "../support/processes/program.ts";
import { WholeCluster } from "../support/whole/whole_cluster.ts";

/** What a situation is played in. */
export interface Whole {
  readonly cluster: WholeCluster;
  /** An administrator's client. */
  readonly client: Client;
  /** Path of a kubeconfig of the administrator. */
  readonly kubeconfig: string;
  /** Runs kubectl; fails if kubectl does. */
  kubectl(...args: string[]): Promise<string>;
  /** Runs kubectl, which may fail. */
  tried(...args: string[]): Promise<Output>;
  /** A new namespace, in which pods can be created. */
  newNamespace(name: string): Promise<string>;
}

/** The environment of `deno task test:whole`. */
const { WHOLE_ASSETS, KUBEBUILDER_ASSETS, WHOLE_ONLY = "", WHOLE_PASSED, WHOLE_KEEP } = Deno.env.toObject();

/** The time for a situation: long, so that it ends hanging ones only. */
const LIMIT_MS = 280_000;

const LOOK_MS = 100;

/**
 * Declares situations on one whole cluster with so many nodes, which is started when one of them is played. A name
 * begins with the word that `--only` takes, and a colon.
 */
export function wholeCluster(nodes: number): (name: string, run: (whole: Whole) => Promise<void>) => void {
  let cluster: WholeCluster | undefined;
  let count = 0;
  Deno.test.beforeAll(async () => {
    if (count === 0) return;
    const startedAt = performance.now();
    cluster = await WholeCluster.start({ servers: KUBEBUILDER_ASSETS, whole: WHOLE_ASSETS }, nodes);
    report(`whole cluster of ${nodes} nodes ready after ${seconds(startedAt)}`);
  });
  Deno.test.afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    cluster = undefined;
  });
  return (name, run) => {
    const obstacle = obstacleOf(name);
    if (obstacle !== undefined) console.error(`NOT RUN: ${JSON.stringify(name)}: ${obstacle}`);
    else count++;
    const fn = async (): Promise<void> => {
      const startedAt = performance.now();
      try {
        await run(wholeOf(cluster!));
      } catch (error) {
        await tell(cluster!);
        throw error;
      }
      report(`played in ${seconds(startedAt)}`);
      if (WHOLE_PASSED) await Deno.writeTextFile(WHOLE_PASSED, `${name}\n`, { append: true });
    };
    Deno.test({ name, ignore: obstacle !== undefined, timeout: WHOLE_KEEP ? 0 : LIMIT_MS, fn });
  };
}

/** Prints a measurement on a line of its own. */
export function report(line: string): void {
  console.log(`  ${line}`);
}

/** The time since `startedAt`, of `performance.now()`: `"2.4 s"`. */
export function seconds(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
}

/** Waits until `look` returns something, and returns that. */
export async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  return await withDeadline(what, async (signal) => {
    for (;; await delay(LOOK_MS, { signal })) {
      const found = await look();
      if (found !== undefined && found !== false) return found;
    }
  });
}

/** Creates objects by kubectl. */
export async function createAll({ kubectl }: Whole, namespace: string, objects: readonly object[]): Promise<void> {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    await Deno.writeTextFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
    await kubectl("create", "-n", namespace, "-f", file);
  } finally {
    await Deno.remove(file);
  }
}

/** The answer of a read, or `undefined` if there is no such object. */
export async function orNone<T>(read: Promise<T>): Promise<T | undefined> {
  return await read.catch((error) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/** Why a situation is left out. */
function obstacleOf(name: string): string | undefined {
  if (!WHOLE_ASSETS || !KUBEBUILDER_ASSETS) {
    return `no programs of a whole cluster: run "deno task test:whole", which says how to get them`;
  }
  const words = WHOLE_ONLY.split(",").filter((it) => it !== "");
  if (words.length > 0 && !words.includes(name.split(":")[0])) {
    return `it is not in --only ${WHOLE_ONLY}`;
  }
  return passed().includes(name) ? "it has passed already, and --resume is given" : undefined;
}

/** The situations that an earlier run has passed. */
function passed(): readonly string[] {
  if (!WHOLE_PASSED) return [];
  try {
    return Deno.readTextFileSync(WHOLE_PASSED).split("\n");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return [];
  }
}

/** Prints what was started; with `--keep`, it stays so until Ctrl-C. */
async function tell(cluster: WholeCluster): Promise<void> {
  console.error(await cluster.describe());
  console.error(`  copies of the logs: ${await cluster.saveLogs()}`);
  if (!WHOLE_KEEP) return;
  console.error("  it runs until Ctrl-C, because of --keep");
  await new Promise(() => setInterval(() => {}, 1_000_000));
}

function wholeOf(cluster: WholeCluster): Whole {
  const { client, plane: { kubeconfig } } = cluster;
  const tried = (...args: string[]): Promise<Output> => cluster.kubectl(...args);
  return {
    cluster,
    client,
    kubeconfig,
    tried,
    kubectl: async (...args) => {
      const { code, out, err } = await tried(...args);
      if (code !== 0) throw new Error(`kubectl ${args.join(" ")} exits with ${code}: ${err}`);
      return out;
    },
    newNamespace: async (name) => {
      await client.resource(Namespace).create({ metadata: { name } });
      // Pods are refused until the namespace has its service account.
      await until(`the service account of ${name}`, async () => {
        const attempt = client.resource(Pod, { namespace: name }).create(podDraft("first"), { dryRun: true });
        return await attempt.then(() => true, (error) => {
          if (isForbidden(error)) return false;
          throw error;
        });
      });
      return name;
    },
  };
}
