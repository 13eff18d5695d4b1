import type { KubernetesObject } from "../../api/object.ts";
import type { Show } from "./show.ts";

/** An object as clients may see it, which is read at the first use. */
export class ShownObject {
  readonly #show: Show;
  /** Set until the object was read. */
  #entry: { readonly object: KubernetesObject } | undefined;
  #object: KubernetesObject | undefined;

  /** The object of `entry`, reduced by `show`. */
  constructor(entry: { readonly object: KubernetesObject }, show: Show) {
    this.#entry = entry;
    this.#show = show;
  }

  /** The object; `undefined` if nothing of it may be shown. */
  get object(): KubernetesObject | undefined {
    if (this.#entry !== undefined) {
      this.#object = this.#show(this.#entry);
      this.#entry = undefined;
    }
    return this.#object;
  }
}
