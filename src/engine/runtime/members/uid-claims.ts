import type { ClusterRecord } from './cluster-record.ts';
import { ConnectionError } from './connection-state.ts';

/** A member that works in a cluster, or is about to. */
interface Claimant {
  readonly record: ClusterRecord;
  /** Connects again; resolves when its work has ended. */
  restart(): Promise<void>;
}

/**
 * Which `Cluster` is the member with a UID: a cluster is one member only, and never the hub. The one whose status has recorded
 * the UID is it: another cluster can respond with the UID of a member, and an older object must not take that out of service. Among
 * equals it is the oldest.
 */
export class UidClaims {
  /** The UID of the cluster in which each member may work. */
  readonly #admitted = new Map<Claimant, string>();

  /**
   * Resolves when the member may work in the cluster with this UID: after others have ended their work there.
   * @param recorded The objects that are not being deleted: their statuses have the UIDs of earlier contacts.
   * @throws ConnectionError
   */
  async admit(
    member: Claimant,
    uid: string,
    { hubUid, recorded }: { readonly hubUid: string; readonly recorded: readonly ClusterRecord[] },
  ): Promise<void> {
    this.#admitted.delete(member);
    if (uid === hubUid) throw duplicate('The cluster is the hub itself');
    const holders = [...this.#admitted].flatMap(([holder, held]) => (held === uid ? holder : []));
    const { record } = member;
    const others = [...recorded, ...holders.map((holder) => holder.record)].filter(
      ({ name }) => name !== record.name,
    );
    const known = others.filter((other) => hasRecorded(other, uid));
    const isKnown = hasRecorded(record, uid);
    const [oldest] = known.toSorted((a, b) => (isOlder(a, b) ? -1 : 1));
    if (!isKnown && oldest !== undefined)
      throw duplicate(
        `The cluster of "${record.name}" responds with the UID of the Cluster "${oldest.name}", which has recorded it`,
      );
    const rivals = isKnown ? known : holders.map((holder) => holder.record);
    const older = rivals.find((other) => isOlder(other, record));
    if (older !== undefined)
      throw duplicate(`The Cluster "${older.name}" is the same cluster, and older`);
    this.#admitted.set(member, uid);
    for (const holder of holders) this.#admitted.delete(holder);
    await Promise.all(holders.map((holder) => holder.restart()));
  }

  /** Call when the member was removed. */
  remove(member: Claimant): void {
    this.#admitted.delete(member);
  }
}

/** Whether the status of a `Cluster` has recorded this UID, and its `spec` accepts no other. */
function hasRecorded({ knownUid, expectedUid = knownUid }: ClusterRecord, uid: string): boolean {
  return knownUid === uid && expectedUid === uid;
}

function isOlder(a: ClusterRecord, b: ClusterRecord): boolean {
  return a.createdMs === b.createdMs ? a.name < b.name : a.createdMs < b.createdMs;
}

function duplicate(message: string): ConnectionError {
  return new ConnectionError({ reason: 'Duplicate', message });
}
