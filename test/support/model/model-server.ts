import type { KubeObject } from '#util/kube-object.ts';

/** An object as the model keeps it: one label, one finalizer, one field. */
export interface ModelObject {
  readonly name: string;
  readonly uid: string;
  readonly version: number;
  readonly selected: boolean;
  readonly finalizer: boolean;
  readonly deleting: boolean;
  readonly value: number;
}

/** One version of the server's history. */
export interface ModelChange {
  readonly version: number;
  readonly before: ModelObject | undefined;
  readonly after: ModelObject | undefined;
}

/** A backup of etcd. */
export interface ModelBackup {
  readonly version: number;
  readonly objects: ReadonlyMap<string, ModelObject>;
  readonly history: readonly ModelChange[];
}

type Wish = Partial<Pick<ModelObject, 'selected' | 'finalizer' | 'value'>>;

/** As much of an API server as a cache can notice: versions, uids, labels, finalizers, schemas and backups. */
export class ModelServer {
  /** Starts so low that versions soon get a digit more. */
  version = 90;
  /** The version of the kind's schema: shows in every object read, without a new version of the object. */
  schema = 1;
  objects = new Map<string, ModelObject>();
  history: ModelChange[] = [];
  #uids = 0;

  /** Creates or changes; a wish that is so already writes nothing. */
  apply(name: string, wish: Wish): ModelObject {
    const before = this.objects.get(name);
    const base = before ?? { name, selected: true, finalizer: false, deleting: false, value: 0 };
    const changed = Object.entries(wish).some(([key, value]) => Reflect.get(base, key) !== value);
    if (before !== undefined && !changed) return before;
    const uid = before?.uid ?? this.#newUid();
    return this.#write(before, { ...base, ...wish, uid, version: 0 });
  }

  delete(name: string): 'deleted' | 'deleting' | 'gone' {
    const before = this.objects.get(name);
    if (before === undefined) return 'gone';
    if (before.finalizer) {
      if (!before.deleting) this.#write(before, { ...before, deleting: true });
      return 'deleting';
    }
    this.#remove(before);
    return 'deleted';
  }

  /** Takes the finalizer off, which ends a deletion that was waiting for it. */
  finalize(name: string): void {
    const before = this.objects.get(name);
    if (before === undefined || !before.finalizer) return;
    if (before.deleting) this.#remove(before);
    else this.#write(before, { ...before, finalizer: false });
  }

  backUp(): ModelBackup {
    return {
      version: this.version,
      objects: new Map(this.objects),
      history: [...this.history],
    };
  }

  restore(backup: ModelBackup): void {
    this.version = backup.version;
    this.objects = new Map(backup.objects);
    this.history = [...backup.history];
  }

  /** What a reader gets. */
  view(object: ModelObject, schema = this.schema): KubeObject {
    return {
      apiVersion: 'v1',
      kind: 'Thing',
      metadata: {
        name: object.name,
        namespace: 'default',
        uid: object.uid,
        resourceVersion: String(object.version),
        labels: { selected: object.selected ? 'yes' : 'no' },
        ...(object.deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      },
      spec: { value: object.value, schema },
    };
  }

  #newUid(): string {
    this.#uids += 1;
    return `uid-${this.#uids}`;
  }

  #write(before: ModelObject | undefined, wanted: ModelObject): ModelObject {
    this.version += 1;
    const after = { ...wanted, version: this.version };
    this.objects.set(after.name, after);
    this.history.push({ version: this.version, before, after });
    return after;
  }

  #remove(before: ModelObject): void {
    this.version += 1;
    this.objects.delete(before.name);
    this.history.push({ version: this.version, before, after: undefined });
  }
}
