import { assert, assertEquals, assertThrows } from "@std/assert";
import { onlyFields } from "../../../src/engine/api/fields.ts";
import { asTable, onlyMetadata } from "../../../src/engine/api/resource.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";

Deno.test("onlyFields adds the paths to the resource, sorted, each once, and changes nothing else", () => {
  const resource = onlyFields(Pod, [
    "status.phase",
    "spec.nodeName",
    "metadata.labels",
    "status.phase",
    "metadata.uid",
  ]);
  assertEquals(resource as unknown, { ...Pod, fields: ["metadata.labels", "spec.nodeName", "status.phase"] });
  assert(Object.isFrozen(resource) && Object.isFrozen(resource.fields));
  assertEquals(Pod.fields, undefined);
});

Deno.test("onlyFields gives equal resources for paths that keep the same fields", () => {
  const fields = onlyFields(Pod, ["spec", 'metadata.annotations["a.b/c"]']);
  assertEquals(onlyFields(Pod, ['["metadata"]["annotations"]["a.b/c"]', "spec.containers.image", "spec"]), fields);
  assertEquals(onlyFields(Pod, ["metadata"]).fields, ["metadata"]);
  assertEquals(onlyFields(Pod, []).fields, []);
  // Without the second path, informers drop the managed fields.
  assertEquals(
    onlyFields(Pod, ["spec", "metadata.managedFields", "metadata"]).fields,
    ["metadata", "metadata.managedFields", "spec"],
  );
});

Deno.test("onlyFields refuses metadata, tables, and what is no list of paths", () => {
  const refuses = (call: () => unknown, type: typeof TypeError, message: string) => assertThrows(call, type, message);
  refuses(() => onlyFields(onlyMetadata(Pod), []), TypeError, 'the resource has the representation "metadata"');
  refuses(() => onlyFields(asTable(Pod), []), TypeError, 'the resource has the representation "table"');
  refuses(() => onlyMetadata(onlyFields(Pod, [])), TypeError, "the resource is reduced to fields");
  refuses(() => asTable(onlyFields(Pod, [])), TypeError, "the resource is reduced to fields");
  refuses(() => onlyFields(Pod, "spec" as never), TypeError, '"spec" is not an array of paths');
  refuses(() => onlyFields(Pod, [7] as never), TypeError, "[7] is not an array of paths");
  refuses(() => onlyFields(Pod, ["spec."] as never), SyntaxError, 'Cannot read the field path "spec."');
});
