import type { Abortable, Selection } from "../../api/options.ts";
import type { Resource } from "../../api/resource.ts";
import { type KeptCache, SnapshotKeeper } from "./snapshot_keeper.ts";
import { snapshotName } from "./snapshot_name.ts";
import type { FactorySnapshots } from "./snapshot_options.ts";

/** Keeps snapshots of the caches of a factory. */
export class SnapshotKeepers {
  readonly #options: FactorySnapshots;
  readonly #client: { readonly server: URL };
  readonly #report: (error: unknown, resource: Resource) => void;
  /** Has a keeper if and only if its informer runs, or the last snapshot is being written. */
  readonly #running = new Set<SnapshotKeeper>();

  /** `report` receives the errors of reading and writing. */
  constructor(
    options: FactorySnapshots,
    client: { readonly server: URL },
    report: (error: unknown, resource: Resource) => void,
  ) {
    this.#options = options;
    this.#client = client;
    this.#report = report;
  }

  /** Runs an informer, from its snapshot and to its next one, unless its objects have data of Secrets that is not to be kept. */
  async run(
    informer: KeptCache & { readonly hasSecrets: boolean },
    { resource, selection }: { readonly resource: Resource; readonly selection: Omit<Selection, "namespace"> },
    options: Abortable & { readonly graceMs: number },
  ): Promise<void> {
    if (informer.hasSecrets && !this.#options.secrets) return await informer.run(options);
    const { everyMs = 60_000, cluster = this.#client.server.href } = this.#options;
    const keeper = new SnapshotKeeper(informer, {
      ...this.#options,
      everyMs,
      cluster,
      graceMs: options.graceMs,
      name: snapshotName(resource, selection, informer.hasSecrets),
      report: (error) => this.#report(error, resource),
    });
    this.#running.add(keeper);
    try {
      await keeper.run(options);
    } finally {
      this.#running.delete(keeper);
    }
  }

  /** Ends the waits for snapshots that are read: those informers list instead, or end. */
  abandon(): void {
    for (const keeper of this.#running) keeper.abandon();
  }

  /** Writes the last snapshots of informers that no longer list or watch. Calls of their handlers may still be running. */
  async end(): Promise<void> {
    await Promise.all(Array.from(this.#running, (keeper) => keeper.end()));
  }
}
