import type { Abortable, Selection } from "../../api/options.ts";
import type { Resource } from "../../api/resource.ts";
import { type Fetcher, isOfServer } from "./is_of_server.ts";
import { type KeptCache, SnapshotKeeper } from "./snapshot_keeper.ts";
import { snapshotName } from "./snapshot_name.ts";
import type { FactorySnapshots } from "./snapshot_options.ts";

/** Keeps snapshots of the caches of a factory. */
export class SnapshotKeepers {
  readonly #options: FactorySnapshots;
  readonly #client: Fetcher & { readonly server: URL };
  readonly #report: (error: unknown, resource: Resource) => void;
  /** Has a keeper if and only if its informer runs, or the last snapshot is being written. */
  readonly #running = new Map<SnapshotKeeper, Promise<void>>();

  /** `report` receives the errors of reading and writing. */
  constructor(
    options: FactorySnapshots,
    client: Fetcher & { readonly server: URL },
    report: (error: unknown, resource: Resource) => void,
  ) {
    this.#options = options;
    this.#client = client;
    this.#report = report;
  }

  /** Runs an informer, from its snapshot and to its next one, unless its objects have data of Secrets that is not to be kept. */
  run(
    informer: KeptCache & { readonly hasSecrets: boolean },
    { resource, selection }: { readonly resource: Resource; readonly selection: Omit<Selection, "namespace"> },
    options: Abortable,
  ): Promise<void> {
    if (informer.hasSecrets && !this.#options.secrets) return informer.run(options);
    const { everyMs = 60_000, cluster = this.#client.server.href } = this.#options;
    const keeper = new SnapshotKeeper(informer, {
      ...this.#options,
      everyMs,
      cluster,
      isOfServer: () => isOfServer(informer.entries, informer.lastSyncResourceVersion, resource, this.#client),
      name: snapshotName(resource, selection, informer.hasSecrets),
      report: (error) => this.#report(error, resource),
    });
    const running = keeper.run(options);
    this.#running.set(keeper, running.then(() => {}, () => {}).finally(() => this.#running.delete(keeper)));
    return running;
  }

  /** Ends the waits for snapshots that are read: those informers list instead, or end. */
  abandon(): void {
    for (const keeper of this.#running.keys()) keeper.abandon();
  }

  /** Resolves once all informers have ended, and their last snapshots were written. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }
}
