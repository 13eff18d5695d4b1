import type { ReflectorPhase } from "@kube/informer";

/** Remembers the phases of a reflector. */
export class Phases {
  /** The number of complete lists, in pages or by a stream. */
  completeLists = 0;
  /** The number of waits because of an error; a reconnect, and the first expired version, are none. */
  failures = 0;
  #last: ReflectorPhase["name"] = "stopped";

  /** To be given to a reflector as its `onPhase`. */
  readonly onPhase = (phase: ReflectorPhase): void => {
    if (phase.name === "waiting" && phase.error !== undefined) this.failures++;
    if (phase.name === "watching" && this.#last === "listing") this.completeLists++;
    this.#last = phase.name;
  };
}
