import type { Client, KubernetesObject, Resource } from "@kube/informer";
import { define, undefine } from "../support/cluster/definitions.ts";
import type { CrashableServer, LimitedUser, ScenarioServer } from "../support/scenarios/scenario_server.ts";
import type { PlaneSetting, Setting } from "./_cluster.ts";
import { grantReading, newAccount } from "./_rights.ts";

/** A real server, as the scenarios see it. */
export class ClusterScenarioServer implements ScenarioServer {
  readonly #setting: Setting;

  /** Plays on the cluster of a test. */
  constructor(setting: Setting) {
    this.#setting = setting;
  }

  get client(): Client {
    return this.#setting.client;
  }

  get namespace(): string {
    return this.#setting.namespace;
  }

  newNamespace(): Promise<string> {
    return this.#setting.newNamespace();
  }

  async define(resource: Resource<KubernetesObject>): Promise<void> {
    await define(this.client, resource);
  }

  async undefine(resource: Resource<KubernetesObject>): Promise<void> {
    await undefine(this.client, resource);
  }

  async limitedUser(): Promise<LimitedUser> {
    const { client, namespace } = this;
    const name = "limited";
    const token = await newAccount(client, namespace, name);
    return {
      client: await this.#setting.connect({ token }),
      grantReading: (plural) => grantReading(client, namespace, plural, { kind: "ServiceAccount", name }),
    };
  }
}

/** A real server that may be killed. */
export class CrashableClusterServer extends ClusterScenarioServer implements CrashableServer {
  readonly #setting: PlaneSetting;

  /** Plays on the cluster of a test. */
  constructor(setting: PlaneSetting) {
    super(setting);
    this.#setting = setting;
  }

  async crash({ history = "kept" }: { readonly history?: "kept" | "lost" } = {}): Promise<void> {
    const { plane } = this.#setting;
    await plane.kill9("apiserver");
    // Moves the version on too, so that the server begins its watch cache behind what anybody has seen.
    if (history === "lost") await plane.compact();
    await plane.ensureRunning();
  }
}
