import { CATEGORIES, type Category, compared, type Difference, GOALS } from "./compare.ts";
import type { Exchange } from "./play.ts";
import { type Part, partOf, signatureOf } from "./signature.ts";
import type { Case } from "./step.ts";

/** The first case that shows a difference. */
export interface Example {
  readonly case: Case;
  readonly exchange: Exchange;
  readonly difference: Difference;
}

/** Differences that have one signature. */
export interface Group {
  readonly signature: string;
  readonly category: Category;
  readonly part: Part;
  /** The reason for which it is accepted; it counts nevertheless, unless it is decided. */
  readonly accepted: string | undefined;
  /** The number of cases by kind. */
  readonly kinds: Map<string, number>;
  cases: number;
  readonly example: Example;
}

/** The number of cases, or requests, that were compared in a category, and of those that are equal. */
export interface Tally {
  compared: number;
  equal: number;
}

/** An accepted difference: a word that its signatures contain, and the reason. */
export interface Accepted {
  readonly signature: string;
  readonly reason: string;
  /** True if the fake leaves something out on purpose. Then the difference does not count. */
  readonly isDecided?: boolean;
  /** The only kind for which it is decided. @default {all kinds} */
  readonly kind?: string;
}

/** Adds up the comparisons of cases. */
export class Summary {
  readonly cases: Record<Category, Tally> = tallies();
  readonly requests: Record<Category, Tally> = tallies();
  /** By kind. */
  readonly kinds = new Map<string, Record<Category, Tally>>();
  /** Requests by method, patches by type. */
  readonly sent = new Map<string, number>();
  readonly #groups = new Map<string, Group>();
  readonly #accepted: readonly Accepted[];

  constructor(accepted: readonly Accepted[] = []) {
    this.#accepted = accepted;
  }

  /** Adds a case that was played. */
  add(played: Case, exchanges: readonly Exchange[]): void {
    const seen = new Set<Category>();
    const differing = new Set<Category>();
    const signatures = new Set<string>();
    for (const exchange of exchanges) {
      const { categories, differences } = compared(exchange);
      for (const category of categories) {
        seen.add(category);
        const isEqual = !differences.some((it) =>
          it.category === category && !this.#isDecided(signatureOf(it, exchange), played)
        );
        count(this.requests[category], isEqual);
        if (!isEqual) differing.add(category);
      }
      for (const difference of differences) {
        const signature = signatureOf(difference, exchange);
        const isNew = !signatures.has(signature);
        signatures.add(signature);
        this.#group(signature, { case: played, exchange, difference }, isNew);
      }
    }
    for (const { method, patch } of played.steps) {
      this.sent.set(patch ?? method, (this.sent.get(patch ?? method) ?? 0) + 1);
    }
    const kind = this.kinds.get(played.kind) ?? tallies();
    this.kinds.set(played.kind, kind);
    for (const category of seen) {
      for (const tally of [this.cases[category], kind[category]]) count(tally, !differing.has(category));
    }
  }

  #isDecided(signature: string, played: Case): boolean {
    return this.#accepted.some(({ isDecided = false, kind = played.kind, ...it }) =>
      isDecided && kind === played.kind && signature.includes(it.signature)
    );
  }

  /** The share of equal cases, from 0 to 1. */
  share(category: Category): number {
    const { compared, equal } = this.cases[category];
    return compared === 0 ? 1 : equal / compared;
  }

  /** Returns true if each share that counts is at least `goal`. */
  reaches(goal: number): boolean {
    return GOALS.every((category) => this.share(category) >= goal);
  }

  /** Differences by signature, the most frequent first. */
  groups(): readonly Group[] {
    return [...this.#groups.values()].sort((a, b) => b.cases - a.cases);
  }

  #group(signature: string, example: Example, isNew: boolean): void {
    let group = this.#groups.get(signature);
    if (group === undefined) {
      group = {
        signature,
        category: example.difference.category,
        part: partOf(example.difference, example.exchange),
        accepted: this.#accepted.find((accepted) => signature.includes(accepted.signature))?.reason,
        kinds: new Map(),
        cases: 0,
        example,
      };
      this.#groups.set(signature, group);
    }
    if (!isNew) return;
    group.cases++;
    const { kind } = example.case;
    group.kinds.set(kind, (group.kinds.get(kind) ?? 0) + 1);
  }
}

function tallies(): Record<Category, Tally> {
  return Object.fromEntries(CATEGORIES.map((category) => [category, { compared: 0, equal: 0 }])) as Record<
    Category,
    Tally
  >;
}

function count(tally: Tally, isEqual: boolean): void {
  tally.compared++;
  if (isEqual) tally.equal++;
}
