/**
 * Our informer as `ours.ts` has it, over the transport of `connect()`: on Node, whose `fetch` takes no certificates.
 */
import { httpTransport } from "@kube/informer/connect";

Object.assign(globalThis, { benchOptions: { transport: httpTransport() } });
await import("./ours.ts");
