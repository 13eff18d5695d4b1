/**
 * Hands an error that nobody may be stopped by to the runtime, as the web does with what an event listener throws:
 * `reportError` where there is one, else thrown in a microtask of its own (Node tells `uncaughtException` of it).
 */
export function reportUncaught(error: unknown): void {
  if (typeof globalThis.reportError === "function") globalThis.reportError(error);
  else {
    queueMicrotask(() => {
      throw error;
    });
  }
}
