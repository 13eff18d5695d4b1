/**
 * Reports an error to the runtime without stopping the caller, as the web does for errors of event listeners: by `reportError`
 * where there is one, otherwise by throwing it in a microtask (Node emits `uncaughtException`).
 */
export function reportUncaught(error: unknown): void {
  if (typeof globalThis.reportError === "function") globalThis.reportError(error);
  else {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Calls an observer such as `onError`; an error that it throws is reported as uncaught, and changes nothing else. */
export function callObserver(call: () => void): void {
  try {
    call();
  } catch (error) {
    reportUncaught(error);
  }
}
