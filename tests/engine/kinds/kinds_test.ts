import { assert, assertEquals } from "@std/assert";
import { dirname, join, relative } from "node:path/posix";
import type { DynamicObject, KubernetesObject, ObjectDraft } from "../../../mod.ts";
import { apiVersionOf, type Resource } from "../../../src/engine/api/resource.ts";
import * as admissionregistrationV1 from "../../../src/engine/kinds/admissionregistration/v1.ts";
import * as apiextensionsV1 from "../../../src/engine/kinds/apiextensions/v1.ts";
import * as apiregistrationV1 from "../../../src/engine/kinds/apiregistration/v1.ts";
import * as appsV1 from "../../../src/engine/kinds/apps/v1.ts";
import * as authenticationV1 from "../../../src/engine/kinds/authentication/v1.ts";
import * as authorizationV1 from "../../../src/engine/kinds/authorization/v1.ts";
import * as autoscalingV1 from "../../../src/engine/kinds/autoscaling/v1.ts";
import * as autoscalingV2 from "../../../src/engine/kinds/autoscaling/v2.ts";
import * as batchV1 from "../../../src/engine/kinds/batch/v1.ts";
import * as certificatesV1 from "../../../src/engine/kinds/certificates/v1.ts";
import * as coordinationV1 from "../../../src/engine/kinds/coordination/v1.ts";
import * as coreV1 from "../../../src/engine/kinds/core/v1.ts";
import * as discoveryV1 from "../../../src/engine/kinds/discovery/v1.ts";
import * as eventsV1 from "../../../src/engine/kinds/events/v1.ts";
import * as flowcontrolV1 from "../../../src/engine/kinds/flowcontrol/v1.ts";
import * as metaV1 from "../../../src/engine/kinds/meta/v1.ts";
import * as networkingV1 from "../../../src/engine/kinds/networking/v1.ts";
import * as nodeV1 from "../../../src/engine/kinds/node/v1.ts";
import * as policyV1 from "../../../src/engine/kinds/policy/v1.ts";
import * as rbacV1 from "../../../src/engine/kinds/rbac/v1.ts";
import * as resourceV1 from "../../../src/engine/kinds/resource/v1.ts";
import * as schedulingV1 from "../../../src/engine/kinds/scheduling/v1.ts";
import * as storageV1 from "../../../src/engine/kinds/storage/v1.ts";
import * as storagemigrationV1 from "../../../src/engine/kinds/storagemigration/v1.ts";
import { builtInResources, sameResource } from "../../../src/testing/fake/storage/definition.ts";
import { deno } from "../../support/processes/program.ts";

const ROOT = join(import.meta.dirname!, "../../..");
const KINDS = join(ROOT, "src/engine/kinds");

/** The paths of the files below `src/engine/kinds`. */
const FILES: readonly string[] = [...Deno.readDirSync(KINDS)].filter(({ isDirectory }) => isDirectory)
  .flatMap(({ name }) => [...Deno.readDirSync(join(KINDS, name))].map((file) => `${name}/${file.name}`)).sort();

Deno.test("each file of kinds is an entry point, except types that several groups share", () => {
  const { exports } = JSON.parse(Deno.readTextFileSync(join(ROOT, "deno.json"))) as { exports: Record<string, string> };
  const entries = Object.entries(exports).filter(([entry]) => entry.startsWith("./kinds/"));
  assertEquals(
    entries,
    FILES.filter((path) => !path.endsWith("_shared.ts"))
      .map((path) => [`./kinds/${path.slice(0, -3)}`, `./src/engine/kinds/${path}`]),
  );
});

Deno.test("an entry point of kinds loads its file, shared types and the vocabulary alone", async () => {
  const loaded = async (path: string): Promise<string[]> => {
    const { out } = await deno(["info", "--json", join(KINDS, path)]);
    const { modules } = JSON.parse(out) as { modules: { local: string }[] };
    return modules.map(({ local }) => relative(join(ROOT, "src/engine"), local)).filter((it) =>
      dirname(it) !== "api" && it !== "errors/checks.ts"
    )
      .sort();
  };
  assertEquals(await loaded("apps/v1.ts"), ["kinds/apps/v1.ts", "kinds/core/v1_shared.ts", "kinds/meta/v1.ts"]);
  assertEquals(await loaded("core/v1.ts"), ["kinds/core/v1.ts", "kinds/core/v1_shared.ts", "kinds/meta/v1.ts"]);
  assertEquals(await loaded("coordination/v1.ts"), ["kinds/coordination/v1.ts"]);
});

