/**
 * What users and an administrator do in an upgrade: they write objects, install definitions and migrate storage.
 *
 * {@linkcode UpgradeRequests} is the entry point. It sends requests only, so a real server may answer them. It runs no
 * controllers, and knows no phases.
 *
 * @module
 */
import type { Json } from "../../engine/api/json.ts";
import type { Transport } from "../../engine/api/lister_watcher.ts";
import { listOr, memberAt, objectOr } from "../../engine/api/members.ts";
import { keyOf, type KubernetesObject } from "../../engine/api/object.ts";
import { defineResource, type Resource } from "../../engine/api/resource.ts";
import { isAlreadyExists, isConflict, isNotFound, StatusError } from "../../engine/api/status.ts";
import type { ObjectDraft } from "../../engine/api/written.ts";
import { Client } from "../../engine/client/client.ts";
import { quoted } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import type { CustomResourceDefinition } from "../../engine/kinds/apiextensions/v1.ts";
import { parseRoute } from "../../engine/protocol/requests.ts";
import { installCrds } from "../../operator/schema/install_crds.ts";
import { migrateStorage } from "../../operator/schema/migrate_storage.ts";
import { installWebhooks } from "../../operator/webhooks/install_webhooks.ts";
import { roundTrips } from "../../operator/webhooks/round_trips.ts";
import type { Webhooks } from "../../operator/webhooks/webhooks.ts";
import type { Random } from "../fake/random.ts";
import type { TrialChecks } from "./checks.ts";
import { USER_AGENT } from "./process.ts";

/** An apply that stores nothing. */
const CHECK = { fieldManager: "upgrade-check", dryRun: true };

/** What only the server sets in metadata. */
const OF_SERVER = /^(uid|resourceVersion|managedFields|generation|creationTimestamp)$/;

type Crd = ObjectDraft<CustomResourceDefinition>;

/** The definitions in a release. */
export interface ReleaseDefinitions {
  /** Kinds with a definition, or CRDs. */
  readonly crds: readonly (
    | { readonly crd: ObjectDraft<CustomResourceDefinition> }
    | ObjectDraft<CustomResourceDefinition>
  )[];
  /** The conversions and admission handlers. @default {none} */
  readonly webhooks?: Webhooks;
}

/** A user in an upgrade. */
export interface UpgradeUser {
  /** The user's client. The default namespace is `"default"`. No fault harms its requests. */
  readonly client: Client;
  /** Makes all choices. */
  readonly random: Random;
  /** The version to write at, by random. The server serves it now for the first kind in `crds`. */
  readonly version: string;
}

/** A change that a user makes by requests. Other refusals than 404 and 409 are violations. */
export type UpgradeChange = (user: UpgradeUser) => unknown;

/** Sends the requests of users and of an administrator. Its methods reject when an upgrade breaks a promise. */
export class UpgradeRequests {
  readonly #admin: Client;
  readonly #user: Client;
  readonly #transport: Transport;
  readonly #trial: Pick<TrialChecks<never>, "cluster" | "record"> | undefined;
  /** By uid: where the object is, and what a user has written last. */
  readonly #written = new Map<string, { readonly path: string; readonly given: Json }>();
  #installed: ReleaseDefinitions = { crds: [] };
  /** What the last change of a user did not find in the response. */
  #lost: InformerError | undefined;

