/**
 * A check of conversions for tests: nothing is lost on the way to another version and back.
 *
 * {@linkcode roundTrips} is the entry point. It makes no objects: tests give them.
 *
 * @module
 */
import { keyOf, type KubernetesObject } from "../api/object.ts";
import type { Resource } from "../api/resource.ts";
import { quoted } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import { internals } from "../errors/internals.ts";
import type { JsonObject } from "../schema/values/json.ts";
import { patchOf } from "./json_patch.ts";
import type { Webhooks } from "./webhooks.ts";

/**
 * Checks in a test that no field is lost when objects are converted to each other version and back. Use the objects
 * of a kind's fixtures, or of a generator, which must end.
 *
 * The API server stores one version, so a field that another version cannot say is lost by the next write of a client
 * of that version. Keep such a field in an annotation.
 *
 * @param kind The version of the objects: the hub, which goes through each other version, or another version, which
 * goes through the hub.
 * @throws {InformerError} that names the object and the first field that is lost or changed.
 * @throws {TypeError} if there is no conversion of the kind.
 */
export function roundTrips<T extends KubernetesObject>(
  webhooks: Webhooks,
  kind: Resource<T>,
  objects: Iterable<Omit<T, "metadata"> & { readonly metadata: Partial<T["metadata"]> }>,
): void {
  const converter = webhooks[internals](kind);
  const { group, version, kind: name } = kind;
  const through = version === converter.hub.version ? converter.versions : [converter.hub.version];
  for (const given of objects) {
    const object: JsonObject = { ...JSON.parse(JSON.stringify(given)), apiVersion: `${group}/${version}`, kind: name };
    for (const other of through) {
      const back = converter.convert(converter.convert(object, `${group}/${other}`), `${group}/${version}`);
      const [lost] = patchOf(object, JSON.parse(JSON.stringify(back)));
      if (lost === undefined) continue;
      const { op, path, value } = lost;
      const field = path.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
      const what = { remove: "is lost", add: "is new", replace: `is now ${quoted(`${JSON.stringify(value)}`)}` }[op];
      throw new InformerError(
        `Cannot convert ${name} "${keyOf(object as unknown as KubernetesObject)}" from ${version} to ${other} and ` +
          `back: ${field} ${what}`,
      );
    }
  }
}
