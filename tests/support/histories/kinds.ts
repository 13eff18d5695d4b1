import { upgrade } from "@kube/informer/testing/chaos";
import { assert } from "@std/assert";
import { siteUpgrade } from "../chaos/upgrades.ts";
import { ElectionHistory } from "../leases/elections.ts";
import { GroupHistory } from "../leases/groups.ts";
import type { LeaseHistory, Participant } from "../leases/history.ts";
import { playLogs } from "../logs/play.ts";
import { playResumedLogs } from "../logs/resume.ts";
import { playPosition, positionScriptOf, shrunkPosition } from "./checkpoints.ts";
import { playClusters } from "./clusters.ts";
import { playDerivations } from "./derivations.ts";
import { playRelayed } from "./kubernetes_relay.ts";
import { play, shrunk } from "./play.ts";
import { playReplicas } from "./replicas.ts";
import { playRescopes } from "./rescopes.ts";
import { printed, scriptOf } from "./script.ts";
import { playUsers } from "./users.ts";

/** Random histories of one kind. */
export interface HistoryKind {
  /** The number of seeds, from 1 on, that `deno task test` plays; `deno task histories` plays more. */
  readonly seeds: number;
  /** The number of seeds of a test. */
  readonly group: number;
  /** A test fails where less than this happens in a history, on average: it would show little. */
  readonly least: number;
  /**
   * Plays the history of a seed, and returns how much has happened: events, reconnections, terms.
   *
   * @throws {Error} that names the broken promise, with the steps that are needed for it where those can be found.
   */
  play(seed: number): Promise<number>;
}

/**
 * All kinds, by the names that `deno task histories --of` takes. The seeds of informers and positions find each mutant
 * of `deno task mutants`.
 */
export const KINDS = {
  informers: { seeds: 150, group: 50, least: 80, play: playInformers },
  positions: { seeds: 150, group: 50, least: 15, play: playPositions },
  derivations: { seeds: 120, group: 60, least: 30, play: playDerivations },
  clusters: { seeds: 50, group: 25, least: 40, play: playClusters },
  replicas: { seeds: 25, group: 25, least: 4, play: async (seed) => (await playReplicas(seed)).resumed },
  relays: { seeds: 25, group: 25, least: 15, play: playRelayed },
  rescope: { seeds: 60, group: 30, least: 20, play: playRescopes },
  logs: { seeds: 4, group: 4, least: 100, play: playLogLines },
  places: { seeds: 6, group: 6, least: 20, play: playPlaces },
  users: { seeds: 2, group: 1, least: 20, play: playUsers },
  electors: { seeds: 250, group: 250, least: 3, play: (seed) => playLeases(new ElectionHistory(seed)) },
  upgrades: { seeds: 40, group: 20, least: 50, play: playUpgrade },
  groups: { seeds: 50, group: 25, least: 150, play: (seed) => playLeases(new GroupHistory(seed)) },
} as const satisfies Readonly<Record<string, HistoryKind>>;

/** Some seeds of a kind. */
export interface HistoryGroup {
  readonly from: number;
  /** The last seed. */
  readonly to: number;
  /** Plays them, and throws an error that names the first seed that fails. */
  play(): Promise<void>;
}

/** Divides the seeds that `deno task test` plays, so that each test has few of them. */
export function groupsOf({ seeds, group, least, play }: HistoryKind): HistoryGroup[] {
  return Array.from({ length: seeds / group }, (_, index) => {
    const [from, to] = [1 + index * group, (index + 1) * group];
    return {
      from,
      to,
      async play(): Promise<void> {
        let happened = 0;
        for (let seed = from; seed <= to; seed++) {
          try {
            happened += await play(seed);
          } catch (cause) {
            throw new Error(`seed ${seed}: ${(cause as Error).message}`, { cause });
          }
        }
        assert(happened >= least * group, `too little happens: ${happened} in ${group} histories`);
      },
    };
  });
}

async function playInformers(seed: number): Promise<number> {
  try {
    return (await play(scriptOf(seed))).events;
  } catch {
    const { script, failure } = await shrunk(scriptOf(seed));
    throw new Error(`${failure.message}\n${printed(script)}`, { cause: failure });
  }
}

async function playPositions(seed: number): Promise<number> {
  try {
    return (await playPosition(positionScriptOf(seed))).events;
  } catch (cause) {
    throw new Error(await shrunkPosition(positionScriptOf(seed)), { cause });
  }
}

async function playLogLines(seed: number): Promise<number> {
  const { cuts, gaps } = await playLogs(seed);
  assert(gaps > 0, "no gap");
  return cuts;
}

async function playPlaces(seed: number): Promise<number> {
  const { kills, gaps } = await playResumedLogs(seed);
  assert(gaps > 0, "no gap");
  return kills;
}

async function playUpgrade(seed: number): Promise<number> {
  return (await upgrade({ ...siteUpgrade(), firstSeed: seed, seeds: 1 })).writes;
}

/** Plays the history of an elector or a shard group, and returns how much has happened. */
export async function playLeases(history: LeaseHistory<Participant>): Promise<number> {
  const [problem] = await history.play();
  if (problem !== undefined) throw new Error(`${problem}\n${history.log.join("\n")}`);
  return history.acts;
}
