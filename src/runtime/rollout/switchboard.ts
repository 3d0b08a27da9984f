import type { Outcome, Priority, Reconciler, Turn } from '../../controller/index.ts';
import type { LocatedDefinition } from '../../definition/index.ts';
import type { Clock } from '../../util/clock.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { RolloutView } from '../definition-view.ts';
import { Assignments } from './assignments.ts';
import { Edition, type EditionOptions } from './edition.ts';
import { isStalled, verdictOf } from './failing.ts';
import { holdsDeletions, revisionOf } from './marks.ts';
import type { Verdict } from './pace.ts';
import { Rollout, type RolloutNews } from './rollout.ts';

/** So many older revisions are at work at once; a further change gives the one up that fewest resources have. */
const mostOlder = 2;

export interface SwitchboardOptions {
  readonly clock: Clock;
  /** The definition's work queue. */
  readonly enqueue: (key: string, priority: Priority) => void;
  /** Resolves when all passes that run now have ended. */
  readonly passesEnded: () => Promise<void>;
  /** May passes begin, as far as this process and what it knows are concerned? Nothing is previewed or reached before. */
  readonly mayWork: () => boolean;
  readonly onNews: (news: RolloutNews, view: RolloutView) => void;
  /** The view may have changed. */
  readonly onChange: () => void;
  /** A preview has thrown what nobody foresaw. */
  readonly onBug: (error: unknown) => void;
  /** All resources have the newest revision, and nothing of an older one is at work any more. */
  readonly onSettled: () => void;
}

/**
 * Stands in front of the operators of one definition and decides per resource whose pass it is: with the newest revision those that are
 * new, edited or reached by the roll-out; with the one they had all others. At rest there is one, and nothing to decide.
 */
export class Switchboard implements Reconciler {
  readonly #options: SwitchboardOptions;
  readonly #assignments: Assignments;
  /** On their way out: a pass of theirs may still run. */
  readonly #leaving = new Set<Edition>();
  /** The last one, also when it is over: what it holds back stays held. */
  #rollout: Rollout | undefined;
  /** Does it matter how passes end? */
  #isRolling = false;
  /** Until then another process may be at work, and only what resources report tells what they have. */
  #hasWorked = false;
  /** Those that the last change may concern, besides those that keep an older revision. */
  #changed: readonly string[] = [];
  #approved: string | undefined;

  constructor(options: SwitchboardOptions) {
    this.#options = options;
    this.#assignments = new Assignments(options.enqueue);
  }

  /** @throws Error before {@link begin} */
  get newest(): Edition {
    return this.#assignments.newest;
  }

  /** What is at work, the newest first. */
  get editions(): readonly Edition[] {
    return this.#assignments.editions;
  }