  /** Sends nothing yet. The trial, if there is one, receives the objects and the writes of users. */
  constructor(server: string, transport: Transport, trial?: Pick<TrialChecks<never>, "cluster" | "record">) {
    [this.#transport, this.#trial] = [transport, trial];
    const own = { server, userAgent: USER_AGENT, namespace: "default" };
    this.#admin = new Client({ ...own, transport: { fetch: (request) => transport.fetch(request) } });
    this.#user = new Client({ ...own, transport: { fetch: (request) => this.#send(request) } });
  }

  /** Installs the definitions of a release, and its webhooks, which the server reaches at `url`. */
  async install(release: ReleaseDefinitions, url: string, caBundle?: string): Promise<void> {
    const { crds, webhooks } = this.#installed = release;
    if (webhooks !== undefined) await installWebhooks(this.#admin, webhooks, { url }, { caBundle, force: true });
    await installCrds(this.#admin, crds, { force: true });
  }

  /** A user makes a change. */
  async change(change: UpgradeChange, random: Random): Promise<void> {
    const { version } = random.pick(kindsIn(this.crds()[0]));
    try {
      await change({ client: this.#user, random, version });
    } catch (cause) {
      if (isNotFound(cause) || isConflict(cause) || isAlreadyExists(cause)) return;
      if (!(cause instanceof StatusError)) throw cause;
      throw new InformerError(`a user's write at version ${version} is refused`, { cause });
    }
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** Checks that users find what they have written, and that all objects survive conversions. */
  async check(): Promise<void> {
    for (const [uid, { path }] of this.#written) {
      const read = async (): Promise<KubernetesObject> => await (await this.#admin.fetch(path)).json();
      const object = await read().catch((error) => isNotFound(error) ? undefined : Promise.reject(error));
      const lost = object?.metadata.uid === uid ? this.#lostIn(object) : undefined;
      if (lost !== undefined) throw lost;
    }
    const { webhooks } = this.#installed;
    const hubs = webhooks?.configurations({ url: "https://webhooks.test" }).crds.map(({ metadata }) => metadata.name) ??
      [];
    for (const kind of this.crds().filter(({ metadata }) => hubs.includes(metadata.name!)).flatMap(kindsIn)) {
      roundTrips(webhooks!, kind, (await this.#admin.resource(kind, { namespace: "" }).list()).items);
    }
  }

  /** Migrates storage, drops all versions that are not stored, and checks that users can still apply each object. */
  async migrate(): Promise<void> {
    this.#written.clear();
    for (const crd of this.crds()) {
      const versions = crd.spec.versions.filter(({ storage }) => storage);
      if (versions.length === crd.spec.versions.length) continue;
      const ended = crd.spec.versions.map((it) => ({ ...it, served: it.storage }));
      const unserved: Crd = { ...crd, spec: { ...crd.spec, versions: ended } };
      const only: Crd = { ...crd, spec: { ...crd.spec, versions, conversion: { strategy: "None" } } };
      const [kind] = kindsIn(only);
      const change = { force: true, allowBreaking: true };
      // Once no user writes at an older version, the second migration removes managedFields in it.
      for (const next of [crd, unserved]) {
        await installCrds(this.#admin, [next], change);
        const { refused: [it] } = await migrateStorage(this.#admin, kind, { serverMigrator: false });
        if (it === undefined) continue;
        throw new InformerError(`${kind.kind} "${it.key}" cannot be migrated to ${kind.version}: ${it.reason}`);
      }
      await installCrds(this.#admin, [only], change);
      for (const object of (await this.#admin.resource(kind, { namespace: "" }).list()).items) {
        const { name, namespace, uid } = object.metadata;
        await this.#admin.resource(kind, { namespace }).apply({ metadata: { name, uid } }, CHECK).catch((cause) => {
          if (isConflict(cause)) return; // it is gone
          const what = `${kind.kind} "${keyOf(object)}" cannot be applied after older versions are dropped`;
          throw cause instanceof StatusError ? new InformerError(`${what}: ${cause.message}`, { cause }) : cause;
        });
      }
    }
  }

  /** The CRDs of the release that was installed last. */
  crds(): Crd[] {
    return this.#installed.crds.map((it) => "crd" in it ? it.crd : it);
  }

  /** Sends a request of a user, and remembers what it writes. */
  async #send(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const route = parseRoute(pathname);
    const body = /^(POST|PUT|PATCH)$/.test(request.method) ? await request.clone().text() : "";
    const response = await this.#transport.fetch(request);
    if (request.method === "GET" || route.type !== "resource") return response;
    const sent = () => `${request.method} ${pathname}${body === "" ? "" : ` ${shortBody(route.plural, body)}`}`;
    this.#trial?.record.note(() => `${USER_AGENT}  ${sent()} → ${response.status}`);
    if (body === "" || !response.ok || route.subresource !== undefined || searchParams.has("dryRun")) return response;
    const object = await response.clone().json();
    if (response.status === 201) this.#trial?.cluster.own(object.metadata.uid);
    const { apiVersion: _, kind: __, status: ___, metadata: { labels, annotations } = {}, ...rest } = JSON.parse(body);
    this.#written.set(object.metadata.uid, {
      path: route.name === undefined ? `${pathname}/${object.metadata.name}` : pathname,
      given: body.startsWith("[") ? null : { ...rest, metadata: { labels, annotations } }, // null for a JSON patch
    });
    this.#lost = this.#lostIn(object);
    return response;
  }

  /** Returns an error if an object lacks what a user has written. */
  #lostIn(object: KubernetesObject): InformerError | undefined {
    const { given = null } = this.#written.get(object.metadata.uid!) ?? {};
    const lost = missingIn(given, object as unknown as Json, []);
    if (lost === undefined) return undefined;
    const { kind = "", apiVersion = "" } = object;
    const what = `${lost.join(".")} of ${kind} "${keyOf(object)}"`;
    const by = `which a user has written at version ${apiVersion.replace(/.*\//, "")}`;
    return new InformerError(
      `a field is lost: ${what}, ${by} (${shortJson(kind, memberAt(given, ...lost))} was written)`,
    );
  }
}

/** Returns the served versions of a definition. */
export function kindsIn({ spec: { group, names: { plural, kind }, scope, versions } }: Crd): Resource[] {
  const names = { group, plural, kind, scope: scope as "Namespaced" };
  return versions.filter(({ served }) => served).map(({ name: version }) => defineResource({ ...names, version }));
}

/** Returns a value as short text. A Secret's values are never printed. */
export function shortJson(kind: string, value: unknown, most = 80): string {
  return /^secrets?$/i.test(kind) ? "[redacted]" : quoted(JSON.stringify(value) ?? "nothing", most);
}

/** Returns what a user has written, without what the path says and what the server has set. */
function shortBody(plural: string, body: string): string {
  const written = JSON.parse(body, (name, value) => OF_SERVER.test(name) ? undefined : value);
  const { apiVersion: _, kind: __, ...members } = written;
  return shortJson(plural, Array.isArray(written) ? written : members, 160);
}

/** Returns the first path of a value that another does not have; a patch removes nulls, a server empty values. */
function missingIn(given: Json | undefined, found: typeof given, path: string[]): string[] | undefined {
  if (given === undefined || given === null || Object.is(given, found)) return undefined;
  if (typeof given !== "object" || (typeof found !== "object" && Object.keys(given).length > 0)) return path;
  const has = (it: Json): boolean => listOr(found).some((other) => missingIn(it, other, []) === undefined);
  if (Array.isArray(given)) return given.every(has) ? undefined : path;
  return Object.entries(given).map(([name, it]) => missingIn(it, objectOr(found)[name], [...path, name]))
    .find((lost) => lost !== undefined);
}
