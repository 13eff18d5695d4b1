import { FakeTime } from "@kube/informer/testing";

export { FakeTime };

/** Fake time that calls take, by the clock that the queue of derivations reads: no timer fires for that. */
export class WorkTime extends FakeTime {
  #ms = 0;

  constructor() {
    super();
    const now = performance.now;
    performance.now = () => now() + this.#ms;
  }

  work(ms: number): void {
    this.#ms += ms;
  }
}
