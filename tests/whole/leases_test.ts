// Leader election next to the elections of Kubernetes' own programs.
import { SharedIndexInformer } from "@kube/informer";
import { Lease } from "@kube/informer/kinds/coordination/v1";
import { assert, assertEquals } from "@std/assert";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { Program } from "../support/processes/program.ts";
import { report, seconds, until, wholeCluster } from "./_whole.ts";

const situation = wholeCluster(3);

situation("leases: one of two electors is killed, while the controller manager renews its own lease", async (whole) => {
  const { client, kubectl, kubeconfig } = whole;
  const namespace = await whole.newNamespace("election");
  await using leases = new SharedIndexInformer(client.resource(Lease));
  const checker = new EventChecker(leases);
  const renewals: string[] = [];
  leases.addEventHandler({
    onUpdate: ({ key, object: { spec } }) => {
      if (key === "kube-system/kube-controller-manager") renewals.push(String(spec?.renewTime));
    },
  });
  void leases.run();
  await leases.waitForCacheSync();

  await using a = new Program("tests/support/leases/elector.ts", [kubeconfig, namespace, "a"]);
  await using b = new Program("tests/support/leases/elector.ts", [kubeconfig, namespace, "b"]);
  const programs = { a, b };
  const holder = (other?: string): Promise<"a" | "b"> =>
    until("a holder", () => {
      const name = leases.lister.get(`${namespace}/election`)?.spec?.holderIdentity;
      return Promise.resolve((name === "a" || name === "b") && name !== other && name);
    });
  const leads = (name: "a" | "b"): Promise<string> =>
    programs[name].until("leading", (line) => line.includes(" leads "));
  for (const program of [a, b]) await program.until("contending", (line) => line.includes(" contends"));
  const first = await holder();
  await leads(first);
  const startedAt = performance.now();
  programs[first].kill("SIGKILL");
  const killedAt = Date.now();
  const second = await holder(first);
  const [ledAt, , transitions] = (await leads(second)).split(" ");
  report(`another leads ${seconds(startedAt)} after the leader was killed`);
  assertEquals(transitions, "1");
  const acts = programs[first].out.lines.filter((line) => line.endsWith(" acts")).map((line) =>
    Number(line.split(" ")[0])
  );
  assert(Math.max(...acts) <= Number(ledAt), "the killed one acted after the other had begun");
  assert(Number(ledAt) > killedAt);

  const before = renewals.length;
  await until("two more renewals by the controller manager", () => Promise.resolve(renewals.length >= before + 2));
  assertEquals([...renewals].sort(), renewals);
  for (const name of ["kube-controller-manager", "kube-scheduler"]) {
    const printed = await kubectl("get", "lease", name, "-n", "kube-system", "-o", "jsonpath={.spec.holderIdentity}");
    assertEquals(leases.lister.get(`kube-system/${name}`)?.spec?.holderIdentity, printed);
  }
  programs[second].kill("SIGTERM");
  assertEquals((await programs[second].ended()).code, 0);
  await until(
    "a lease without a holder",
    () => Promise.resolve(leases.lister.get(`${namespace}/election`)?.spec?.holderIdentity === ""),
  );
  assertEquals(await checker.end(), []);
});
