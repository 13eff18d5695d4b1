/**
 * What users and an administrator do in an upgrade: they write objects, install definitions and migrate storage.
 *
 * {@linkcode UpgradeRequests} is the entry point. It sends requests only, so a real server may answer them. It runs no
 * controllers, and knows no phases.
 *
 * @module
 */
import type { Transport } from "../../engine/api/lister_watcher.ts";
import { isList, isObject, type Json, type JsonObject } from "../../engine/api/json.ts";
import { keyOf, type KubernetesObject } from "../../engine/api/object.ts";
import { defineResource, type Resource } from "../../engine/api/resource.ts";
import { isAlreadyExists, isConflict, isNotFound, StatusError } from "../../engine/api/status.ts";
import type { ObjectDraft } from "../../engine/api/written.ts";
import { Client } from "../../engine/client/client.ts";
import { errorLine } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import type { CustomResourceDefinition } from "../../engine/kinds/apiextensions/v1.ts";
import { parseRoute } from "../../engine/protocol/requests.ts";
import { installCrds } from "../../operator/schema/install_crds.ts";
import { migrateStorage } from "../../operator/schema/migrate_storage.ts";
import { installWebhooks } from "../../operator/webhooks/install_webhooks.ts";
import { roundTrips } from "../../operator/webhooks/round_trips.ts";
import type { Webhooks } from "../../operator/webhooks/webhooks.ts";
import type { Random } from "../fake/random.ts";
import { USER_AGENT } from "./process.ts";

type Crd = ObjectDraft<CustomResourceDefinition>;

/** The definitions in a release. */
export interface ReleaseDefinitions {
  /** Kinds with a definition, or CRDs. */
  readonly crds: readonly ({ readonly crd: Crd } | Crd)[];
  /** The conversions and admission handlers. @default {none} */
  readonly webhooks?: Webhooks;
}

/** A user in an upgrade. */
export interface UpgradeUser {
  /** The user's client. The default namespace is `"default"`. No fault harms its requests. */
  readonly client: Client;
  /** Makes all choices. */
  readonly random: Random;
  /** The version to write at, by random: one that the server serves now for the first kind in `crds`. */
  readonly version: string;
}

/** A change that a user makes by requests. 404 and 409 are as if nothing had happened; other refusals are violations. */
export type UpgradeChange = (user: UpgradeUser) => unknown;

/** The requests of users and of an administrator. */
export interface UpgradeRequestsOptions {
  /** Where the requests go. */
  readonly transport: Transport;
  /** The server's URL. */
  readonly server: string;
  /** Where the server reaches the webhooks. */
  readonly url: string;
  /** The authority of their certificate. */
  readonly caBundle?: string;
  /** Receives violations. */
  fail(violation: string): void;
  /** Receives the uid of each object that a user creates. */
  created(uid: string): void;
}

/** What a user has written last to an object. */
interface Written {
  readonly path: string;
  readonly uid: string;
  readonly given: JsonObject;
  /** The object and the version, for messages. */
  readonly what: string;
}

/** Sends the requests of users and of an administrator, and checks that nothing is lost. */
export class UpgradeRequests implements Disposable {
  readonly #options: UpgradeRequestsOptions;
  readonly #admin: Client;
  readonly #user: Client;
  /** By group, kind and key. */
  readonly #written = new Map<string, Written>();
  #installed: ReleaseDefinitions = { crds: [] };

  /** Sends nothing yet. */
  constructor(options: UpgradeRequestsOptions) {
    this.#options = options;
    const { server, transport } = options;
    const own = { server, userAgent: USER_AGENT, namespace: "default" };
    this.#admin = new Client({ ...own, transport: { fetch: (request) => transport.fetch(request) } });
    this.#user = new Client({ ...own, transport: { fetch: (request) => this.#send(request) } });
  }

  /** Ends all requests. */
  [Symbol.dispose](): void {
    this.#user[Symbol.dispose]();
    this.#admin[Symbol.dispose]();
  }

  /** Installs the definitions and webhooks of a release. */
  async install(release: ReleaseDefinitions): Promise<void> {
    const { url, caBundle } = this.#options;
    this.#installed = release;
    await this.#tried("the definitions cannot be installed", async () => {
      if (release.webhooks !== undefined) {
        await installWebhooks(this.#admin, release.webhooks, { url }, { caBundle, force: true });
      }
      await installCrds(this.#admin, release.crds, { force: true });
    });
  }

  /** A user makes a change. */
  async change(change: UpgradeChange, random: Random): Promise<void> {
    const [served = []] = this.#crds().map((crd) => kindsIn(crd));
    const version = random.pick(served.map((kind) => kind.version));
    await this.#tried(`a user's write at version ${version} is refused`, async () => {
      await change({ client: this.#user, random, version });
    }, (error) => isNotFound(error) || isConflict(error) || isAlreadyExists(error));
  }

