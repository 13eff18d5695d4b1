import { type Client, isForbidden } from "@kube/informer";
import { connect, type ConnectOptions } from "@kube/informer/connect";
import { Namespace, Pod } from "@kube/informer/kinds/core/v1";
import { delay } from "@std/async";
import { BreakableControlPlane, type BreakableOptions } from "../support/cluster/control_plane.ts";
import { withDeadline } from "../support/cluster/with_deadline.ts";
import { podDraft } from "../support/cluster/writers.ts";
import { type Feature, hasFeature, lackOf, minorVersion } from "./_versions.ts";

/** The cluster of a test, and a namespace in it. */
export interface Setting {
  /** Path of a kubeconfig: an administrator. */
  readonly kubeconfig: string;
  /** A client of that administrator; it ends with the test. */
  readonly client: Client;
  /** The name of a new namespace. */
  readonly namespace: string;
  /** Another client; it ends with the test. */
  connect(options?: ConnectOptions): Promise<Client>;
  /** Another new namespace; with `keep`, for the tests that follow in this file too. */
  newNamespace(options?: { readonly keep?: boolean }): Promise<string>;
}

/** The cluster of a test that stops and starts its servers. */
export interface PlaneSetting extends Setting {
  /** The control plane. */
  readonly plane: BreakableControlPlane;
}

/** The interval between requests that check whether a namespace is complete. */
const LOOK_MS = 250;

/**
 * Declares tests that share one cluster, which is started if there is one. Those that need what its version lacks are
 * not run.
 */
export interface ClusterTests {
  /** A test that any cluster can serve. */
  anywhere(name: string, run: (setting: Setting) => Promise<void>, ...needs: readonly Feature[]): void;
  /** A test that needs a control plane of its own: it kills servers, or needs users that it makes. */
  withPlane(name: string, run: (setting: PlaneSetting) => Promise<void>, ...needs: readonly Feature[]): void;
}

/** The folder of the programs that control planes are started of, which `KUBEBUILDER_ASSETS` names. */
export const ASSETS: string | undefined = Deno.env.get("KUBEBUILDER_ASSETS");

/** The minor version of these programs, 37; `undefined` of a cluster that somebody gave. */
export const MINOR: number | undefined = givenKubeconfig() === undefined && ASSETS !== undefined
  ? minorVersion(ASSETS)
  : undefined;

/** False where an informer that begins with a streaming list is refused, and falls back to pages. */
export const STREAMS: boolean = MINOR === undefined || hasFeature(MINOR, "streaming lists by default");

const NO_ASSETS = `set KUBEBUILDER_ASSETS to a folder with "etcd" and "kube-apiserver"`;

/** Declares a test that starts control planes itself, of the programs in a folder. */
export function testOfAssets(name: string, run: (assets: string) => Promise<void>): void {
  declare(name, ASSETS === undefined ? NO_ASSETS : undefined, () => run(ASSETS!));
}

function declare(name: string, obstacle: string | undefined, fn: () => Promise<void>): void {
  if (obstacle !== undefined) console.error(`NOT RUN: ${JSON.stringify(name)}: ${obstacle}`);
  Deno.test({ name, ignore: obstacle !== undefined, fn });
}

/**
 * The cluster of a test file. In this order:
 *
 * 1. the one that `--kubeconfig FILE` among the arguments after `--`, or `INFORMER_TEST_KUBECONFIG`, names: a
 *   disposable one; namespaces of the tests are deleted in the end, and tests that kill servers are left out;
 * 2. a control plane started for this file, of the programs in the folder that `KUBEBUILDER_ASSETS` names;
 * 3. none: every test is ignored, and says so.
 */
