import type { Priority } from '#controller';
import type { OperatorDefinition } from '#definition';
import type { DecisionRecord, Operator } from '#reconcile';
import type { KubeObject } from '#util/kube-object.ts';
import type { PreparedRevision } from './prepare/prepared-revision.ts';

/** Callbacks of a revision's operator. */
export interface RevisionOperatorHooks {
  readonly enqueue: (key: string, priority: Priority) => void;
  readonly onDecisions: (key: string, record: DecisionRecord) => void;
}

export interface RevisionOperatorOptions {
  readonly prepared: PreparedRevision;
  readonly createOperator: (hooks: RevisionOperatorHooks) => Operator;
  /** Called when an event enqueues a resource, also one of another revision. */
  readonly onEnqueue: (revisionOperator: RevisionOperator, key: string, priority: Priority) => void;
}

/** The operator of one revision of a definition, with the failures of its resources. */
export class RevisionOperator {
  readonly prepared: PreparedRevision;
  readonly operator: Operator;
  readonly #onEnqueue: RevisionOperatorOptions['onEnqueue'];
  readonly #failing = new Set<string>();
  /** Resources enqueued before {@link start}. */
  #pendingKeys: Map<string, Priority> | undefined = new Map();

  constructor({ prepared, createOperator, onEnqueue }: RevisionOperatorOptions) {
    this.prepared = prepared;
    this.#onEnqueue = onEnqueue;
    this.operator = createOperator({
      enqueue: (key, priority) => this.#enqueue(key, priority),
      onDecisions: (key, record) => this.#recordDecision(key, record),
    });
  }

  get revision(): string {
    return this.definition.revision;
  }

  /** Whether its resources report their last revision. Resources of a kind of `for` may not. */
  get reportsRevisions(): boolean {
    return this.definition.kind.source === 'crd';
  }

  get definition(): OperatorDefinition {
    return this.prepared.located.definition;
  }

  /** Its resources, by key. */
  *resources(): Iterable<readonly [string, KubeObject]> {
    for (const key of this.operator.keys()) {
      const resource = this.operator.resource(key);
      if (resource !== undefined) yield [key, resource];
    }
  }

  /** Whether the last pass failed with an error that this revision may have caused. */
  isFailing(key: string): boolean {
    return this.#failing.has(key) && this.operator.resource(key) !== undefined;
  }

  /** Enqueues the resources that were enqueued while the operator started. */
  start(): void {
    const early = this.#pendingKeys ?? [];
    this.#pendingKeys = undefined;
    for (const [key, priority] of early) this.#onEnqueue(this, key, priority);
  }

  /** Call when another revision takes the resource. */
  forget(key: string): void {
    this.#failing.delete(key);
    this.operator.forget(key);
  }

  #enqueue(key: string, priority: Priority): void {
    if (this.#pendingKeys === undefined) this.#onEnqueue(this, key, priority);
    else if (this.#pendingKeys.get(key) !== 'normal') this.#pendingKeys.set(key, priority);
  }

  #recordDecision(key: string, record: DecisionRecord): void {
    if (!hasFailure(record)) this.#failing.delete(key);
    else if (this.#failing.add(key).size > this.operator.instances) this.#forgetDeleted();
  }

  /** Removes deleted resources, for which there is no event. */
  #forgetDeleted(): void {
    for (const key of this.#failing) if (!this.isFailing(key)) this.#failing.delete(key);
  }
}

/** Errors that another attempt may resolve and that do not depend on the revision. */
export const transientCodes: ReadonlySet<string> = new Set([
  'already-exists',
  'conflict',
  'uid-mismatch',
  'gone',
  'too-many-requests',
  'unavailable',
  'timeout',
  'connection-lost',
  'aborted',
  'server-error',
  'unauthorized',
  'namespace-terminating',
  'waiting',
  'Waiting',
  'Terminating',
  'Paused',
]);

/** Whether the pass failed with an error that the definition may have caused. */
export function hasFailure({ problemCodes }: DecisionRecord): boolean {
  return problemCodes.some((code) => !transientCodes.has(code));
}
