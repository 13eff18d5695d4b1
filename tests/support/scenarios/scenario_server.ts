import type { Client, KubernetesObject, Resource } from "@kube/informer";

/** A user without rights. */
export interface LimitedUser {
  /** A client with the credentials of the user. */
  readonly client: Client;
  /** Lets them list and watch a resource of the core group in the scenario's namespace. */
  grantReading(plural: string): Promise<void>;
}

/** A server that a scenario plays on, whatever kind of server it is, and what can be done to it. */
export interface ScenarioServer {
  /** The client of an administrator, which creates, patches and deletes objects. */
  readonly client: Client;
  /** The name of a new namespace. */
  readonly namespace: string;
  /** Another new namespace. */
  newNamespace(): Promise<string>;
  /** Serves a custom resource from now on. */
  define(resource: Resource<KubernetesObject>): Promise<void>;
  /** Serves it no longer: its objects are deleted too. */
  undefine(resource: Resource<KubernetesObject>): Promise<void>;
  /** A user without rights. */
  limitedUser(): Promise<LimitedUser>;
}

/** A server of the scenario's own, which it may take down. */
export interface CrashableServer extends ScenarioServer {
  /**
   * Breaks all connections at once, as a crash does; the server is back when this returns, with all that was stored.
   * With `history: "lost"` it no longer has earlier versions, and its version has moved on.
   */
  crash(options?: { readonly history?: "kept" | "lost" }): Promise<void>;
}
