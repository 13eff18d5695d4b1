import { assertEquals } from "@std/assert";
import { rightsText } from "../../../src/engine/client/access_reviews.ts";
import { accessUsed } from "../../../src/engine/client/access_used.ts";
import type { CachedSelection } from "../../../src/engine/informer/options.ts";
import { ConfigMap, Namespace, Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { namespace } from "../../../src/testing/mod.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

const ASKED: readonly (readonly [CachedSelection & { readonly pollMs?: number }, string])[] = [
  [{}, "list, watch configmaps in all namespaces"],
  [{ namespaces: ["shop", "bank"] }, 'list, watch configmaps in "shop"; list, watch configmaps in "bank"'],
  [{ namespace: "shop", fieldSelector: "metadata.name=a" }, 'list, watch configmaps "a" in "shop"'],
  [{ pollMs: 1_000 }, "list configmaps in all namespaces"],
  [{ namespaces: { labels: "team=a" } }, "list, watch configmaps in all namespaces; list, watch namespaces"],
  [{ namespaces: "readable" }, "list namespaces"],
];

for (const [options, rights] of ASKED) {
  Deno.test(`SharedInformerFactory.missingRights() asks before the start for ${rights}`, async () => {
    const server = { authorize: ({ group }: { group: string }) => group === "authorization.k8s.io" };
    await using fixture = new FactoryFixture({}, server);
    const { informers } = fixture;
    informers.forResource(ConfigMap, options);
    assertEquals(rightsText(await informers.missingRights()), rights);
    assertEquals(fixture.server.requests.every(({ resource }) => /^selfsubject.*reviews$/.test(resource)), true);
  });

  Deno.test(`SharedInformerFactory.missingRights() names the rights that informers use: ${rights}`, async () => {
    await using fixture = new FactoryFixture({});
    const { informers, client, server } = fixture;
    server.create(Namespace, namespace({ name: "shop", labels: { team: "a" } }));
    assertEquals(await informers.missingRights(), []);
    informers.forResource(ConfigMap, options);
    await fixture.start();
    await fixture.tick(5_000);
    const asked = new Set(
      rights.split("; ").flatMap((text) => {
        const [, verbs, plural, name, place] = /^(.+?) (\w+)(?: "(\w+)")?(?: in "?(.+?)"?)?$/.exec(text)!;
        const namespace = place === undefined || place === "all namespaces" ? "" : place;
        return verbs.split(", ").map((verb) => `${verb} ${plural} ${name ?? ""} ${namespace}`);
      }),
    );
    const used = accessUsed(client).filter(({ groups: [group] }) => group === "").map((it) =>
      `${it.verbs[0]} ${it.resources[0]} ${it.names?.join() ?? ""} ${it.namespace}`
    );
    // A streaming list needs only watch, and "readable" finds namespaces in which it reads.
    for (const it of used) assertEquals(asked.has(it) || "readable" === options.namespaces, true, it);
  });
}

Deno.test("SharedInformerFactory.missingRights() returns what is missing of all informers, each once", async () => {
  await using fixture = new FactoryFixture({ namespace: "shop" }, {
    authorize: ({ group, resource, verb }) => group !== "" || resource === "pods" || verb === "list",
  });
  const { informers } = fixture;
  informers.forResource(Pod);
  informers.forResource(Node);
  informers.forResource(ConfigMap);
  informers.forResource(ConfigMap, { fields: ["data"] });
  assertEquals(rightsText(await informers.missingRights()), 'watch nodes; watch configmaps in "shop"');
});
