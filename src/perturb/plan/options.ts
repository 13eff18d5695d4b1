import type { Client } from "../../client/client.ts";
import type { FakeApiServer } from "../../testing/fake_api_server.ts";
import type { Random } from "../../testing/objects/random.ts";
import type { ResourceDefinition } from "../../testing/storage/definition.ts";
import type { Fault } from "./perturb_step.ts";

/** One process of a controller under test. */
export interface ProcessContext<World> {
  /** The client of this process. After a crash its requests reach no server, and are never answered. */
  readonly client: Client;
  /** Aborts when the process is to stop, and when it has crashed. */
  readonly signal: AbortSignal;
  /** The name of the process, for leader election: `"a-1"`; after a restart `"a-2"`; a second process is `"b-1"`. */
  readonly identity: string;
  /** The systems outside of the cluster: the value of {@linkcode PerturbOptions.world}. They survive crashes. */
  readonly world: World;
}

/**
 * Runs a controller until `signal` aborts, then returns. A rejection, or a return before that, ends the process as in a pod:
 * it is started again after a second.
 */
export type ControllerFunction<World> = (process: ProcessContext<World>) => Promise<void>;

/**
 * A change that a user, or another controller, makes: directly on the server, in one turn. It chooses with `random` alone, and
 * may return a description of what it did.
 */
export type UserChange<World> = (server: FakeApiServer, random: Random, world: World) => string | void;

/**
 * A statement about server and world. It holds when nothing or `true` is returned; it is violated by `false`, by a text that says
 * what is wrong, and by an error.
 */
export type Statement<World> = (server: FakeApiServer, world: World) => boolean | string | void;

/** Options for `perturb()`. */
export interface PerturbOptions<World = undefined> {
  /** The controller. It is started for each process. */
  readonly controller: ControllerFunction<World>;
  /** The changes that users make, by name. A seed makes some of them, in any order, and any number of times. */
  readonly changes: Readonly<Record<string, UserChange<World>>>;
  /**
   * The state that the controller must reach when changes and faults have ended, and keep. It must also hold after all objects
   * that the controller has not created were deleted.
   */
  readonly converges: Statement<World>;
  /** Statements that hold at every moment, by name: they are checked after each step and each write. @default {none} */
  readonly invariants?: Readonly<Record<string, Statement<World>>>;
  /** Makes the objects that exist at first. @default {none} */
  readonly setup?: UserChange<World>;
  /** Creates the systems outside of the cluster, for each seed. @default {undefined} */
  readonly world?: () => World;
  /**
   * Does the work of other controllers of the cluster, such as setting the phase of pods; called as time passes. The garbage
   * collector, and the removal of pods whose grace period is over, are there already. @default {nothing}
   */
  readonly environment?: Statement<World>;
  /**
   * Custom resources of the server. Without them, one that `setup` or a change creates is served from then on, and 404 is
   * answered before. @default {none}
   */
  readonly resources?: readonly ResourceDefinition[];
  /** The number of seeds. @default {100} */
  readonly seeds?: number;
  /** The first seed. @default {1} */
  readonly from?: number;
  /** The most steps of a seed; it has at least a third of them. @default {30} */
  readonly steps?: number;
  /**
   * True for a controller that elects a leader: the fault `"loseRenewals"` occurs, too. Other faults of requests spare those
   * about Leases. @default {false}
   */
  readonly elects?: boolean;
  /** Faults that do not occur. @default {none} */
  readonly without?: readonly Fault[];
  /**
   * The most writes for each change, start and fault, on average over a seed. Writes of Leases and Events do not count.
   * @default {10}
   */
  readonly writesPerChange?: number;
  /** The most writes in `quietMs` while nothing changes. Writes of Leases and Events do not count. @default {0} */
  readonly quietWrites?: number;
  /** The time in which nothing may happen after the controller has converged, in milliseconds. @default {120_000} */
  readonly quietMs?: number;
  /** The time that the controller has to converge after changes and faults have ended, in milliseconds. @default {600_000} */
  readonly settleMs?: number;
  /**
   * The plural names of resources whose objects may be left when all objects that the controller has not created were deleted.
   * @default {none, besides leases and events}
   */
  readonly keeps?: readonly string[];
  /** The number of failing seeds after which it ends. @default {1} */
  readonly failures?: number;
  /** Called after each seed. */
  readonly onSeed?: (seed: number) => void;
}
