import type { AccessRight, RightsWatcher } from '#kube/roles.ts';
import type { Clock } from '#util/clock.ts';
import type { Problem } from '../failure.ts';
import { MissingRights } from './missing-rights.ts';
import { type OnRepeat, UnseenCauses } from './unseen-causes.ts';

interface ObstaclesOptions {
  readonly cluster: RightsWatcher;
  readonly clock: Clock;
  /** Called for a resource whose requests may succeed now. `shared`: many others are called for as well. */
  readonly onEnded: OnRepeat;
}

/**
 * What requests of a definition's resources fail for although no watch shows its end: missing rights, and causes that cannot be reviewed. When one
 * ends, all resources that failed for it repeat their requests.
 */
export class Obstacles {
  readonly #rights: MissingRights;
  readonly #causes: UnseenCauses;

  constructor({ cluster, clock, onEnded }: ObstaclesOptions) {
    this.#rights = new MissingRights(cluster, onEnded);
    this.#causes = new UnseenCauses(clock, onEnded);
  }

  get missingRights(): readonly AccessRight[] {
    return this.#rights.all;
  }

  /** Replaces what the requests of a resource fail for, after they were sent. */
  retain(key: string, problems: readonly Problem[]): void {
    this.#rights.retain(
      key,
      problems.flatMap(({ right }) => right ?? []),
    );
    this.#causes.retain(
      key,
      problems.flatMap(({ cause }) => cause ?? []),
    );
  }

  /** The number of resources that fail for the same right or cause. */
  sharersOf({ right, cause }: Problem): number {
    return Math.max(
      right === undefined ? 0 : this.#rights.sharersOf(right),
      cause === undefined ? 0 : this.#causes.sharersOf(cause),
    );
  }

  /** Removes a resource whose requests were not repeated. */
  forget(key: string): void {
    this.#rights.retain(key, []);
    this.#causes.forget(key);
  }

  stop(): void {
    this.#rights.stop();
    this.#causes.stop();
  }
}
