import type { KubernetesObject } from "../api/object.ts";
import type { DecodeOptions } from "../api/options.ts";
import type { ReflectorOptions } from "../reflector/options.ts";
import type { Indexers } from "../store/index.ts";

/** How an informer keeps what it keeps; a factory's are the defaults of its informers. */
export interface CacheOptions extends DecodeOptions {
  /** `"eager"` parses as objects arrive, for who reads everything anyway. @default {"lazy"} */
  readonly parse?: "lazy" | "eager";
  /** Freezes objects when they are first read, so that who writes to the cache gets a `TypeError`. @default {false} */
  readonly freeze?: boolean;
  /** The default period of handlers that name none, in milliseconds; 0 or `Infinity` is never. @default {0} */
  readonly resyncMs?: number;
  /** How the server is followed. */
  readonly reflector?: ReflectorOptions;
  /** How long stopping waits for handlers' calls in progress, in milliseconds; `Infinity` is until they return. @default {10_000} */
  readonly graceMs?: number;
}

/** How an informer keeps, files and changes what it keeps. */
export interface SharedIndexInformerOptions<T extends KubernetesObject, Name extends string = never>
  extends CacheOptions {
  /**
   * Ways to file objects, by name. An index function reads, and so parses, every object as it arrives; an object for which
   * it throws is filed under nothing, and the error is reported.
   */
  readonly indexers?: Indexers<T, Name>;
  /**
   * Changes each object once, as it arrives and before anybody sees it; it may change its argument. An object for which it
   * throws is quarantined: it is in the cache, and reading it throws. It may give an object another name or namespace, and
   * must then give it the same in all its states, as what it is deleted by is transformed too.
   */
  readonly transform?: (object: T) => T;
  /** Told of everything that goes wrong and does not end a wait: failed lists and watches, handlers, objects. */
  readonly onError?: (error: unknown) => void;
}

/** What counts where neither an informer's options nor its factory's say anything. */
export const CACHE_DEFAULTS: Required<Omit<CacheOptions, "reflector">> = {
  managedFields: "drop",
  parse: "lazy",
  freeze: false,
  resyncMs: 0,
  graceMs: 10_000,
};
