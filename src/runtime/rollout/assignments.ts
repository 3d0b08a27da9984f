import type { Priority } from '../../controller/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Edition } from './edition.ts';
import { isTouched, type Mark, markOf, revisionOf } from './marks.ts';

/** A resource that keeps an older revision. */
interface Assignment {
  readonly edition: Edition;
  /** How it was when a newer revision came. */
  readonly mark: Mark;
}

/**
 * Which revision each resource has: those that are assigned keep an older one, all others have the newest. As long as another process may
 * be at work, what they report is what they have.
 */
export class Assignments {
  readonly #enqueue: (key: string, priority: Priority) => void;
  readonly #assigned = new Map<string, Assignment>();
  #newest: Edition | undefined;
  #older: readonly Edition[] = [];

  /** `enqueue`: runs a resource that has another revision now. */
  constructor(enqueue: (key: string, priority: Priority) => void) {
    this.#enqueue = enqueue;
  }

  /** @throws Error before {@link begin} */
  get newest(): Edition {
    if (this.#newest === undefined) throw new Error('Expected a revision at work');
    return this.#newest;
  }

  /** Newest first. */
  get older(): readonly Edition[] {
    return this.#older;
  }

  /** What is at work, the newest first. */
  get editions(): readonly Edition[] {
    return this.#newest === undefined ? [] : [this.#newest, ...this.#older];
  }

  /** How many resources keep an older revision. */
  get size(): number {
    return this.#assigned.size;
  }

  /** The older revision that the resource keeps. */
  olderOf(key: string): Edition | undefined {
    return this.#assigned.get(key)?.edition;
  }

  /** Undefined: nothing is at work. */
  editionOf(key: string): Edition | undefined {
    return this.olderOf(key) ?? this.#newest;
  }

  keysOf(edition: Edition): readonly string[] {
    return [...this.#assigned].filter(([, each]) => each.edition === edition).map(([key]) => key);
  }

  /** Begins with a revision, and with older ones (newest first) that resources have when they report them. */
  begin(newest: Edition, older: readonly Edition[]): void {
    this.#newest = newest;
    this.#older = older;
    this.#assignByReports();
  }

  /** A newer revision is at work. Resources keep the one that they have. */
  switchTo(next: Edition): void {
    const before = this.newest;
    for (const [key, resource] of before.resources()) {
      // What has the revision already, from before the last change, needs no pace.
      if (!this.#assigned.has(key) && revisionOf(resource) !== next.revision)
        this.#assign(key, before, resource);
    }
    this.#older = [before, ...this.#older];
    this.#newest = next;
  }

  /** A newer revision is at work. Only those keep an older one that report it: another process may have reached the others. */
  switchByReports(next: Edition): void {
    this.begin(next, [this.newest, ...this.#older]);
  }

  /** Looks again at what the resource reports, and at whether it is still the one that was assigned. */
  followReport(key: string): void {
    const known = this.#assigned.get(key);
    const resource = known?.edition.operator.resource(key);
    const isKept = known && resource && !isTouched(known.mark, resource);
    const edition = isKept ? this.#reportedOlder(resource) : undefined;
    if (edition === undefined || resource === undefined) this.takeOver(key, 'low');
    else if (edition !== known?.edition) this.#assign(key, edition, resource);
  }

  followReports(): void {
    for (const key of [...this.#assigned.keys()]) this.followReport(key);
  }

  /** Whose pass is it? One that has been touched, or is gone, is the newest revision's from now on. */
  choose(key: string): Edition {
    const assignment = this.#assigned.get(key);
    if (assignment === undefined) return this.newest;
    const { edition, mark } = assignment;
    const resource = edition.operator.resource(key);
    const keeps =
      resource !== undefined &&
      !isTouched(mark, resource) &&
      revisionOf(resource) !== this.newest.revision;
    if (keeps) return edition;
    this.#assigned.delete(key);
    return this.newest;
  }

  /** The resource has the newest revision from now on. */
  takeOver(key: string, priority: Priority): void {
    this.#assigned.delete(key);
    this.#enqueue(key, priority);
  }

  /** @returns the resources of it, which have the newest revision from now on, as if they had been edited. */
  giveUp(edition: Edition): readonly string[] {
    const keys = this.keysOf(edition);
    for (const key of keys) this.takeOver(key, 'normal');
    this.#older = this.#older.filter((each) => each !== edition);
    return keys;
  }

  /** Only the newest revision is at work from now on. @returns those that were beside it. */
  endOlder(): readonly Edition[] {
    const older = this.#older;
    this.#older = [];
    return older;
  }

  clear(): void {
    this.#older = [];
    this.#assigned.clear();
  }

  #assign(key: string, edition: Edition, resource: KubeObject): void {
    this.#assigned.set(key, { edition, mark: markOf(resource) });
  }

  /** Assigns who reports an older revision to it. */
  #assignByReports(): void {
    const known = new Set(this.#assigned.keys());
    for (const key of known) this.followReport(key);
    for (const edition of this.#older) {
      for (const [key, resource] of edition.resources()) {
        if (!known.has(key) && this.#reportedOlder(resource) === edition)
          this.#assign(key, edition, resource);
      }
    }
  }

  #reportedOlder(resource: KubeObject): Edition | undefined {
    const revision = revisionOf(resource);
    if (revision === this.#newest?.revision) return undefined;
    return this.#older.find((edition) => edition.revision === revision);
  }
}
