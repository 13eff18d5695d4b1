import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { findResource } from "../../../src/engine/client/find_resource.ts";
import { type AccessRight, rightsText } from "../../../src/engine/client/access_reviews.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { Deployment } from "../../../src/engine/kinds/apps/v1.ts";
import { Node, Pod, Secret } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

/** A client whose reviews are recorded, and answered when `release` opens. */
class Reviewed implements Disposable {
  readonly asked: string[] = [];
  /** The requests that were aborted. */
  ended = 0;
  running = 0;
  most = 0;
  release = Promise.withResolvers<void>();
  readonly server: FakeApiServer;
  readonly client: Client;

  /** Rules are complete, and the server names these. Without them it names none. */
  constructor(isAllowed: (asked: string) => boolean, rules?: Readonly<Record<string, unknown[]>>) {
    this.server = new FakeApiServer({
      authorize: ({ verb, group, resource, subresource, namespace, name }) => {
        if (group === "authorization.k8s.io") return true;
        const what = [resource, group].filter(Boolean).join(".");
        const asked = `${verb} ${what}${subresource && `/${subresource}`}${name && ` ${name}`} in ${
          namespace || "all"
        }`;
        this.asked.push(asked);
        return isAllowed(asked);
      },
    });
    const fetch = async (request: Request): Promise<Response> => {
      this.most = Math.max(this.most, ++this.running);
      request.signal.addEventListener("abort", () => this.ended++, { once: true });
      try {
        await this.release.promise;
        if (!request.url.includes("selfsubjectrulesreviews")) return await this.server.fetch(request);
        const { spec } = await request.json();
        this.asked.push(`rules in ${spec.namespace}`);
        const status = rules === undefined
          ? { resourceRules: [], nonResourceRules: [], incomplete: true }
          : { resourceRules: rules[spec.namespace] ?? [], nonResourceRules: [], incomplete: false };
        const kind = { kind: "SelfSubjectRulesReview", apiVersion: "authorization.k8s.io/v1" };
        return Response.json({ ...kind, metadata: {}, spec, status }, { status: 201 });
      } finally {
        this.running--;
      }
    };
    this.client = new Client({ server: "http://fake", transport: { fetch }, retries: 0 });
    this.release.resolve();
  }

