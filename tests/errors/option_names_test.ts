import { assert, assertEquals, assertThrows } from "@std/assert";
import { checkNames, namesOf } from "../../src/errors/option_names.ts";
import { Client, SharedIndexInformer, SharedInformerFactory, WorkQueue } from "../../mod.ts";
import { InformerRelay } from "../../src/edge/mod.ts";
import { ConfigMap, Pod } from "../../src/kinds/core/v1.ts";
import { EventRecorder, LeaderElector, Manager, Reconciler, ShardGroup } from "../../src/reconcile/mod.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";

interface Waiting {
  readonly waitMs?: number;
  readonly onError?: (error: unknown) => void;
}

const NAMES = namesOf<Waiting>()("waitMs onError");

function errorOf(options: object | undefined): string | undefined {
  try {
    checkNames("wait", options, NAMES);
    return undefined;
  } catch (error) {
    assert(error instanceof TypeError);
    return error.message;
  }
}

Deno.test("checkNames: a misspelt option is refused with the one that was meant", () => {
  assertEquals(NAMES, ["waitMs", "onError"]);
  assertEquals(errorOf({ waitMS: 3 }), 'Cannot wait: there is no option "waitMS". Did you mean "waitMs"?');
  assertEquals(
    errorOf({ waitMs: 3, colour: "red" }),
    'Cannot wait: there is no option "colour". Remove it; there are waitMs, onError',
  );
});

Deno.test("checkNames: options that exist, none, and objects of classes pass", () => {
  assertEquals(errorOf({ waitMs: 3, onError: undefined }), undefined);
  assertEquals(errorOf({}), undefined);
  assertEquals(errorOf(undefined), undefined);
  assertEquals(
    errorOf(
      new class {
        waitMs = 3;
        own = 1;
      }(),
    ),
    undefined,
  );
});

Deno.test("options: constructors and methods refuse names that do not exist, and begin nothing", async () => {
  const server = new FakeApiServer();
  using client = new Client({ server: "http://fake", transport: server });
  await using informers = new SharedInformerFactory(client);
  await using reconciler = new Reconciler(client, Pod, () => {});
  const typo = { misspelt: true } as object;
  const cases: Readonly<Record<string, () => unknown>> = {
    "new Client": () => new Client({ server: "http://fake", transport: server, ...typo }),
    "Client.resource": () => client.resource(Pod, { namespace: "shop", ...typo }),
    "new SharedInformerFactory": () => new SharedInformerFactory(client, { ...typo }),
    "forResource": () => informers.forResource(Pod, { ...typo }),
    "acquire": () => informers.acquire(Pod, { ...typo }),
    "new SharedIndexInformer": () => new SharedIndexInformer(client.resource(Pod), { ...typo }),
    "addEventHandler": () => informers.forResource(Pod).addEventHandler({ onAdded: () => {} } as object),
    "new WorkQueue": () => new WorkQueue({ ...typo }),
    "new Reconciler": () => new Reconciler(client, Pod, () => {}, { ...typo }),
    "Reconciler.owns": () => reconciler.owns(ConfigMap, { ...typo }),
    "Reconciler.watches": () => reconciler.watches(ConfigMap, () => [], { ...typo }),
    "new Manager": () => new Manager({ ...typo }),
    "new LeaderElector": () => new LeaderElector(client, { namespace: "shop", name: "lease", ...typo }),
    "new ShardGroup": () => new ShardGroup(client, { namespace: "shop", name: "shards", ...typo }),
    "new EventRecorder": () => new EventRecorder(client, { controller: "example.com/shop", ...typo }),
    "new InformerRelay": () => new InformerRelay(informers, { collections: {}, ...typo } as never),
    "new FakeApiServer": () => new FakeApiServer({ ...typo }),
  };
  for (const [name, begin] of Object.entries(cases)) {
    assertThrows(begin, TypeError, undefined, `${name} took an option that does not exist`);
  }
  assertEquals(server.requests.length, 0);
});
