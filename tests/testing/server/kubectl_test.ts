import { assert, assertEquals, assertMatch } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { Deployment } from "../../../src/kinds/apps/v1.ts";
import { ConfigMap } from "../../../src/kinds/core/v1.ts";
import { PodDisruptionBudget } from "../../../src/kinds/policy/v1.ts";

// As a user would: the real kubectl, over a port. Where there is none on the PATH, or one too old, the tests' names say
// so, and they test nothing.

interface KubectlResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

class Kubectl {
  readonly #folder: string;
  readonly #port: number;

  constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  /** Calls it, with files that its arguments may name as `@name`. */
  async run(args: readonly string[], files: Readonly<Record<string, unknown>> = {}): Promise<KubectlResult> {
    for (const [name, value] of Object.entries(files)) {
      await Deno.writeTextFile(`${this.#folder}/${name}`, JSON.stringify(value));
    }
    const { code, stdout, stderr } = await this.start(args).output();
    return { code, out: new TextDecoder().decode(stdout).trim(), err: new TextDecoder().decode(stderr).trim() };
  }

  start(args: readonly string[]): Deno.Command {
    return new Deno.Command("kubectl", {
      args: ["--server", `http://127.0.0.1:${this.#port}`, ...args.map((arg) => arg.replace(/^@/, `${this.#folder}/`))],
      env: { HOME: this.#folder, KUBECONFIG: `${this.#folder}/none`, KUBERNETES_SERVICE_HOST: "" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  }
}

/** The minor version of the kubectl on the PATH; 0 where there is none. */
async function kubectlVersion(): Promise<number> {
  try {
    const { stdout } = await new Deno.Command("kubectl", { args: ["version", "--client", "-o", "json"] }).output();
    return parseInt(JSON.parse(new TextDecoder().decode(stdout)).clientVersion.minor);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

/** The first one that asks for OpenAPI v3 alone before it writes. */
const OLDEST = 29;
const version = await kubectlVersion();
/**
 * Why the tests are left out, as the end of their names: a runner shows names, not what a file says while it is loaded.
 */
const without = version >= OLDEST
  ? ""
  : version === 0
  ? " (left out: there is no kubectl on the PATH)"
  : ` (left out: kubectl is 1.${version}, older than 1.${OLDEST})`;
const ignore = without !== "";

async function withKubectl(run: (kubectl: Kubectl, server: FakeApiServer) => Promise<void>): Promise<void> {
  using server = new FakeApiServer();
  const folder = await Deno.makeTempDir();
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, server.fetch);
  try {
    await run(new Kubectl(folder, http.addr.port), server);
  } finally {
    server[Symbol.dispose]();
    await http.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}

const MAP = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings", labels: { app: "shop" } },
  data: { a: "1" },
};
const WEB = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
};

Deno.test(
  { name: `kubectl creates, gets, describes, patches and deletes on the fake${without}`, ignore },
  async () => {
    await withKubectl(async (kubectl, server) => {
      assertEquals((await kubectl.run(["create", "-f", "@map"], { map: MAP })).out, "configmap/settings created");
      const again = await kubectl.run(["create", "-f", "@map"], { map: MAP });
      assertMatch(again.err, /configmaps "settings" already exists/);
      assertMatch((await kubectl.run(["get", "cm"])).out, /^NAME +DATA +AGE\nsettings +1 +\d+s$/);
      assertEquals((await kubectl.run(["get", "cm", "-l", "app=shop", "-o", "name"])).out, "configmap/settings");
      assertMatch((await kubectl.run(["describe", "cm", "settings"])).out, /Labels: +app=shop\n[^]*\na:\n----\n1/);
      await kubectl.run(["patch", "cm", "settings", "--type", "merge", "-p", '{"data":{"b":"2"}}']);
      await kubectl.run(["label", "cm", "settings", "tier=web"]);
      const { metadata, data } = server.get(ConfigMap, "default/settings")!;
      assertEquals([metadata.labels, data], [{ app: "shop", tier: "web" }, { a: "1", b: "2" }]);
      assertEquals((await kubectl.run(["delete", "cm", "settings"])).code, 0);
      assertEquals(server.keys(ConfigMap), []);
      assertEquals((await kubectl.run(["wait", "--for=delete", "cm/settings", "--timeout=20s"])).code, 0);
    });
  },
);

Deno.test({ name: `kubectl applies, scales and waits on the fake${without}`, ignore }, async () => {
  await withKubectl(async (kubectl, server) => {
    assertEquals((await kubectl.run(["apply", "-f", "@web"], { web: WEB })).out, "deployment.apps/web created");
    const spec = {
      ...WEB.spec,
      template: { ...WEB.spec.template, spec: { containers: [{ name: "web", image: "web:2" }] } },
    };
    assertEquals(
      (await kubectl.run(["apply", "-f", "@web"], { web: { ...WEB, spec } })).out,
      "deployment.apps/web configured",
    );
    assertEquals(server.get(Deployment, "web")?.spec?.template.spec?.containers[0].image, "web:2");
    assertEquals((await kubectl.run(["scale", "deploy", "web", "--replicas=5"])).out, "deployment.apps/web scaled");
    assertMatch((await kubectl.run(["get", "deploy"])).out, /\nweb +0\/5 /);
    const conflict = await kubectl.run(["apply", "--server-side", "-f", "@web"], { web: WEB });
    assertMatch(conflict.err, /conflict with "kubectl" with subresource "scale" using apps\/v1: \.spec\.replicas/);
    assertEquals((await kubectl.run(["apply", "--server-side", "--force-conflicts", "-f", "@web"])).code, 0);
    assertEquals(server.get(Deployment, "web")?.spec?.replicas, 2);
    const waiting = kubectl.run(["wait", "--for=condition=Available", "deploy/web", "--timeout=20s"]);
    server.patch(Deployment, "web", { status: { conditions: [{ type: "Available", status: "True" }] } });
    assertEquals((await waiting).out, "deployment.apps/web condition met");
    assertEquals((await kubectl.run(["apply", "-f", "@web", "--dry-run=server"], { web: WEB })).code, 0);
  });
});

Deno.test({ name: `kubectl create sends built-in kinds to the fake in protobuf${without}`, ignore }, async () => {
  await withKubectl(async (kubectl, server) => {
    assertEquals((await kubectl.run(["create", "namespace", "shop"])).out, "namespace/shop created");
    const created = await kubectl.run(["create", "configmap", "made", "-n", "shop", "--from-literal=a=größer"]);
    assertEquals(created.out, "configmap/made created");
    assertEquals(server.get(ConfigMap, "shop/made")?.data, { a: "größer" });
    assertEquals((await kubectl.run(["create", "deployment", "api", "--image=api:1", "--replicas=3"])).code, 0);
    const { spec } = server.get(Deployment, "api")!;
    assertEquals([spec?.replicas, spec?.template.spec?.containers[0].image], [3, "api:1"]);
    assertEquals((await kubectl.run(["create", "ingress", "web", "--rule=a.b/*=web:80"])).code, 0);
    assertEquals((await kubectl.run(["create", "pdb", "web", "--selector=app=web", "--min-available=25%"])).code, 0);
    assertEquals(server.get(PodDisruptionBudget, "web")?.spec?.minAvailable, "25%");
    assertEquals((await kubectl.run(["auth", "can-i", "list", "pods"])).out, "yes");
  });
});

Deno.test({ name: `kubectl watches the fake as Tables${without}`, ignore }, async () => {
  await withKubectl(async (kubectl, server) => {
    server.create(ConfigMap, { metadata: { name: "first" } });
    const watching = kubectl.start(["get", "cm", "--watch", "--no-headers"]).spawn();
    const reader = watching.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const saw = async (words: RegExp): Promise<void> => {
      while (!words.test(text)) {
        const { done, value } = await reader.read();
        assert(!done, `kubectl ended after ${JSON.stringify(text)}`);
        text += value;
      }
    };
    await saw(/^first +0 /);
    server.create(ConfigMap, { metadata: { name: "second" }, data: { a: "1" } });
    await saw(/\nsecond +1 /);
    await reader.cancel();
    watching.kill();
    await watching.stderr.cancel();
    await watching.status;
  });
});

Deno.test({ name: `kubectl explains the fields of the fake's kinds${without}`, ignore }, async () => {
  await withKubectl(async (kubectl) => {
    const { code, out } = await kubectl.run(["explain", "pod.spec.containers"]);
    assertEquals(code, 0);
    assertMatch(out, /FIELD: containers <\[\]Container>/);
    assertMatch(out, /\n {2}imagePullPolicy\t<string>\n {2}enum: Always, IfNotPresent, Never\n/);
    assertMatch(out, /\n {2}name\t<string> -required-\n/);
  });
});
