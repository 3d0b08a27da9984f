import type { Priority } from '../../controller/index.ts';
import type { LocatedDefinition, RolloutOptions } from '../../definition/index.ts';
import {
  type DecisionRecord,
  type DeletionGuard,
  DeletionHold,
  type Operator,
} from '../../reconcile/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { failingIn } from './failing.ts';

/** What an operator of an edition calls. */
export interface EditionHooks {
  readonly enqueue: (key: string, priority: Priority) => void;
  readonly onDecisions: (key: string, record: DecisionRecord) => void;
  readonly deletionGuard: DeletionGuard;
}

export interface EditionOptions {
  readonly located: LocatedDefinition;
  readonly createOperator: (hooks: EditionHooks) => Operator;
  /** An event has woken a resource of this edition, or of another one. */
  readonly onWake: (edition: Edition, key: string, priority: Priority) => void;
}

/** One revision of a definition at work. */
export class Edition {
  readonly located: LocatedDefinition;
  readonly operator: Operator;
  readonly #onWake: EditionOptions['onWake'];
  readonly #failing = new Set<string>();
  #guard: DeletionGuard | undefined;
  #kept: DeletionHold | undefined;
  /** Those that were woken before any pass could be this edition's. */
  #early: Map<string, Priority> | undefined = new Map();

  constructor({ located, createOperator, onWake }: EditionOptions) {
    this.located = located;
    this.#onWake = onWake;
    this.operator = createOperator({
      enqueue: (key, priority) => this.#wake(key, priority),
      onDecisions: (key, record) => this.#note(key, record),
      deletionGuard: {
        whyNot: (key, objects) => this.#guard?.whyNot(key, objects),
        settled: (key) => this.#guard?.settled(key),
      },
    });
  }

  get revision(): string {
    return this.located.definition.revision;
  }

  get settings(): RolloutOptions {
    return this.located.definition.controller.rollout;
  }

  /** Its resources by their keys. */
  *resources(): Iterable<readonly [string, KubeObject]> {
    for (const key of this.operator.keys()) {
      const resource = this.operator.resource(key);
      if (resource !== undefined) yield [key, resource];
    }
  }

  /** Has the last pass of the resource found something that this revision may be the reason of? */
  isFailing(key: string): boolean {
    return this.#failing.has(key) && this.operator.resource(key) !== undefined;
  }

  /** From now on this one is asked before anything goes that the revision does not want. */
  guard(guard: DeletionGuard): void {
    this.#guard = guard;
  }

  /**
   * Passes of these resources are this one's only because they report it. What they have may be newer already, so what such passes
   * would take away counts, too: beyond `maxDeletions` it stays until the resource is reached, or that is approved.
   */
  guardKept(keys: readonly string[], onLetGo: (key: string) => void): void {
    const { maxDeletions } = this.settings;
    this.#kept = new DeletionHold({ revision: this.revision, maxDeletions, keys, onLetGo });
    // Nobody looks ahead: passes count what they come upon.
    this.#kept.decide();
    this.#guard = this.#kept;
  }

  get kept(): DeletionHold | undefined {
    return this.#kept;
  }

  /** A user has approved the deletions of a revision, or takes that back (undefined). */
  approve(revision: string | undefined): void {
    this.#kept?.approve(revision);
  }

  /** Passes may be this edition's from now on: wakes whoever was woken while it began to watch. */
  open(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const [key, priority] of early) this.#onWake(this, key, priority);
  }

  /** The resource is another edition's now. */
  forget(key: string): void {
    this.#failing.delete(key);
    this.#kept?.forget(key);
    this.operator.forget(key);
  }

  #wake(key: string, priority: Priority): void {
    if (this.#early === undefined) this.#onWake(this, key, priority);
    else if (this.#early.get(key) !== 'normal') this.#early.set(key, priority);
  }

  #note(key: string, record: DecisionRecord): void {
    if (!failingIn(record)) this.#failing.delete(key);
    else if (this.#failing.add(key).size > this.operator.instances) this.#forgetGone();
  }

  /** Nobody says when a resource is gone, and more cannot fail than there are. */
  #forgetGone(): void {
    for (const key of this.#failing) if (!this.isFailing(key)) this.#failing.delete(key);
  }
}