export function clusterTests(options: BreakableOptions = {}): ClusterTests {
  const given = givenKubeconfig();
  const assets = ASSETS;
  let plane: BreakableControlPlane | undefined;
  const kept: string[] = [];
  if (given !== undefined) Deno.test.afterAll(() => sweep(given, kept));
  if (given === undefined && assets !== undefined) {
    Deno.test.beforeAll(async () => {
      const startedAt = performance.now();
      plane = await BreakableControlPlane.start(assets, options);
      report(`control plane ready after ${seconds(startedAt)}`);
    });
    Deno.test.afterAll(async () => {
      await plane?.[Symbol.asyncDispose]();
      plane = undefined;
    });
  }
  const none = given === undefined && assets === undefined
    ? `no cluster: ${NO_ASSETS}, or run "deno task test:cluster --kubeconfig FILE" with that of a disposable cluster`
    : undefined;
  const needsPlane = given === undefined ? none : `it needs servers that it can kill: ${NO_ASSETS} instead`;
  const inSetting = (
    obstacle: string | undefined,
    name: string,
    run: (setting: PlaneSetting) => Promise<void>,
    needs: readonly Feature[],
  ): void =>
    declare(name, obstacle ?? (MINOR === undefined ? undefined : lackOf(MINOR, needs)), async () => {
      await plane?.ensureRunning();
      await using found = new Found(given ?? plane!.kubeconfig, plane, kept);
      await found.prepare();
      await run(found);
    });
  return {
    anywhere: (name, run, ...needs) => inSetting(none, name, run, needs),
    withPlane: (name, run, ...needs) => inSetting(needsPlane, name, run, needs),
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

class Found implements Setting, AsyncDisposable {
  readonly kubeconfig: string;
  readonly #plane: BreakableControlPlane | undefined;
  readonly #clients: Client[] = [];
  readonly #namespaces: string[] = [];
  readonly #kept: string[];

  constructor(kubeconfig: string, plane: BreakableControlPlane | undefined, kept: string[]) {
    this.kubeconfig = kubeconfig;
    this.#plane = plane;
    this.#kept = kept;
  }

  get client(): Client {
    return this.#clients[0];
  }

  get namespace(): string {
    return this.#namespaces[0];
  }

  get plane(): BreakableControlPlane {
    return this.#plane!;
  }

  async prepare(): Promise<void> {
    await this.connect();
    await this.newNamespace();
  }

  async connect(options: ConnectOptions = {}): Promise<Client> {
    const client = await connect({ kubeconfig: this.kubeconfig, ...options });
    this.#clients.push(client);
    return client;
  }

  async newNamespace({ keep = false }: { readonly keep?: boolean } = {}): Promise<string> {
    const name = `informer-${crypto.randomUUID().slice(0, 8)}`;
    await this.client.resource(Namespace).create({ metadata: { name } });
    if (keep) this.#kept.push(name);
    else this.#namespaces.push(name);
    if (this.#plane === undefined) await this.#untilFurnished(name);
    return name;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      // A control plane of our own is thrown away as a whole.
      if (this.#plane !== undefined) return;
      await sweep(this.kubeconfig, this.#namespaces);
    } finally {
      for (const client of this.#clients) client[Symbol.dispose]();
    }
  }

  /** Waits until a pod is accepted: with controllers, pods are refused until the namespace has its service account. */
  async #untilFurnished(namespace: string): Promise<void> {
    await withDeadline(`the first pod in "${namespace}"`, async (signal) => {
      for (;;) {
        try {
          await this.client.resource(Pod, { namespace }).create(podDraft("first"), { dryRun: true, signal });
          return;
        } catch (error) {
          if (!isForbidden(error)) throw error;
          await delay(LOOK_MS, { signal });
        }
      }
    });
  }
}

/** Deletes what tests have made in a cluster that somebody gave. */
async function sweep(kubeconfig: string, namespaces: readonly string[]): Promise<void> {
  if (namespaces.length === 0) return;
  using client = await connect({ kubeconfig });
  for (const name of namespaces) await client.resource(Namespace).delete(name);
}

function givenKubeconfig(): string | undefined {
  const at = Deno.args.indexOf("--kubeconfig");
  if (at === -1) return Deno.env.get("INFORMER_TEST_KUBECONFIG");
  const path = Deno.args[at + 1];
  if (path === undefined) throw new TypeError("Cannot test: --kubeconfig needs the path of a kubeconfig");
  return path;
}
