import type { Cluster, WriteOptions } from '../../kube/roles.ts';
import type { Gvk } from '../../util/gvk.ts';
import { parseKey } from '../../util/kube-object.ts';
import { refTo } from '../identity.ts';
import type { RecordStore } from './record-store.ts';
import type { RecordWriter } from './record-writer.ts';
import { candidateOf } from './removable-records.ts';

interface OwnerlessOptions {
  readonly definition: string;
  /** The kind of the resources. */
  readonly ownerKind: Gvk;
  readonly cluster: Cluster;
}

/**
 * Deletes the records of a resource that does not exist any more: its finalizer was removed by hand, or an old record was written again.
 * Only authentic ones are deleted, and only once the server answers that the resource does not exist.
 * @throws KubeError
 */
export async function removeOwnerless(
  ownerUid: string,
  { definition, ownerKind, cluster }: OwnerlessOptions,
  { store, writer, signal }: { store: RecordStore; writer: RecordWriter; signal: AbortSignal },
): Promise<void> {
  const records = [...store.seriesOf(ownerUid)].flat();
  const ownerKey = records.find((record) => record.ownerKey !== undefined)?.ownerKey;
  if (ownerKey === undefined) return;
  const { namespace, name } = parseKey(ownerKey);
  const ref = refTo(ownerKind, namespace === '' ? undefined : namespace, name);
  const options: WriteOptions = { flow: { name: definition, priority: 'object' } };
  const owner = await cluster.get(ref, options, signal);
  if (owner?.object.metadata.uid === ownerUid) return;
  store.markGone(ownerUid);
  const error = await writer.removeAll(records.map(candidateOf), signal);
  if (error !== undefined) throw error;
}