  /** Holds the answers of the next requests, until `release.resolve()`. */
  hold(): void {
    this.release = Promise.withResolvers<void>();
  }

  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
    this.server[Symbol.dispose]();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

Deno.test("Client.can() asks for one right, by verb, kind, namespace, name and subresource", async () => {
  using reviewed = new Reviewed((asked) => !asked.startsWith("delete"));
  const { client, asked } = reviewed;
  const found = findResource(await client.discover(), "deployments")!;
  assertEquals(
    await client.can({ verb: "get", resource: Pod, subresource: "log", namespace: "shop", name: "a" }),
    true,
  );
  assertEquals(await client.can({ verb: "list", resource: found }), true);
  assertEquals(await client.can({ verb: "delete", resource: Node, namespace: "ignored" }), false);
  assertEquals(asked.slice(-3), ["get pods/log a in shop", "list deployments.apps in all", "delete nodes in all"]);
  // @ts-expect-error a misspelt option is refused
  await assertRejects(() => client.can({ verb: "get", resource: Pod }, { signa: 1 }), TypeError, '"signal"');
});

Deno.test("Client.can() remembers an answer for a minute, for its user only, and no failure", async () => {
  using time = new FakeTime();
  let allowed = false;
  using reviewed = new Reviewed(() => allowed);
  const { client, asked, server } = reviewed;
  const may = (by = client): Promise<boolean> => by.can({ verb: "list", resource: Pod });
  server.failNext(403);
  await assertRejects(() => may(), Error, "403");
  assertEquals([await may(), asked.length], [false, 1]);
  allowed = true;
  await time.tickAsync(59_999);
  assertEquals([await may(), asked.length], [false, 1]);
  await time.tickAsync(1);
  assertEquals([await may(), asked.length], [true, 2]);
  assertEquals([await may(client.as({ user: "ada" })), asked.filter((it) => it.startsWith("list")).length], [true, 3]);
});

Deno.test("Client.can() asks the same question once at a time, and ten questions at most", async () => {
  using reviewed = new Reviewed(() => true);
  const { client, asked } = reviewed;
  reviewed.hold();
  const ask = (name: string): Promise<boolean> => client.can({ verb: "get", resource: Pod, name });
  const answers = Promise.all(["a", "a", ...Array.from({ length: 24 }, (_, at) => `n-${at}`)].map(ask));
  await turn();
  assertEquals(reviewed.running, 10);
  reviewed.release.resolve();
  assertEquals(new Set(await answers), new Set([true]));
  assertEquals([asked.length, reviewed.most], [25, 10]);
  assertEquals(await ask("later"), true);
});

Deno.test("Client.can(): one caller's abort fails that caller only, and the last one's ends the request", async () => {
  using reviewed = new Reviewed(() => true);
  const { client, asked } = reviewed;
  reviewed.hold();
  const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
  const ask = ({ signal }: AbortController): Promise<boolean> => client.can({ verb: "get", resource: Pod }, { signal });
  const outcomes = [first, second].map((it) => ask(it).catch((error) => error));
  await turn();
  first.abort("left");
  assertEquals([await outcomes[0], reviewed.ended], ["left", 0]);
  const again = ask(first).catch((error) => error);
  assertEquals([await again, reviewed.running], ["left", 1]);
  second.abort("gone");
  const later = ask(third); // asks anew, although the first request ends now
  assertEquals(await outcomes[1], "gone");
  await turn();
  reviewed.release.resolve();
  assertEquals([await later, asked.length], [true, 1]);
  assertEquals(reviewed.ended, 0, "a caller that came in time keeps the request");
  reviewed.hold();
  const alone = new AbortController();
  const left = client.can({ verb: "list", resource: Pod }, alone).catch((error) => error);
  await turn();
  alone.abort("alone");
  assertEquals([await left, reviewed.ended], ["alone", 1]);
  const running = reviewed.running;
  const late = client.can({ verb: "delete", resource: Pod }, alone).catch((error) => error);
  assertEquals([await late, reviewed.running], ["alone", running], "an aborted signal sends nothing");
  const pair = [new AbortController(), new AbortController()];
  const both = pair.map((it) => client.can({ verb: "watch", resource: Pod }, it).catch((error) => error));
  await turn();
  for (const [at, it] of pair.entries()) {
    it.abort(at);
    assertEquals([await both[at], reviewed.ended], [at, 1 + at]);
  }
  reviewed.release.resolve();
  assertEquals([await client.can({ verb: "list", resource: Pod }), asked.length], [true, 2]);
});

const rule = { apiGroups: [""], resources: ["pods"], verbs: ["list"] };
const GRANTS: readonly (readonly [object, string])[] = [
  [rule, "list"],
  [{ ...rule, verbs: ["*"] }, "list, delete, get web-0"],
  [{ ...rule, verbs: ["*"], apiGroups: ["apps"], resources: ["*"] }, "watch deployments, get deployments/scale"],
  [{ ...rule, verbs: ["*"], apiGroups: ["*"], resources: ["*/scale"] }, "get deployments/scale"],
  [{ ...rule, verbs: ["get", "list"], resourceNames: ["web-0"] }, "get web-0"],
  [{ verbs: ["*"] }, ""],
];

for (const [granted, expected] of GRANTS) {
  Deno.test(`Client.missingRights() reads the rule ${JSON.stringify(granted)}, with one request for a namespace`, async () => {
    using reviewed = new Reviewed(() => true, { shop: [granted] });
    const rights: Readonly<Record<string, AccessRight>> = {
      "list": { verb: "list", resource: Pod, namespace: "shop" },
      "delete": { verb: "delete", resource: Pod, namespace: "shop" },
      "get web-0": { verb: "get", resource: Pod, namespace: "shop", name: "web-0" },
      "watch deployments": { verb: "watch", resource: Deployment, namespace: "shop" },
      "get deployments/scale": { verb: "get", resource: Deployment, namespace: "shop", subresource: "scale" },
    };
    const missing = await reviewed.client.missingRights(Object.values(rights));
    const has = Object.keys(rights).filter((name) => !missing.includes(rights[name]));
    assertEquals(has.join(", "), expected);
    assertEquals(reviewed.asked, ["rules in shop"]);
  });
}

Deno.test("Client.missingRights() asks for each right that incomplete rules do not grant, and each right once", async () => {
  using reviewed = new Reviewed((asked) => asked === "list pods in shop");
  const { client, asked } = reviewed;
  const right = { verb: "list", resource: Secret, namespace: "shop" };
  const missing = await client.missingRights([
    right,
    { verb: "list", resource: Pod, namespace: "shop" },
    { ...right },
    { verb: "list", resource: Secret, namespace: "bank" },
    { verb: "list", resource: Secret },
  ]);
  assertStrictEquals(missing.length, 3);
  assertEquals(
    rightsText(missing),
    'list secrets in "shop"; list secrets in "bank"; list secrets in all namespaces',
  );
  assertEquals(asked.toSorted(), [
    "list pods in shop",
    "list secrets in all",
    "list secrets in bank",
    "list secrets in shop",
    "rules in shop",
  ]);
});

Deno.test("rightsText() joins the verbs for one target", () => {
  const rights: AccessRight[] = [
    { verb: "list", resource: Pod, namespace: "shop" },
    { verb: "watch", resource: Pod, namespace: "shop" },
    { verb: "get", resource: Deployment, subresource: "scale", name: "web" },
    { verb: "list", resource: Node, namespace: "ignored" },
  ];
  const expected = 'list, watch pods in "shop"; get deployments.apps/scale "web" in all namespaces; list nodes';
  assertEquals(rightsText(rights), expected);
});