Deno.test("the resources of kinds are those that the fake server has built in", async () => {
  const resources: Resource[] = [];
  for (const path of FILES) {
    const module = await import(`../../../src/engine/kinds/${path}`) as Record<string, Resource>;
    for (const [name, resource] of Object.entries(module)) {
      assertEquals(name, resource.kind);
      assertEquals(path, `${resource.group === "" ? "core" : resource.group.split(".")[0]}/${resource.version}.ts`);
      resources.push(resource);
    }
  }
  assertEquals(resources.length, 72);
  for (const kind of builtInResources()) {
    const found = resources.find((resource) => sameResource(resource, kind));
    assert(found !== undefined, `${apiVersionOf(kind)} ${kind.kind}`);
    assertEquals([found.kind, found.scope], [kind.kind, kind.scope]);
  }
});

/** The draft of each kind, as the compiler sees it: `deno check` fails when a kind is wrong. */

const MODULES = {
  "admissionregistration/v1.ts": admissionregistrationV1,
  "apiextensions/v1.ts": apiextensionsV1,
  "apiregistration/v1.ts": apiregistrationV1,
  "apps/v1.ts": appsV1,
  "authentication/v1.ts": authenticationV1,
  "authorization/v1.ts": authorizationV1,
  "autoscaling/v1.ts": autoscalingV1,
  "autoscaling/v2.ts": autoscalingV2,
  "batch/v1.ts": batchV1,
  "certificates/v1.ts": certificatesV1,
  "coordination/v1.ts": coordinationV1,
  "core/v1.ts": coreV1,
  "discovery/v1.ts": discoveryV1,
  "events/v1.ts": eventsV1,
  "flowcontrol/v1.ts": flowcontrolV1,
  "meta/v1.ts": metaV1,
  "networking/v1.ts": networkingV1,
  "node/v1.ts": nodeV1,
  "policy/v1.ts": policyV1,
  "rbac/v1.ts": rbacV1,
  "resource/v1.ts": resourceV1,
  "scheduling/v1.ts": schedulingV1,
  "storage/v1.ts": storageV1,
  "storagemigration/v1.ts": storagemigrationV1,
};

/** Those of some names that are members of a type. */
type Had<T, Name> = Name extends keyof T ? Name : never;

/** The faults of the drafts of a kind: members that they should lack, or a name that may be missing. */
type Wrong<T extends KubernetesObject> =
  | Had<ObjectDraft<T>, "status" | "unheardOf">
  | Had<NonNullable<ObjectDraft<T>["metadata"]>, "uid" | "resourceVersion" | "unheardOf">
  | (undefined extends ObjectDraft<T>["metadata"] ? ("$ephemeral" extends keyof T ? never : "no name") : never);

/** The kinds of modules whose drafts have faults, each with one. */
type WrongIn<Module> = Module extends unknown ? {
    [Name in keyof Module]: Module[Name] extends Resource<infer T> ? Wrong<T> extends never ? never : [Name, Wrong<T>]
      : never;
  }[keyof Module]
  : never;

/** A kind with a field that none should have. */
interface Known extends KubernetesObject {
  readonly unheardOf?: string;
}
type Planted = { readonly known: Resource<Known>; readonly dynamic: Resource<DynamicObject> };

Deno.test("types: no draft of a kind has a status, a field that the kind lacks or metadata of the server", () => {
  const none: WrongIn<typeof MODULES[keyof typeof MODULES]>[] = [];
  const planted: WrongIn<Planted>[] = [["known", "unheardOf"], ["dynamic", "status"]];
  assertEquals([none.length, planted.length], [0, 2]);
});

Deno.test("the drafts of all kinds are checked", () => {
  const files = [...Deno.readDirSync(KINDS)].filter(({ isDirectory }) => isDirectory)
    .flatMap(({ name }) => [...Deno.readDirSync(join(KINDS, name))].map((file) => `${name}/${file.name}`));
  assertEquals(Object.keys(MODULES), files.filter((file) => !file.endsWith("_shared.ts")).sort());
});