  /** Checks that users find what they have written, and that all objects survive conversions. */
  async check(): Promise<void> {
    await this.#tried("an object cannot be read", async () => {
      for (const written of this.#written.values()) {
        const response = await this.#admin.fetch(written.path).catch((error) => {
          if (!isNotFound(error)) throw error;
        });
        if (response !== undefined) this.#compare(written, await response.json());
      }
    });
    const { webhooks } = this.#installed;
    const { crds = [] } = webhooks?.configurations({ url: this.#options.url }) ?? {};
    const converted = this.#crds().filter((crd) => crds.some((it) => it.metadata.name === crd.metadata.name));
    for (const kind of converted.flatMap((crd) => kindsIn(crd))) {
      await this.#tried("an object does not survive a conversion", async () => {
        roundTrips(webhooks!, kind, (await this.#admin.resource(kind, { namespace: "" }).list()).items);
      });
    }
  }

  /** Migrates storage, and drops all versions that are not stored. */
  async migrate(): Promise<void> {
    for (const crd of this.#crds()) {
      const { spec } = crd;
      const versions = spec.versions.filter(({ storage }) => storage);
      if (versions.length === spec.versions.length) continue;
      await this.#tried(`${spec.names.kind} cannot be migrated to ${versions[0].name}`, async () => {
        const [kind] = kindsIn({ ...crd, spec: { ...spec, versions } });
        const { refused: [refused] } = await migrateStorage(this.#admin, kind, { serverMigrator: false });
        if (refused !== undefined) throw new InformerError(`"${refused.key}": ${refused.reason}`);
        const only: Crd = { ...crd, spec: { ...spec, versions, conversion: { strategy: "None" } } };
        await installCrds(this.#admin, [only], { force: true, allowBreaking: true });
      });
    }
    this.#written.clear();
  }

  #crds(): Crd[] {
    return this.#installed.crds.map((it) => "crd" in it ? it.crd : it);
  }

  /** Fails with a refusal, or with another error of the package, unless it `isExpected`. */
  async #tried(what: string, act: () => Promise<void>, isExpected = (_: unknown): boolean => false): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof StatusError || error instanceof InformerError)) throw error;
      if (!isExpected(error)) this.#options.fail(`${what}: ${errorLine(error)}`);
    }
  }

  /** Sends a request of a user, and remembers what it writes. */
  async #send(request: Request): Promise<Response> {
    const { transport, created } = this.#options;
    const { pathname, searchParams } = new URL(request.url);
    const route = parseRoute(pathname);
    const body = request.method === "GET" ? "" : await request.clone().text();
    const response = await transport.fetch(request);
    const isSeen = body !== "" && response.ok && !searchParams.has("dryRun");
    if (!isSeen || route.type !== "resource" || route.subresource !== undefined) return response;
    const object = await response.clone().json();
    const { group, version, namespace, plural } = route;
    const name = route.name ?? object.metadata.name;
    const key = [group, plural, namespace, name].join("/");
    this.#written.delete(key);
    if (request.method === "DELETE") return response;
    if (response.status === 201) created(object.metadata.uid);
    const path = route.name === undefined ? `${pathname}/${name}` : pathname;
    const what = `of ${object.kind} "${keyOf(object)}", which a user has written at version ${version}`;
    const given: Json = JSON.parse(body);
    if (!isObject(given)) return response; // a JSON patch
    const { apiVersion: _, kind: __, status: ___, metadata, ...rest } = given;
    const { labels = {}, annotations = {} } = metadata as Record<string, Json | undefined> ?? {};
    const written = { path, uid: object.metadata.uid, given: { ...rest, metadata: { labels, annotations } }, what };
    this.#written.set(key, written);
    this.#compare(written, object);
    return response;
  }

  #compare({ uid, given, what }: Written, object: KubernetesObject): void {
    if (object.metadata.uid !== uid) return; // it was deleted, and created again
    const found = JSON.parse(JSON.stringify({ ...object, metadata: { labels: {}, annotations: {}, ...object.metadata } }));
    const lost = missingIn(given, found, "");
    if (lost !== undefined) this.#options.fail(`a field is lost: ${lost} ${what}`);
  }
}

/** Returns the served versions of a definition. */
function kindsIn({ spec: { group, names, scope, versions } }: Crd): Resource[] {
  const { plural, kind } = names;
  return versions.filter(({ served }) => served).map(({ name: version }) =>
    defineResource({ group, version, plural, kind, scope: scope as "Namespaced" })
  );
}

/** Returns the first path of a value that another value does not have; null is what a patch removes. */
function missingIn(given: Json, found: Json | undefined, path: string): string | undefined {
  if (given === null) return undefined;
  if (isList(given)) {
    const all = isList(found) ? found : [];
    return given.every((it) => all.some((other) => missingIn(it, other, "it") === undefined)) ? undefined : path;
  }
  if (!isObject(given)) return Object.is(given, found) ? undefined : path;
  if (!isObject(found)) return path;
  for (const [name, value] of Object.entries(given)) {
    const lost = value === undefined ? undefined : missingIn(value, found[name], path === "" ? name : `${path}.${name}`);
    if (lost !== undefined) return lost;
  }
  return undefined;
}
