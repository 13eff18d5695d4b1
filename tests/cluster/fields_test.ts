// Informers of named fields on a real server: their caches are exact, and no write of what they cache removes a field.
import {
  type Client,
  fieldsOf,
  type KubernetesObject,
  metadataOf,
  type Resource,
  SharedIndexInformer,
  tableOf,
} from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { ConfigMap, Pod, Secret } from "@kube/informer/kinds/core/v1";
import { createOrUpdate, finalize, writeStatus } from "@kube/informer/reconcile";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { FieldTree } from "../../src/api/fields.ts";
import { pickFields } from "../../src/entry/entry.ts";
import { clusterTests, report } from "./_cluster.ts";
import { needsOf } from "./_versions.ts";
import { runSynced } from "../support/cluster/with_deadline.ts";
import { forEach, mapDraft, names, podDraft } from "../support/cluster/writers.ts";

const cluster = clusterTests();

const FIELDS = ["spec.nodeName", "spec.containers.image", "spec.containers.env.name", "metadata.labels.mark", "status"];

/** As JSON has it: without marks. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value));

for (const [title, streamingList] of [["pages", "off"], ["a streaming list", "on"]] as const) {
  cluster.anywhere(
    `an informer of fields equals the picked objects of the server, by ${title} and by a watch`,
    async (setting) => {
      const { client, namespace } = setting;
      const pods = client.resource(Pod, { namespace });
      await forEach(names("pod", 60), (name) => pods.create(podDraft(name, { tier: "web" }, "node-1")));
      const source = client.resource(fieldsOf<Pod, readonly string[]>(Pod, FIELDS), { namespace });
      await using informer = new SharedIndexInformer(source, { reflector: { streamingList, pageSize: 25 } });
      let updates = 0;
      informer.addEventHandler({ onUpdate: () => updates++ });
      await runSynced(informer);
      const compare = async (): Promise<void> => {
        const { items } = await pods.list();
        const expected = items.map((pod) => pickFields(plain(pod), FieldTree.of(FIELDS)));
        const byName = (a: unknown, b: unknown): number => (a as Pod).metadata.name < (b as Pod).metadata.name ? -1 : 1;
        assertEquals(informer.indexer.list().map(plain).sort(byName) as unknown[], expected.sort(byName));
      };
      await compare();
      // Half of these changes are of a kept field.
      await forEach(names("pod", 20), async (name) => {
        await pods.patch(name, { type: "merge", body: { metadata: { labels: { other: "1" } } } });
        await pods.patch(name, { type: "merge", body: { metadata: { labels: { mark: "1" } } } });
      });
      const last = await pods.patch("pod-0000", { type: "merge", body: { metadata: { labels: { other: "2" } } } });
      await informer.atLeast(last.metadata.resourceVersion, { signal: AbortSignal.timeout(30_000) });
      await compare();
      assertEquals(updates, 20, "an update of another label is no event");
    },
    ...needsOf(streamingList),
  );
}

/** The paths of all values, without the version and those that each write changes. */
function pathsOf(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, part]) => pathsOf(part, `${path}/${key}`))
    .filter((path) => !/^\/metadata\/(managedFields|resourceVersion|generation)/.test(path));
}

async function objectsOf<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  namespace: string,
): Promise<T[]> {
  await using informer = new SharedIndexInformer(client.resource(resource, { namespace }), { onError: () => {} });
  await runSynced(informer);
  return informer.indexer.list().filter(({ metadata }) => metadata.name === "a");
}

cluster.anywhere(
  "no call with an object of a reduced cache removes a field that the cache left out",
  async (setting) => {
    const { client, namespace } = setting;
    const finalizers = ["example.com/one"];
    const meta = { name: "a", labels: { app: "a", mark: "1" }, annotations: { "example.com/owner": "me" }, finalizers };
    const template = { metadata: { labels: { app: "a" } }, spec: podDraft("a").spec };
    await client.resource(ConfigMap, { namespace }).create({ ...mapDraft("a"), metadata: meta });
    await client.resource(Secret, { namespace }).create({ metadata: meta, stringData: { password: "x" } });
    await client.resource(Pod, { namespace }).create({ ...podDraft("a"), metadata: meta });
    await client.resource(Deployment, { namespace }).create({
      metadata: meta,
      spec: { selector: { matchLabels: { app: "a" } }, template },
    });
    let refused = 0;
    let sent = 0;
    for (const kind of [ConfigMap, Secret, Pod, Deployment] as readonly Resource<KubernetesObject>[]) {
      const objects = client.resource(kind, { namespace });
      const paths: readonly string[] = [
        "metadata.labels.mark",
        "spec.containers.image",
        "spec.template.spec.containers.name",
      ];
      for (
        const form of [
          fieldsOf(kind, paths),
          fieldsOf(kind, []),
          fieldsOf(kind, ["spec"] as readonly string[]),
          metadataOf(kind),
          tableOf(kind),
        ]
      ) {
        const [object] = await objectsOf(client, form as Resource<KubernetesObject>, namespace);
        const whole = await objects.get("a");
        const typed = { ...object, kind: kind.kind, apiVersion: whole.apiVersion };
        const copies = [object, typed, { ...typed, metadata: { ...object.metadata, labels: {} } }];
        for (const copy of copies as never[]) {
          const writes: readonly (() => Promise<unknown>)[] = [
            () => objects.update(copy),
            () => objects.update(copy, { subresource: "status" }),
            () => objects.apply(copy, { fieldManager: "kube-informer", force: true }),
            () => objects.patch("a", { type: "apply", body: copy, fieldManager: "kube-informer", force: true }),
            () => objects.patch("a", { type: "json", body: [{ op: "replace", path: "", value: copy }] }),
            () => objects.create(copy),
            () => createOrUpdate(objects, { metadata: { name: "a" } }, () => {}, { current: copy }),
            () => finalize(objects, copy, { finalizer: "example.com/two", cleanup: () => {} }),
            () => writeStatus(objects, copy, {} as never),
          ];
          for (const write of writes) {
            await assertRejects(write, TypeError, "is reduced to");
            refused++;
          }
        }
        assertEquals((await objects.get("a")).metadata.resourceVersion, whole.metadata.resourceVersion);
        // A merge patch with all that is cached may be sent, unless it replaces a list by a reduced one: it removes
        // nothing.
        const { apiVersion: _apiVersion, kind: _kind, ...body } = plain(object) as unknown as Record<string, unknown>;
        const marked = { ...object, apiVersion: undefined, kind: undefined };
        if ("columns" in body) continue;
        await objects.patch("a", { type: "merge", body: marked as never }).then(() => sent++, (error) => {
          assert(error instanceof TypeError, String(error));
          refused++;
        });
        const left = pathsOf(await objects.get("a"));
        assertEquals(pathsOf(whole).filter((path) => !left.includes(path)), [], `${kind.kind}: fields were removed`);
      }
    }
    report(`${refused} writes refused, ${sent} merge patches sent`);
  },
);
