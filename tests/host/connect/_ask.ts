/**
 * Connects as its arguments say (a kubeconfig, or nothing for what there is), asks for `/version` and prints what comes
 * back, or the error's message. A second argument: `permissions` prints flags only, `leave` leaves the client as it is.
 *
 * @module
 */
import { connect, requiredPermissions } from "../../../src/host/connect/mod.ts";

const [kubeconfig = "", mode = "ask"] = Deno.args;
const options = kubeconfig === "" ? {} : { kubeconfig };
try {
  if (mode === "permissions") console.log((await requiredPermissions(options)).join("\n"));
  else {
    const client = await connect(options);
    using _client = mode === "leave" ? undefined : client;
    const { path } = await (await client.fetch("/version")).json();
    console.log(`ok ${path}`);
  }
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
}
