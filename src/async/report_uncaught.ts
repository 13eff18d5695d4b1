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

/** Calls an observer such as `onError`; what that throws is reported as uncaught, and changes nothing else. */
export function callObserver(call: () => void): void {
  try {
    call();
  } catch (error) {
    reportUncaught(error);
  }
}
