import {
  type EditMetadataOptions,
  type EventInput,
  type EventRecorder,
  KubeError,
  type ObjectRef,
  type StoredObject,
  type Writer,
} from '#kube/roles.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { type KubeObject, keyOf, type ObjectMeta } from '#util/kube-object.ts';

type WriterRole = Pick<Writer, 'apply' | 'editMetadata'>;

/** The objects of an API server, as far as the controller of HttpObjects uses it: versions, generations, finalizers, owners. */
export class MemoryCluster implements WriterRole {
  readonly objects = new Map<string, KubeObject>();
  readonly eventsSeen: EventInput[] = [];
  readonly events: EventRecorder = { record: (event) => void this.eventsSeen.push(event) };
  writes = 0;
  /** Objects whose write failed, for seeded errors. */
  readonly unwritten = new Map<string, KubeObject>();
  /** Why an apply fails. @default none does */
  rejects: (manifest: KubeObject) => Error | undefined = () => undefined;
  /** Why a write of metadata fails. @default none does */
  rejectsEdits: () => Error | undefined = () => undefined;
  #version = 0;
  #uids = 0;

  get(kind: string, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.objects.get(`${kind} ${keyOf(namespace, name)}`);
  }

  list(kind: string): readonly KubeObject[] {
    return [...this.objects.values()].filter((object) => object.kind === kind);
  }

  /** As a user: creates the object, or replaces its spec, data and annotations. */
  put(object: KubeObject, nowMs = 0): KubeObject {
    const { kind, metadata } = object;
    const before = this.get(kind, metadata.namespace, metadata.name);
    const isEdit = before !== undefined;
    const generation =
      isEdit && JSON.stringify(before.spec) === JSON.stringify(object.spec)
        ? (before.metadata.generation ?? 1)
        : (before?.metadata.generation ?? 0) + 1;
    return this.#store({
      ...object,
      ...(isEdit && before.status !== undefined && { status: before.status }),
      metadata: {
        ...before?.metadata,
        ...metadata,
        annotations: { ...before?.metadata.annotations, ...metadata.annotations },
        uid: before?.metadata.uid ?? `uid-${++this.#uids}`,
        creationTimestamp:
          before?.metadata.creationTimestamp ??
          new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z'),
        generation,
      },
    });
  }

  annotate(
    kind: string,
    namespace: string,
    name: string,
    annotations: Record<string, string>,
  ): void {
    const object = this.get(kind, namespace, name);
    if (object === undefined) return;
    const all = { ...object.metadata.annotations, ...annotations };
    this.#store({ ...object, metadata: { ...object.metadata, annotations: all } });
  }

  /** As a user: deletes the object, when its finalizers permit it. */
  remove(kind: string, namespace: string, name: string): void {
    const object = this.get(kind, namespace, name);
    if (object === undefined) return;
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const metadata = { ...object.metadata, deletionTimestamp };
    this.#store({ ...object, metadata });
  }

  async apply(
    manifest: KubeObject,
    { subresource }: Parameters<WriterRole['apply']>[1],
  ): ReturnType<WriterRole['apply']> {
    const rejection = this.rejects(manifest);
    if (rejection !== undefined) throw rejection;
    const { kind, metadata } = manifest;
    const before = this.get(kind, metadata.namespace, metadata.name);
    if (subresource === 'status') {
      if (before === undefined || before.metadata.uid !== metadata.uid)
        throw new KubeError('not-found', 'Not found', { status: 404 });
      const { status } = manifest;
      return { stored: this.#stored(this.#store({ ...before, status })), created: false };
    }
    if (before !== undefined && metadata.resourceVersion === '1')
      throw new KubeError('conflict', 'It exists', { status: 409 });
    const { resourceVersion: _, ...others } = metadata;
    const merged: ObjectMeta = {
      ...before?.metadata,
      ...others,
      annotations: { ...before?.metadata.annotations, ...metadata.annotations },
      uid: before?.metadata.uid ?? `uid-${++this.#uids}`,
    };
    const object = this.#store({ ...before, ...manifest, metadata: merged });
    return { stored: this.#stored(object), created: before === undefined };
  }

  async editMetadata(
    { gvk, namespace, name }: ObjectRef,
    { uid, cached, change }: EditMetadataOptions,
  ): Promise<StoredObject | undefined> {
    const rejection = this.rejectsEdits();
    if (rejection !== undefined) throw rejection;
    let current = cached ?? this.get(gvk.kind, namespace, name);
    for (;;) {
      if (current === undefined || current.metadata.uid !== uid) return undefined;
      const patch = change(current.metadata);
      if (patch === undefined) return undefined;
      const live = this.get(gvk.kind, namespace, name);
      if (live === undefined || live.metadata.uid !== uid) return undefined;
      if (live.metadata.resourceVersion === current.metadata.resourceVersion) {
        const metadata = mergePatch(live.metadata as unknown as JsonObject, patch as JsonObject);
        return this.#stored(this.#store({ ...live, metadata: metadata as unknown as ObjectMeta }));
      }
      current = live;
    }
  }

  #store(object: KubeObject): KubeObject {
    this.writes += 1;
    this.#version += 1;
    const { kind, metadata } = object;
    const stored = structuredClone({
      ...object,
      metadata: { ...metadata, resourceVersion: String(this.#version) },
    });
    const key = `${kind} ${keyOf(metadata.namespace, metadata.name)}`;
    const isDone =
      metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    if (!isDone) this.objects.set(key, stored);
    else {
      this.objects.delete(key);
      this.#collect(metadata.uid);
    }
    return stored;
  }

  /** Deletes the objects of a deleted owner. */
  #collect(uid: string | undefined): void {
    for (const [key, { metadata }] of this.objects)
      if (metadata.ownerReferences?.some((owner) => owner.uid === uid)) this.objects.delete(key);
  }

  #stored(object: KubeObject): StoredObject {
    return { object, cluster: undefined, appliedBy: [] };
  }
}

function mergePatch(value: JsonObject, patch: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...value };
  for (const [name, field] of Object.entries(patch)) {
    if (field === null) delete result[name];
    else if (isJsonObject(field)) {
      const inner = result[name];
      result[name] = mergePatch(isJsonObject(inner) ? inner : {}, field);
    } else result[name] = field;
  }
  return result as JsonObject;
}
