import { assertEquals } from "@std/assert";
import { fieldValues } from "../../../src/engine/api/selector.ts";
import { EntrySelector } from "../../../src/engine/entry/entry_selector.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { ObjectSelection } from "../../../src/relay/server/objects.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";

const PODS = ["a", "b"].flatMap((namespace) =>
  ["web", "db"].flatMap((app) =>
    ["n1", ""].map((nodeName) =>
      pod({ namespace, name: `${app}-${nodeName || "none"}`, labels: { app }, spec: { nodeName } })
    )
  )
);

const SELECTIONS = ["", "a"].flatMap((namespace) =>
  ["", "app=web", "app,app!=web", "!app"].flatMap((labelSelector) =>
    ["", "spec.nodeName=n1", "spec.nodeName!=n1", "metadata.name=web-n1", "spec.nodeName="].map((fieldSelector) => ({
      namespace,
      labelSelector,
      fieldSelector,
    }))
  )
);

Deno.test("a relay's lists and the server select the same objects as a selector of parsed objects", async () => {
  const server = new FakeApiServer();
  for (const object of PODS) server.create(Pod, object);
  const names = (objects: readonly { metadata: { namespace?: string; name: string } }[]): string[] =>
    objects.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`).sort();
  const sizes = new Set<number>();
  for (const selection of SELECTIONS) {
    const selector = new EntrySelector<Pod>(selection, fieldValues);
    const expected = names(server.list(Pod).filter((object) => selector.matches(object.metadata, object)));
    sizes.add(expected.length);
    const relayed = ObjectSelection.parse(new URLSearchParams(selection));
    assertEquals(names(server.list(Pod).filter((object) => relayed.matches(object))), expected);
    const { namespace, labelSelector, fieldSelector } = selection;
    const path = `/api/v1/${namespace === "" ? "" : `namespaces/${namespace}/`}pods`;
    const query = new URLSearchParams({ labelSelector, fieldSelector });
    const response = await server.fetch(new Request(`http://fake${path}?${query}`));
    assertEquals(names((await response.json()).items), expected, `${path}?${query}`);
  }
  assertEquals([...sizes].sort((a, b) => a - b).slice(0, 3), [0, 1, 2]);
});
