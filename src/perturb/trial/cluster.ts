import { keyOf } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { type Resource, resourceName } from "../../api/resource.ts";
import type { FakeApiServer } from "../../testing/fake_api_server.ts";

/** An object, and its kind. */
export interface Located {
  /** The kind. */
  readonly resource: Resource;
  /** The object. */
  readonly object: KubernetesObject;
}

type Stateful = KubernetesObject & { readonly status?: unknown };

/** A fake API server with the controllers that every cluster has, and with a record of the objects that users have created. */
export class Cluster {
  /** The server. */
  readonly server: FakeApiServer;
  /** The uids of objects that users have created. */
  readonly #roots = new Set<string>();
  /** The names of namespaces that have existed. */
  readonly #namespaces = new Set<string>();

  #lastDeletion: number | undefined;
  /** The deleted objects that users create again. */
  #again: Located[] = [];

  /** Uses this server. */
  constructor(server: FakeApiServer) {
    this.server = server;
  }

  /** Calls `act`; the objects that it creates are those of users. It must be synchronous. */
  change<Value>(act: () => Value): Value {
    const before = new Map(
      this.objects().map(({ object: { metadata } }) => [metadata.uid, metadata.deletionTimestamp]),
    );
    try {
      return act();
    } finally {
      for (const { object: { metadata: { uid, deletionTimestamp } } } of this.objects()) {
        if (!before.has(uid)) this.#roots.add(uid!);
        if (deletionTimestamp !== before.get(uid)) this.#lastDeletion = Number(this.server.resourceVersion);
      }
    }
  }

  /** The version at which users last deleted an object that finalizers keep; before, the present one. */
  get lastDeletion(): number {
    return this.#lastDeletion ?? Number(this.server.resourceVersion);
  }

  /** Returns all objects, except for leases and events. */
  objects(): Located[] {
    return this.server.resources().filter((resource) => !isAuxiliary(resource)).flatMap((resource) =>
      this.server.list(resource).map((object) => ({ resource, object }))
    );
  }

  /** Does the work of the garbage collector, of kubelets that stop pods, and of the namespace controller. */
  tidy(): void {
    const { server } = this;
    const objects = this.objects();
    const namespaces = objects.filter(({ resource }) => resourceName(resource) === "namespaces");
    for (const { object } of namespaces) this.#namespaces.add(object.metadata.name);
    const gone = this.#namespaces.difference(new Set(namespaces.map(({ object }) => object.metadata.name)));
    for (const { resource, object: { metadata } } of objects) {
      const { deletionTimestamp, finalizers = [], namespace } = metadata;
      if (deletionTimestamp === undefined) {
        if (namespace !== undefined && gone.has(namespace)) {
          server.delete(resource, keyOf({ metadata }), { finalize: true });
        }
      } else if (
        resourceName(resource) === "pods" && finalizers.length === 0 && Date.parse(deletionTimestamp) <= Date.now()
      ) {
        server.delete(resource, keyOf({ metadata }));
      }
    }
    server.collectGarbage();
    this.#again = this.#again.filter(({ resource, object }) => {
      const present = server.get(resource, keyOf(object));
      if (present !== undefined) return present.metadata.uid === object.metadata.uid;
      const { status: _status, metadata: { name, namespace, labels, annotations }, ...rest } = object as Stateful;
      this.change(() => server.create(resource, { ...rest, metadata: { name, namespace, labels, annotations } }));
      return false;
    });
  }

  /**
   * Deletes all objects that users have created, and returns their number. With `again`, {@linkcode tidy} creates each of them
   * again when it is gone, without its status.
   */
  deleteRoots(options: { readonly again?: boolean } = {}): number {
    if (!options.again) this.#again = [];
    const roots = this.objects().filter(({ object }) => this.#roots.has(object.metadata.uid!));
    this.change(() => {
      for (const { resource, object } of roots) this.server.delete(resource, keyOf(object), { finalize: true });
    });
    const deleted = roots.filter(({ object }) => object.metadata.deletionTimestamp === undefined);
    if (options.again) this.#again.push(...deleted);
    return roots.length;
  }

  /** Returns a description of an object that is left after {@linkcode deleteRoots}, except for resources in `keeps`. */
  leftover(keeps: readonly string[]): string | undefined {
    const left = this.objects().filter(({ resource }) => !keeps.includes(resource.plural));
    const blocked = left.find(({ object }) => object.metadata.deletionTimestamp !== undefined);
    if (blocked !== undefined) {
      const { finalizers = [] } = blocked.object.metadata;
      return `${nameOf(blocked)} is being deleted, and keeps the finalizers ${JSON.stringify(finalizers)}`;
    }
    const orphan = left.find(({ object }) => !this.#roots.has(object.metadata.uid!));
    if (orphan === undefined) return undefined;
    return `${nameOf(orphan)} is orphaned: the controller has created it, and all objects of users are gone`;
  }
}

/** True for leases and events, which controllers write by themselves. */
export function isAuxiliary({ plural }: { readonly plural: string }): boolean {
  return plural === "leases" || plural === "events";
}

function nameOf({ resource, object }: Located): string {
  return `${resource.kind} "${keyOf(object)}"`;
}
