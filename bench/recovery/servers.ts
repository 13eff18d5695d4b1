import { ControlPlane } from "../../tests/cluster/_control_plane.ts";
import { serve } from "../../tests/support/serve.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";

/** The server at the far end of the proxies. */
export interface Target extends AsyncDisposable {
  /** Where it listens. */
  readonly url: string;
  /** Path of a kubeconfig with its certificates; `undefined` where none is needed. */
  readonly kubeconfig?: string;
}

/** The fake over plain HTTP. */
export function fakeTarget(): Promise<Target> {
  return serve(new FakeApiServer());
}

/** kube-apiserver over TLS and HTTP/2. @throws {Error} when `KUBEBUILDER_ASSETS` names no folder with its programs. */
export async function clusterTarget(): Promise<Target> {
  const assets = Deno.env.get("KUBEBUILDER_ASSETS");
  if (assets !== undefined) return await ControlPlane.start(assets);
  throw new Error("Cannot start a cluster: set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver");
}
