import type { Priority } from '#controller';
import type { KubeObject } from '#util/kube-object.ts';
import type { RevisionOperator } from '../revision-operator.ts';
import { isNewResource } from './new-resource.ts';
import { isStalled } from './pass-result.ts';
import { isEdited, type ResourceSnapshot, revisionOf, snapshotOf } from './resource-snapshot.ts';
import type { RolloutRecord } from './rollout-view.ts';

/** A resource without the newest revision. */
interface Assignment {
  /** Operator of the older revision. Undefined: the revision is unknown, so the resource waits for the newest. */
  readonly operator: RevisionOperator | undefined;
  /** The resource when the newer revision or this process started. */
  readonly snapshot: ResourceSnapshot;
}

/** Tracks which revision each resource has: assigned resources keep an older one or wait; all others have the newest. */
export class Assignments {
  readonly #enqueue: (key: string, priority: Priority) => void;
  readonly #assigned = new Map<string, Assignment>();
  #newest: RevisionOperator;
  #older: readonly RevisionOperator[] = [];

  /** All resources have the revision `newest`. `enqueue`: enqueues a resource whose revision has changed. */
  constructor(newest: RevisionOperator, enqueue: (key: string, priority: Priority) => void) {
    this.#newest = newest;
    this.#enqueue = enqueue;
  }

  get newest(): RevisionOperator {
    return this.#newest;
  }

  /** Newest first. */
  get older(): readonly RevisionOperator[] {
    return this.#older;
  }

  /** Active operators, newest first. */
  get operators(): readonly RevisionOperator[] {
    return [this.#newest, ...this.#older];
  }

  /** Number of resources without the newest revision. */
  get size(): number {
    return this.#assigned.size;
  }

  /** Keys of these resources, those of newer revisions first. */
  get keys(): readonly string[] {
    return [...this.#older, undefined].flatMap((revisionOperator) => this.keysOf(revisionOperator));
  }

  /** Operator of the older revision that the resource keeps. */
  olderFor(key: string): RevisionOperator | undefined {
    return this.#assigned.get(key)?.operator;
  }

  /** Operator whose events for the resource are used. */
  operatorFor(key: string): RevisionOperator {
    return this.olderFor(key) ?? this.#newest;
  }

  /** `undefined`: resources that wait for the newest revision. */
  keysOf(revisionOperator: RevisionOperator | undefined): readonly string[] {
    return [...this.#assigned]
      .filter(([, each]) => each.operator === revisionOperator)
      .map(([key]) => key);
  }

  /**
   * Starts with older revisions, too, newest first, assigned by the revision that resources report. In a resumed roll-out, resources with
   * recorded failures have the newest; those that report neither it nor an older one wait for it.
   */
  start(older: readonly RevisionOperator[], resumed?: RolloutRecord): void {
    const newest = this.#newest;
    this.#older = older;
    const failed = new Set(resumed?.failed);
    const hasFailed = ({ metadata: { uid } }: KubeObject) => uid !== undefined && failed.has(uid);
    for (const revisionOperator of older) {
      for (const [key, resource] of revisionOperator.resources()) {
        if (revisionOf(resource) === revisionOperator.revision && !hasFailed(resource))
          this.#assign(key, revisionOperator, resource);
      }
    }
    if (resumed === undefined) return;
    for (const [key, resource] of newest.resources()) {
      const isBehind =
        revisionOf(resource) !== newest.revision &&
        !hasFailed(resource) &&
        !isNewResource(newest, key, resource);
      if (isBehind && !this.#assigned.has(key)) this.#assign(key, undefined, resource);
    }
  }

  /** Adds a newer revision. Resources keep theirs. */
  switchTo(next: RevisionOperator): void {
    const before = this.newest;
    for (const [key, resource] of before.resources()) {
      // Resources that already report the new revision are not rolled out.
      if (!this.#assigned.has(key) && revisionOf(resource) !== next.revision)
        this.#assign(key, before, resource);
    }
    this.#older = [before, ...this.#older];
    this.#newest = next;
  }

  /**
   * Returns the operator for the next pass. Edited, deleted and waiting resources that are being deleted get the newest revision.
   * Undefined: the resource waits.
   */
  route(key: string): RevisionOperator | undefined {
    const assignment = this.#assigned.get(key);
    if (assignment === undefined) return this.newest;
    const { operator: revisionOperator, snapshot } = assignment;
    const resource = (revisionOperator ?? this.newest).operator.resource(key);
    const isEnding =
      revisionOperator === undefined && resource?.metadata.deletionTimestamp !== undefined;
    const keeps = resource !== undefined && !isEdited(snapshot, resource) && !isEnding;
    if (keeps) return revisionOperator;
    this.#assigned.delete(key);
    return this.newest;
  }

  /** Whether the roll-out still has to reach the resource. */
  isPending(key: string): boolean {
    if (!this.#assigned.has(key)) return false;
    if (this.route(key) !== this.newest) return true;
    this.assignNewest(key);
    return false;
  }

  /** Assigns the newest revision in the course of a roll-out. Returns whether the resource failed with the older one. */
  reach(key: string): boolean {
    const older = this.olderFor(key);
    const resource = (older ?? this.newest).operator.resource(key);
    const hasFailed =
      older?.isFailing(key) === true || (resource !== undefined && isStalled(resource));
    this.assignNewest(key);
    return hasFailed;
  }

  /** Assigns the newest revision. */
  assignNewest(key: string): void {
    this.#assigned.delete(key);
    this.#enqueue(key, 'low');
  }

  /**
   * Removes an older operator.
   * @returns its resources, which now have the newest revision
   */
  drop(revisionOperator: RevisionOperator): readonly string[] {
    const keys = this.keysOf(revisionOperator);
    for (const key of keys) this.assignNewest(key);
    this.#older = this.#older.filter((each) => each !== revisionOperator);
    return keys;
  }

  /**
   * Removes all older operators.
   * @returns the removed ones
   */
  dropOlder(): readonly RevisionOperator[] {
    const older = this.#older;
    this.#older = [];
    return older;
  }

  clear(): void {
    this.#older = [];
    this.#assigned.clear();
  }

  #assign(key: string, revisionOperator: RevisionOperator | undefined, resource: KubeObject): void {
    this.#assigned.set(key, { operator: revisionOperator, snapshot: snapshotOf(resource) });
  }
}
