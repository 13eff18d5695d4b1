import type { InformerStatus } from "../../informer/status.ts";
import type { StateData } from "./relay_events.ts";

/** Returns the state of an informer as relays report it. */
export function stateOf({ state, notLiveSince }: InformerStatus): StateData {
  return { state, ...(notLiveSince === undefined ? {} : { notLiveSince: notLiveSince.toISOString() }) };
}
