/**
 * Upgrades of an operator by seed on a real API server, in real time.
 *
 * {@linkcode upgradeOn} is the entry point. It plays the phases of `upgrade.ts` without faults, restarts and shrinking,
 * which need the fake server.
 *
 * @module
 */
import type { Abortable } from "../../engine/api/call_options.ts";
import type { Transport } from "../../engine/api/lister_watcher.ts";
import { DerivedController } from "../../engine/async/signals.ts";
import { sleep } from "../../engine/async/time.ts";
import { Client } from "../../engine/client/client.ts";
import { checkCounts } from "../../engine/errors/checks.ts";
import { errorLine } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { Random } from "../fake/random.ts";
import { PHASES, type Release, type UpgradeOptions, type UpgradePhase } from "./upgrade.ts";
import { kindsIn, UpgradeRequests } from "./upgrade_requests.ts";

/** Options for {@linkcode upgradeOn}. */
export interface ServerUpgradeOptions
  extends Pick<UpgradeOptions, "from" | "to" | "changes" | "setup" | "seeds">, Abortable {
  /** The number of changes that users make per seed and phase. @default {3} */
  readonly steps?: number;
  /** How the API server reaches the webhooks of the new release, which you serve. @default {there are none} */
  readonly webhooks?: { readonly url: string; readonly caBundle?: string };
  /** Is awaited at the end of each phase: wait for what the releases must reach. @default {nothing} */
  readonly settled?: (client: Client, phase: UpgradePhase, signal: AbortSignal) => unknown;
}

/** The time between two looks at whether the server serves the new versions, in milliseconds. */
const LOOK_MS = 100;

/**
 * Plays the upgrade of an operator on a real API server, with the phases, users and checks of `upgrade`. Call it on a
 * server that only the test uses, with a cluster administrator's rights. Changes are played in real time, without
 * faults.
 *
 * @param server Its URL, and what sends requests there: a `ControlPlane` from `./testing/control-plane`.
 * @throws {InformerError} if an upgrade breaks a promise. The message names the phase and the seed.
 * @throws an error of a release's controller, or the signal's reason.
 *
 * @example
 * ```ts
 * import { Reconciler } from "@kube/informer/reconcile";
 * import { defineKind } from "@kube/informer/schema";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { type Release, upgradeOn } from "@kube/informer/testing/chaos";
 *
 * const names = { group: "example.com", version: "v1", kind: "Website", plural: "websites" } as const;
 * const Website = defineKind({ ...names, spec: { type: "object", properties: { image: { type: "string" } } } });
 * const release: Release = {
 *   crds: [Website],
 *   controller: async ({ client, signal }) => {
 *     await using reconciler = new Reconciler(client, Website, () => {});
 *     await reconciler.run({ signal });
 *   },
 * };
 * await upgradeOn(new FakeApiServer(), { // in place of `await startControlPlane()`
 *   seeds: 5,
 *   from: release,
 *   to: release,
 *   changes: { create: ({ client }) => client.resource(Website).create({ metadata: { name: "blog" }, spec: {} }) },
 * });
 * ```
 */
export async function upgradeOn(
  server: Transport & { readonly url: string },
  options: ServerUpgradeOptions,
): Promise<void> {
  checkNames("play upgrades on a server", options, "from to changes setup seeds steps webhooks settled signal");
  const { from, to, changes, setup, seeds = 100, steps = 3, webhooks, settled, signal } = options;
  checkCounts("play upgrades on a server", { seeds, steps }, { min: 1 });
  using client = new Client({ server: server.url, transport: server, namespace: "default" });
  const requests = new UpgradeRequests(server.url, server);
  const install = (release: Release) => requests.install(release, webhooks?.url ?? "", webhooks?.caBundle);
  await install(from);
  if (setup !== undefined) await requests.change(setup, new Random(0));
  const phases = Object.entries(PHASES);
  for (const [index, [name, { a, b, text }]] of phases.entries()) {
    if (b !== undefined) {
      await install(to);
      await served(client, requests, signal);
    }
    using phase = new DerivedController(signal);
    const running = [a, ...b === undefined ? [] : [b]].map((release, at) =>
      options[release].controller({ client, signal: phase.signal, identity: `${name}-${at}`, world: undefined })
    );
    let seed = 1;
    const play = async (): Promise<void> => {
      for (; seed <= seeds; seed++) {
        const random = new Random(seed * phases.length + index);
        for (let step = 0; step < steps; step++) {
          signal?.throwIfAborted();
          await requests.change(changes[random.pick(Object.keys(changes))], random);
        }
      }
      await requests.check();
      await settled?.(client, name as UpgradePhase, phase.signal);
    };
    try {
      // The controllers run until the phase ends.
      await Promise.race([play(), Promise.all(running).then(() => new Promise<never>(() => {}))]);
    } catch (cause) {
      if (!(cause instanceof InformerError)) throw cause;
      throw new InformerError(`${errorLine(cause)} (in the phase in which ${text}, seed ${Math.min(seed, seeds)})`, {
        cause,
      });
    } finally {
      phase.abort(new DOMException("The phase has ended", "AbortError"));
      await Promise.allSettled(running); // some reject with the reason of the signal
    }
  }
  await requests.migrate();
}

/** Resolves when the server serves all versions that are installed: a moment after it has their definitions. */
async function served(client: Client, requests: UpgradeRequests, signal: AbortSignal | undefined): Promise<void> {
  for (const kind of requests.crds().flatMap(kindsIn)) {
    while (!await client.resource(kind).list({ limit: 1, signal }).then(() => true, () => false)) {
      await sleep(LOOK_MS, { signal });
    }
  }
}
