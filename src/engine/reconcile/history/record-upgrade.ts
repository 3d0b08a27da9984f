import type { OperatorPlan } from '#compile';
import type { Cluster, ManagedFieldsEntry, WriteOptions } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  deletedAtAnnotation,
  deletionSignatureAnnotation,
  recordManagerOf,
  recordOwnerAnnotation,
  recordSignatureAnnotation,
} from '#util/stored-names.ts';
import type { IgnoredRecord } from './ignored-records.ts';
import { type RecordOwner, refOfRecord } from './record.ts';
import { deletionSignatureOf, type RecordKey, signatureOf } from './record-signature.ts';
import { isKept, type RecordStore } from './record-store.ts';

/** Records that are signed at the same time. */
const concurrency = 10;
/** The manager of edits without one: the name of the client. It wrote the mark of a deletion. */
const clientManager = 'homeostat';

interface UpgradeOptions {
  readonly definition: string;
  readonly cluster: Cluster;
}

/**
 * Signs the records of a release that signed none, once: those from before the keys were created. Records from after it never are. Nothing
 * proves who wrote them: what is checked are their place, their order, their owner, and who has written their fields.
 */
export class RecordUpgrade {
  readonly #options: UpgradeOptions;
  readonly #store: RecordStore;
  readonly #write: WriteOptions;
  /** UIDs of resources whose records need no signature any more. */
  readonly #finished = new Set<string>();

  constructor(options: UpgradeOptions, store: RecordStore) {
    this.#options = options;
    this.#store = store;
    this.#write = { flow: { name: options.definition, priority: 'object' } };
  }

  /** Whether records of the resource may still be signed: until then they are not known. */
  isPending(ownerUid: string): boolean {
    return !this.#finished.has(ownerUid) && this.#candidates(ownerUid).length > 0;
  }

  /** @throws KubeError: it is tried again */
  async run(owner: RecordOwner, plan: OperatorPlan, signal: AbortSignal): Promise<void> {
    const key = this.#store.keys.ring?.newest;
    if (key === undefined) return;
    const left = consistent(
      this.#candidates(owner.uid).filter(({ record }) => isKept(plan, record)),
      this.#store,
      owner,
    );
    const work = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        await this.#sign(next, { owner, key, signal });
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    this.#finished.add(owner.uid);
  }

  forget(ownerUid: string): void {
    this.#finished.delete(ownerUid);
  }

  #candidates(ownerUid: string): readonly IgnoredRecord[] {
    const { ignored, keys } = this.#store;
    const { createdAt } = keys;
    // With a lost key, this is no upgrade.
    if (createdAt === undefined || ignored.hasUnknownKeys) return [];
    return ignored
      .of(ownerUid)
      .filter(
        ({ authenticity, object }) =>
          authenticity === 'unsigned' &&
          Date.parse(object.metadata.creationTimestamp ?? '') < Date.parse(createdAt),
      );
  }

  async #sign(
    { record, object }: IgnoredRecord,
    { owner, key, signal }: { owner: RecordOwner; key: RecordKey; signal: AbortSignal },
  ): Promise<void> {
    const { cluster, definition } = this.#options;
    const ref = refOfRecord(record);
    const entries = await cluster.managedFields(ref, this.#write, signal);
    if (!isWrittenBy(definition, entries)) return;
    const { uid = '', resourceVersion } = record.meta;
    const annotations = signedAnnotations(object, owner.key, key);
    const options = { ...this.#write, uid, cached: object };
    await cluster.editMetadata(
      ref,
      {
        ...options,
        // What was not read is not signed.
        change: (metadata) =>
          metadata.resourceVersion === resourceVersion ? { annotations } : undefined,
      },
      signal,
    );
  }
}

/** The annotations that make a record authentic. `ownerKey`: undefined: as it is. */
export function signedAnnotations(
  object: KubeObject,
  ownerKey: string | undefined,
  key: RecordKey,
): Readonly<Record<string, string>> {
  const { metadata } = object;
  const owner = ownerKey === undefined ? {} : { [recordOwnerAnnotation]: ownerKey };
  const complete = { ...metadata, annotations: { ...metadata.annotations, ...owner } };
  const deletedAt = metadata.annotations?.[deletedAtAnnotation];
  return {
    ...owner,
    [recordSignatureAnnotation]: signatureOf({ ...object, metadata: complete }, key),
    ...(deletedAt !== undefined && {
      [deletionSignatureAnnotation]: deletionSignatureOf(metadata.uid ?? '', deletedAt, key),
    }),
  };
}

/** The records whose read, version and owner are as Homeostat writes them. */
function consistent(
  candidates: readonly IgnoredRecord[],
  store: RecordStore,
  { uid, resource }: RecordOwner,
): IgnoredRecord[] {
  const bornAt = Date.parse(resource.metadata.creationTimestamp ?? '');
  const series = Map.groupBy(candidates, ({ record }) => record.series);
  return [...series].flatMap(([name, records]) => {
    let newest = store.recordsOf(uid, name).at(-1)?.version;
    return records
      .toSorted((one, other) => one.record.version - other.record.version)
      .filter(({ record }) => {
        const { version, meta } = record;
        const isNext = newest === undefined || version <= newest + 1;
        const isOlder = Date.parse(meta.creationTimestamp ?? '') < bornAt;
        if (!isNext || isOlder) return false;
        newest = Math.max(newest ?? 0, version);
        return true;
      });
  });
}

/** Whether only the recorder of the definition has written fields, and the client no more than the mark of a deletion. */
function isWrittenBy(definition: string, entries: readonly ManagedFieldsEntry[]): boolean {
  const manager = recordManagerOf(definition);
  const isOurs = (entry: ManagedFieldsEntry) =>
    entry.operation === 'Apply'
      ? entry.manager === manager
      : entry.manager === clientManager && isMark(entry.fields);
  return (
    entries.some((entry) => entry.manager === manager && Object.hasOwn(entry.fields, 'f:data')) &&
    entries.every(isOurs)
  );
}

function isMark(fields: ManagedFieldsEntry['fields']): boolean {
  const mark = { 'f:metadata': { 'f:annotations': { [`f:${deletedAtAnnotation}`]: {} } } };
  return JSON.stringify(fields) === JSON.stringify(mark);
}
