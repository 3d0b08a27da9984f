import type { Watcher } from '../../kube/roles.ts';
import type { LeaseClient } from './lease-client.ts';
import { leaseGvk } from './lease-record.ts';
import type { LeaseSight } from './lease-sight.ts';

export interface LeaseWatchOptions {
  readonly leases: Pick<LeaseClient, 'namespace' | 'name'>;
  readonly watcher: Pick<Watcher, 'acquire'>;
  /** Told of all that is seen. */
  readonly sight: LeaseSight;
  /** What was seen lets us take it. */
  readonly onMayTake: () => void;
}

export interface LeaseWatch {
  /** Does it show us what becomes of the Lease? */
  isGood(): boolean;
  end(): void;
}

/** Shows the Lease to a follower, so that it need not ask. */
export function watchLease(options: LeaseWatchOptions): LeaseWatch {
  const { leases, watcher, sight, onMayTake } = options;
  const { namespace, name } = leases;
  const informer = watcher.acquire({
    gvk: leaseGvk,
    namespace,
    fieldSelector: `metadata.name=${name}`,
  });
  const unsubscribe = informer.subscribe(() => {
    sight.shown(informer.get(namespace, name)?.object);
    if (sight.mayTake) onMayTake();
  });
  return {
    // A Lease that is not there has no event that says so.
    isGood: () => informer.state.kind === 'synced' && sight.isKnown && !sight.hasMissed,
    end() {
      unsubscribe();
      informer.release();
    },
  };
}