  /** Undefined: every resource has the newest revision, and nothing is held back. */
  get view(): RolloutView | undefined {
    // Where others are at work, and nothing is seen to have an older one, there is nothing to tell.
    if (!this.#hasWorked && this.#assignments.size === 0) return undefined;
    return this.#rollout?.view;
  }

  /** An operator for a revision; it is not asked for passes before {@link begin} or {@link switchTo}. */
  createEdition(
    located: LocatedDefinition,
    createOperator: EditionOptions['createOperator'],
  ): Edition {
    const onWake = (edition: Edition, key: string, priority: Priority) => {
      if (!this.#hasWorked) this.#follow(key);
      if (this.#assignments.editionOf(key) === edition) this.#options.enqueue(key, priority);
    };
    return new Edition({ located, createOperator, onWake });
  }

  /** Begins with a revision, and with older ones (newest first) that resources may still have by what they report. All are started. */
  begin(newest: Edition, older: readonly Edition[]): void {
    this.#assignments.begin(newest, older);
    this.#guardKept();
    // In the middle of a roll-out all are asked about: one that has the revision may not have come to rest with it.
    const resources = Array.from(newest.resources()).filter(
      ([, resource]) => revisionOf(resource) !== undefined,
    );
    const changed = resources.filter(([, resource]) => isBehind(resource, newest.revision));
    const keys = [...changed, ...(changed.length === 0 ? [] : resources)].map(([key]) => key);
    this.#roll([...new Set(keys)]);
    this.proceed();
  }

  /**
   * Goes over to a newer revision, whose operator is started: every resource keeps what it has until it is reached. Before any work is
   * done here, only those keep an older one that report it: another process may have reached the others.
   */
  switchTo(next: Edition): void {
    if (this.#hasWorked) {
      this.#assignments.switchTo(next);
      this.#roll();
    } else {
      this.#assignments.switchByReports(next);
      this.#guardKept();
      const behind = Array.from(next.resources()).filter(([, each]) =>
        isBehind(each, next.revision),
      );
      this.#roll(behind.map(([key]) => key));
    }
    this.proceed();
  }

  /** Something that held the work back is over, maybe the last thing. */
  proceed(): void {
    if (!this.#options.mayWork()) return;
    if (!this.#hasWorked) {
      this.#assignments.followReports();
      this.#guardKept();
      if (this.#assignments.size === 0) this.#rollWhatIsLeft();
      this.#hasWorked = true;
    }
    this.#rollout?.begin();
  }

  /** A user has approved the deletions of a revision, or takes that back (undefined). */
  approve(revision: string | undefined): void {
    this.#approved = revision;
    this.#rollout?.approve(revision);
    for (const edition of this.#assignments.older) edition.approve(revision);
  }

  reconcile(key: string, turn: Turn): Promise<Outcome> {
    return this.#isRolling
      ? this.#reconcileWhileRolling(key, turn)
      : this.newest.operator.reconcile(key, turn);
  }

  /** Ends all that is at work. No pass may be running. */
  stop(): void {
    this.#rollout?.end();
    this.#isRolling = false;
    for (const edition of new Set([...this.editions, ...this.#leaving])) edition.operator.stop();
    this.#leaving.clear();
    this.#assignments.clear();
  }

  /** A report may be older than what the resource has: passes of the older revision may take away what a newer one has made. */
  #guardKept(): void {
    for (const edition of this.#assignments.older) {
      edition.guardKept(this.#assignments.keysOf(edition), (key) =>
        this.#options.enqueue(key, 'normal'),
      );
      edition.approve(this.#approved);
    }
  }

  /** While others are at work: a resource has been woken, maybe by what they have done to it. */
  #follow(key: string): void {
    if (this.#assignments.olderOf(key) === undefined) return;
    this.#assignments.followReport(key);
    if (this.#assignments.olderOf(key) !== undefined) return;
    if (this.#assignments.size === 0) this.#rollWhatIsLeft();
    this.#options.onChange();
  }

  /** Others have brought all to the newest revision, as far as can be seen: the older ones end, what reports nothing stays guarded. */
  #rollWhatIsLeft(): void {
    const { newest } = this;
    const isLeft = this.#changed.some((key) => {
      const resource = newest.operator.resource(key);
      return resource !== undefined && isBehind(resource, newest.revision);
    });
    this.#roll(isLeft ? this.#changed : []);
  }

  /** `changed`: resources that have, or had, another revision. @default those that keep one */
  #roll(changed: readonly string[] = []): void {
    this.#rollout?.end();
    this.#changed = changed;
    const givenUp = this.#giveUpTooMany();
    const { newest } = this;
    const { clock, enqueue, onNews, onChange, onBug } = this.#options;
    const keys = this.#assignments.older.flatMap((edition) => this.#assignments.keysOf(edition));
    const rollout = new Rollout({
      to: newest,
      from:
        this.#assignments.older.at(-1)?.revision ??
        reportedBy(newest, changed[0]) ??
        newest.revision,
      keys,
      guarded: [...new Set([...keys, ...givenUp, ...changed])],
      clock,
      isPending: (key) => this.#isPending(key),
      pending: () => this.#assignments.size,
      reach: (key) => this.#reach(key),
      wake: (key) => enqueue(key, 'normal'),
      onNews,
      onChange: () => {
        this.#isRolling = this.#assignments.older.length > 0 || rollout.view !== undefined;
        onChange();
      },
      onBug,
      onReached: () => this.#end(),
    });
    this.#rollout = rollout;
    this.#isRolling = this.#assignments.older.length > 0 || rollout.view !== undefined;
    rollout.approve(this.#approved);
    newest.open();
    for (const edition of this.#assignments.older) edition.open();
  }

  /** @returns resources that have the newest revision from now on, as if they had been edited. */
  #giveUpTooMany(): readonly string[] {
    const givenUp: string[] = [];
    const bySize = () =>
      this.#assignments.older
        .map((edition) => ({ edition, keys: this.#assignments.keysOf(edition) }))
        .sort((a, b) => a.keys.length - b.keys.length);
    for (const { edition, keys } of bySize()) {
      if (keys.length > 0 && this.#assignments.older.length <= mostOlder) break;
      givenUp.push(...this.#assignments.giveUp(edition));
      void this.#retire(edition);
    }
    return givenUp;
  }

  #reach(key: string): { readonly failedBefore: boolean } {
    const edition = this.#assignments.olderOf(key);
    const resource = edition?.operator.resource(key);
    const failedBefore =
      edition?.isFailing(key) === true || (resource !== undefined && isStalled(resource));
    this.#assignments.takeOver(key, 'low');
    return { failedBefore };
  }

  /** Another process may have reached it, as long as that one was the leader. */
  #isPending(key: string): boolean {
    if (this.#assignments.olderOf(key) === undefined) return false;
    if (this.#assignments.choose(key) !== this.newest) return true;
    this.#options.enqueue(key, 'low');
    return false;
  }

  async #reconcileWhileRolling(key: string, turn: Turn): Promise<Outcome> {
    const edition = this.#assignments.choose(key);
    const isNewest = edition === this.newest;
    // Nothing of it runs with an older revision any more: one key is never with two workers.
    if (isNewest) for (const older of this.#assignments.older) older.forget(key);
    const resource = edition.operator.resource(key);
    if (resource?.metadata.deletionTimestamp !== undefined || resource === undefined)
      for (const guard of [this.#rollout, ...this.#assignments.older.map(({ kept }) => kept)])
        guard?.forget(key);
    const rollout = this.#rollout;
    if (!isNewest || rollout?.watches(key) !== true) return edition.operator.reconcile(key, turn);
    let verdict: Verdict = 'open';
    try {
      const outcome = await edition.operator.reconcile(key, turn);
      verdict = outcome.kind === 'failed' || edition.isFailing(key) ? 'failed' : 'well';
      return outcome;
    } catch (error) {
      if (!turn.signal.aborted) verdict = edition.isFailing(key) ? 'failed' : verdictOf(error);
      throw error;
    } finally {
      rollout.passEnded(key, verdict);
    }
  }

  #end(): void {
    const leaving = this.#assignments.endOlder();
    this.#isRolling = this.#rollout?.view !== undefined;
    const { newest } = this;
    void Promise.all(leaving.map((edition) => this.#retire(edition))).then(() => {
      if (this.newest === newest && this.#assignments.older.length === 0) this.#options.onSettled();
    });
  }

  /** A pass of it that has begun ends with it. */
  async #retire(edition: Edition): Promise<void> {
    this.#leaving.add(edition);
    await this.#options.passesEnded();
    if (this.#leaving.delete(edition)) edition.operator.stop();
  }
}

function reportedBy({ operator }: Edition, key = ''): string | undefined {
  const resource = operator.resource(key);
  return resource && revisionOf(resource);
}

/** Does it report another revision, or that it keeps what this one takes from it? */
function isBehind(resource: KubeObject, revision: string): boolean {
  return revisionOf(resource) !== revision || holdsDeletions(resource);
}
