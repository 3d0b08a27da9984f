import type { OperatorPlan } from '#compile';
import { KubeError } from '#kube/roles.ts';
import type { Problem } from '../failure.ts';
import { historyProblem } from './history-problem.ts';
import type { RecordOwner } from './record.ts';
import type { RecordStore } from './record-store.ts';
import { RecordUpgrade } from './record-upgrade.ts';
import type { RecorderPartOptions } from './recorder-options.ts';

/** The records without a signature: those of an earlier release are signed, what remains is reported once for each resource. */
export class OldRecords {
  readonly #options: RecorderPartOptions;
  readonly #store: RecordStore;
  readonly #upgrade: RecordUpgrade;
  /** By UID of the resource, why its records could not be signed. */
  readonly #problems = new Map<string, Problem>();
  /** UIDs of resources whose ignored records have been reported. */
  readonly #reported = new Set<string>();

  constructor(options: RecorderPartOptions, store: RecordStore) {
    this.#options = options;
    this.#store = store;
    const { definition, cluster } = options;
    this.#upgrade = new RecordUpgrade({ definition, cluster }, store);
  }

  /** Whether records may still be signed. A reader signs none. */
  isPending(ownerUid: string): boolean {
    return this.#upgrade.isPending(ownerUid);
  }

  /** Whether the versions of the resource are not known yet. */
  isUpgrading(ownerUid: string): boolean {
    return this.#options.isReadOnly !== true && this.#upgrade.isPending(ownerUid);
  }

  /** Why records of the resource could not be signed. */
  problemOf(ownerUid: string): Problem | undefined {
    return this.#problems.get(ownerUid);
  }

  /** @throws KubeError: it is tried again */
  async sign(owner: RecordOwner, plan: OperatorPlan, signal: AbortSignal): Promise<void> {
    try {
      await this.#upgrade.run(owner, plan, signal);
      this.#problems.delete(owner.uid);
    } catch (error) {
      if (error instanceof KubeError && !signal.aborted)
        this.#problems.set(owner.uid, historyProblem(error));
      throw error;
    } finally {
      this.#options.enqueue(owner.key);
    }
    this.report(owner);
  }

  /** Reports what is ignored, once. */
  report(owner: RecordOwner): void {
    const { length: count } = this.#store.ignored.of(owner.uid);
    if (count === 0 || this.#reported.has(owner.uid)) return;
    this.#reported.add(owner.uid);
    const { cluster, definition, logger } = this.#options;
    const versions = count === 1 ? 'A stored version is' : `${count} stored versions are`;
    const note = `${versions} not authentic and ignored; "homeostat history" lists them`;
    cluster.events.record({
      regarding: owner.resource,
      type: 'Warning',
      reason: 'HistoryIgnored',
      action: 'Record',
      note,
      definition,
    });
    logger.warn(
      { definition, resource: owner.key, versions: count },
      'Stored versions are not authentic and are ignored',
    );
  }

  forget(ownerUid: string): void {
    this.#upgrade.forget(ownerUid);
    this.#reported.delete(ownerUid);
    this.#problems.delete(ownerUid);
  }
}
