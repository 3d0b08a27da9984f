import type { CacheIndex, Informer, InformerQuery, StoredObject } from '#kube/roles.ts';

/** An informer of a kind that the cluster does not serve yet: synced, without objects. */
export class EmptyInformer implements Informer {
  readonly query: InformerQuery;
  readonly state = { kind: 'synced' } as const;

  constructor(query: InformerQuery) {
    this.query = query;
  }

  get(): StoredObject | undefined {
    return undefined;
  }

  list(): Iterable<StoredObject> {
    return [];
  }

  index(): CacheIndex {
    return { get: () => [] };
  }

  subscribe(): () => void {
    return () => undefined;
  }

  onState(): () => void {
    return () => undefined;
  }

  release(): void {}
}
