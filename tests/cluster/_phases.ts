import type { ReflectorPhase } from "@kube/informer";

/** Remembers the phases of a reflector. */
export class Phases {
  /** How often the whole collection was taken, by pages or by a streaming list. */
  completeLists = 0;
  /** How often it had to wait after a failure. */
  failures = 0;
  #last: ReflectorPhase["name"] = "stopped";

  /** To be given to a reflector as its `onPhase`. */
  readonly onPhase = (phase: ReflectorPhase): void => {
    if (phase.name === "waiting") this.failures++;
    if (phase.name === "watching" && this.#last === "listing") this.completeLists++;
    this.#last = phase.name;
  };
}
