import {
  type ApplyOptions,
  type ApplyResult,
  type DeleteOptions,
  type EditMetadataOptions,
  type Informer,
  type InformerQuery,
  type KubeCluster,
  KubeError,
  type MetadataPatch,
  type ObjectRef,
  pathOf,
  type ReplaceOptions,
  type ResourceType,
  type StoredObject,
  type WriteOptions,
} from '#kube';
import type { RuntimeCluster } from '#runtime';
import { deepEqual } from '#util/deep-equal.ts';
import { type FieldSteps, valueAtSteps, withFieldAt } from '#util/field-path.ts';
import { type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { EmptyInformer } from './empty-informer.ts';
import { OverlayInformer } from './overlay-informer.ts';
import { contentOf } from './planned-object.ts';

interface ApplyWrite {
  readonly kind: 'apply';
  readonly manifest: KubeObject;
  readonly fieldManager: string;
  /** Undefined: the object would be created. */
  readonly before: KubeObject | undefined;
  /** As the server would store it. */
  readonly after: KubeObject;
  /** An object of this name would be deleted first. */
  readonly isReplacement: boolean;
  /** Of the status, through its subresource. @default undefined: of the other fields */
  readonly isStatus?: true;
}

/** A write that would have been made. `cluster`: name of the member cluster; undefined: the hub. */
export type DryRunWrite = { readonly cluster?: string } & (
  | ApplyWrite
  | { readonly kind: 'delete'; readonly object: KubeObject }
  | { readonly kind: 'metadata'; readonly before: KubeObject; readonly after: KubeObject }
);

/** An apply of the reconcile, and what the server answered. */
interface Applied {
  readonly manifest: KubeObject;
  readonly after: KubeObject;
}

/** A kind that the definition adds to the cluster. */
export interface NewKind {
  readonly type: ResourceType;
  /** The object as a server that serves the kind would store it. */
  readonly admit: (manifest: KubeObject) => KubeObject;
}

/**
 * A cluster whose reads are real and whose writes are dry runs: applies are sent with `dryRun=All`, deletions and changes of metadata are
 * only recorded. Writes of the resource's own status and Events are dropped.
 */
export class DryRunCluster implements RuntimeCluster {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly events = { record: () => undefined };
  readonly eventsDenied = undefined;
  readonly #cluster: KubeCluster;
  readonly #deleted = new Set<string>();
  readonly #namespaces = new Set<string>();
  #writes: DryRunWrite[] = [];

  /** Changed or new objects by kind: reads see them in place of those in the cluster. */
  readonly #changed = new Map<string, StoredObject[]>();
  /** Those of them that the cluster does not have, by key. */
  readonly #added = new Map<string, StoredObject>();
  /** By key, the fields that their manager has released: the next apply keeps them. */
  readonly #kept = new Map<string, readonly FieldSteps[]>();
  /** By key, the first apply of the reconcile. */
  readonly #applied = new Map<string, Applied>();
  #newKind: NewKind | undefined;

  constructor(cluster: KubeCluster) {
    this.#cluster = cluster;
    this.name = cluster.name;
    this.labels = cluster.labels ?? {};
  }

  /** The writes since the last call. */
  takeWrites(): readonly DryRunWrite[] {
    const writes = this.#writes;
    this.#writes = [];
    this.#deleted.clear();
    this.#applied.clear();
    return writes;
  }

  /** Serves a kind that the cluster does not serve: without objects, except those of {@link DryRunCluster.overlay}. */
  serve(kind: NewKind): void {
    this.#newKind = kind;
  }

  get unreachable() {
    return this.#cluster.unreachable;
  }

  acquire(query: InformerQuery): Informer {
    const isNew = this.#newType(query.gvk) !== undefined;
    const informer = isNew ? new EmptyInformer(query) : this.#cluster.acquire(query);
    const changed = this.#changed.get(gvkKey(query.gvk));
    return changed === undefined ? informer : new OverlayInformer(informer, changed);
  }

  readonly resourceFor: RuntimeCluster['resourceFor'] = (gvk) =>
    this.#newType(gvk) ?? this.#cluster.resourceFor(gvk);
  readonly lookUp: RuntimeCluster['lookUp'] = async (gvk, signal) =>
    this.#newType(gvk) ?? this.#cluster.lookUp(gvk, signal);
  readonly findKind: RuntimeCluster['findKind'] = (kind, signal) =>
    this.#cluster.findKind(kind, signal);
  readonly get: RuntimeCluster['get'] = async (ref, options, signal) =>
    this.#added.get(keyOf(ref)) ?? this.#live(ref, options, signal);
  readonly managedFields: RuntimeCluster['managedFields'] = async (ref, options, signal) =>
    this.#added.has(keyOf(ref)) ? [] : this.#cluster.managedFields(ref, options, signal);
  readonly fetchKindSchema: RuntimeCluster['fetchKindSchema'] = (gvk, signal) =>
    this.#cluster.fetchKindSchema(gvk, signal);
  readonly onGranted: RuntimeCluster['onGranted'] = () => () => undefined;
  readonly onAuthenticated: RuntimeCluster['onAuthenticated'] = () => () => undefined;
  readonly observe = () => undefined;
  readonly kindCreated = () => undefined;
  readonly kindChanged = () => undefined;

  /**
   * Has later reads see an object as if it were applied. Informers that exist already do not.
   * @param shape the object in the version in which it is read. Undefined: no read sees it
   * @throws KubeError as an apply
   */
  async overlay(
    manifest: KubeObject,
    options: ApplyOptions,
    shape: (object: KubeObject) => KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { stored: applied, created: isAdded } = await this.apply(manifest, options, signal);
    const object = shape(applied.object);
    if (object === undefined) return;
    const stored = { ...applied, object };
    const ref = refOf(object);
    const key = gvkKey(ref.gvk);
    this.#changed.set(key, [...(this.#changed.get(key) ?? []), stored]);
    if (isAdded) this.#added.set(keyOf(ref), stored);
  }

  async apply(
    manifest: KubeObject,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    const ref = refOf(manifest);
    const added = this.#added.get(keyOf(ref));
    if (added !== undefined) return this.#applyToAdded(added, manifest, options);
    const live = await this.#live(ref, { flow: options.flow }, signal);
    if (options.subresource === 'status')
      return isPatchManager(options.fieldManager)
        ? this.#patchStatus(live, manifest, options, signal)
        : { stored: unchanged(live, manifest), created: false };
    const applied = this.#applied.get(keyOf(ref));
    if (applied !== undefined && hasNoFields(manifest))
      return this.#withdraw(applied, manifest, options, signal);
    const isReplacement = this.#deleted.has(keyOf(ref));
    const result = isReplacement
      ? created(manifest)
      : await this.#dryRun(
          withKept(manifest, live?.object, this.#kept.get(keyOf(ref))),
          options,
          signal,
        );
    this.#kept.delete(keyOf(ref));
    const { object: after } = result.stored;
    if (manifest.kind === 'Namespace') this.#namespaces.add(manifest.metadata.name);
    const before = live?.object;
    const { fieldManager } = options;
    this.#addApply({ manifest, fieldManager, before, after }, isReplacement);
    if (applied === undefined) this.#applied.set(keyOf(ref), { manifest, after });
    return result;
  }

  /**
   * A manager gives up its fields after another one of ours has applied the object. The server does not know that: if the first one applied the
   * same, the rest of its fields would be removed in the same way.
   */
  async #withdraw(
    { manifest: kept, after: before }: Applied,
    manifest: KubeObject,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    const { uid } = manifest.metadata;
    const { resourceVersion: _, ...metadata } = kept.metadata;
    const sent = { ...kept, metadata: { ...metadata, ...(uid !== undefined && { uid }) } };
    const result = await this.#dryRun(sent, { ...options, force: true }, signal);
    const { object: after } = result.stored;
    const { fieldManager } = options;
    if (!deepEqual(contentOf(before), contentOf(after)))
      this.#addApply({ manifest, fieldManager, before, after });
    return result;
  }

  /** A patch of the status of another object, or its withdrawal. */
  async #patchStatus(
    live: StoredObject | undefined,
    manifest: KubeObject,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    const result = await this.#dryRun(manifest, options, signal);
    const before = live?.object;
    const { object: after } = result.stored;
    const { fieldManager } = options;
    if (!deepEqual(before?.status, after.status))
      this.#addApply({ manifest, fieldManager, before, after, isStatus: true });
    return result;
  }

  #addApply(write: Omit<ApplyWrite, 'kind' | 'isReplacement'>, isReplacement = false): void {
    this.#writes.push({ kind: 'apply', ...write, isReplacement });
  }

  async replace(
    manifest: KubeObject,
    { fieldManager, flow }: ReplaceOptions,
    signal: AbortSignal,
  ): Promise<StoredObject> {
    const ref = refOf(manifest);
    const before = (await this.#cluster.get(ref, { flow }, signal))?.object;
    const type = this.#cluster.resourceFor(ref.gvk);
    if (before === undefined || type === undefined)
      throw new KubeError('not-found', 'The object does not exist', { status: 404 });
    const { labels, annotations } = manifest.metadata;
    const metadata = {
      ...before.metadata,
      labels: { ...before.metadata.labels, ...labels },
      annotations: { ...before.metadata.annotations, ...annotations },
    };
    const { body } = await this.#cluster.api.request(
      {
        method: 'PUT',
        path: pathOf(type, ref),
        query: { fieldManager, dryRun: 'All' },
        body: { ...manifest, metadata, status: before.status },
        flow,
      },
      signal,
    );
    const after = withoutManagedFields(body as KubeObject);
    this.#addApply({ manifest, fieldManager, before, after });
    return { object: after, cluster: undefined, appliedBy: [] };
  }

  async editMetadata(
    ref: ObjectRef,
    { uid, cached, change, flow, keeps }: EditMetadataOptions,
    signal: AbortSignal,
  ): Promise<StoredObject | undefined> {
    if (keeps !== undefined) {
      this.#kept.set(keyOf(ref), keeps);
      return undefined;
    }
    const live = cached ?? (await this.get(ref, { flow }, signal))?.object;
    if (live === undefined || live.metadata.uid !== uid) return undefined;
    const patch = change(live.metadata);
    const type = this.#cluster.resourceFor(ref.gvk);
    if (patch === undefined) return undefined;
    if (this.#added.has(keyOf(ref))) return this.#editAdded(live, patch);
    if (type === undefined) return undefined;
    const { body } = await this.#cluster.api.request(
      {
        method: 'PATCH',
        path: pathOf(type, ref),
        query: { dryRun: 'All' },
        contentType: 'application/merge-patch+json',
        body: { metadata: patch },
        flow,
      },
      signal,
    );
    const after = body as KubeObject;
    this.#writes.push({ kind: 'metadata', before: live, after });
    return { object: after, cluster: undefined, appliedBy: [] };
  }

  async delete(
    ref: ObjectRef,
    { flow }: DeleteOptions,
    signal: AbortSignal,
  ): Promise<'deleted' | 'gone'> {
    const live = await this.#cluster.get(ref, { flow }, signal);
    if (live === undefined) return 'gone';
    this.#deleted.add(keyOf(ref));
    this.#writes.push({ kind: 'delete', object: live.object });
    return 'deleted';
  }

  #newType(gvk: Gvk): ResourceType | undefined {
    const type = this.#newKind?.type;
    return type !== undefined && gvkKey(type.gvk) === gvkKey(gvk) ? type : undefined;
  }

  async #live(ref: ObjectRef, options: WriteOptions, signal: AbortSignal) {
    const isNew = this.#newType(ref.gvk) !== undefined;
    return isNew ? undefined : this.#cluster.get(ref, options, signal);
  }

  /** The server does not have the object: a finalizer is part of its creation, fields of a patch are a change. */
  #applyToAdded(
    { object: before }: StoredObject,
    manifest: KubeObject,
    { fieldManager, subresource }: ApplyOptions,
  ): ApplyResult {
    const after = merged(before, manifest) as KubeObject;
    const { apiVersion: _, kind: __, metadata: ___, ...fields } = manifest;
    if (subresource === undefined && Object.keys(fields).length > 0)
      this.#addApply({ manifest, fieldManager, before, after });
    return { stored: { object: after, cluster: undefined, appliedBy: [] }, created: false };
  }

  /** The server does not have the object: what is recorded in it is part of its creation. */
  #editAdded(live: KubeObject, metadata: MetadataPatch): StoredObject {
    const object = merged(live, { metadata }) as KubeObject;
    return { object, cluster: undefined, appliedBy: [] };
  }

  /** An object in a namespace that would be created first cannot be sent: its manifest stands for it. */
  async #dryRun(
    manifest: KubeObject,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    if (this.#newType(refOf(manifest).gvk) !== undefined)
      return created(this.#newKind?.admit(manifest) ?? manifest);
    try {
      return await this.#cluster.dryRunApply(manifest, options, signal);
    } catch (error) {
      const { namespace = '' } = manifest.metadata;
      const isExpected =
        error instanceof KubeError && error.status === 404 && this.#namespaces.has(namespace);
      if (!isExpected) throw error;
      return created(manifest);
    }
  }
}

/** `homeostat/<definition>/<patch>`; that of the resource's own status has two parts. */
function isPatchManager(fieldManager: string): boolean {
  return fieldManager.split('/').length > 2;
}

function hasNoFields({ apiVersion: _, kind: __, metadata, ...content }: KubeObject): boolean {
  const { name: ___, namespace: ____, uid: _____, ...fields } = metadata;
  return Object.keys(content).length === 0 && Object.keys(fields).length === 0;
}

/** Maps are merged, other values replaced; null removes a field. */
function merged(before: unknown, after: unknown): unknown {
  if (!isJsonObject(before) || !isJsonObject(after)) return after;
  const changed = Object.entries(after).map(([key, value]) => [key, merged(before[key], value)]);
  const all = Object.entries({ ...before, ...Object.fromEntries(changed) });
  return Object.fromEntries(all.filter(([key, value]) => value !== null || !(key in after)));
}

function withoutManagedFields({ metadata, ...object }: KubeObject): KubeObject {
  const { managedFields: _, ...kept } = metadata as KubeObject['metadata'] & {
    readonly managedFields?: unknown;
  };
  return { ...object, metadata: kept } as KubeObject;
}

function created(manifest: KubeObject): ApplyResult {
  const { uid: _, resourceVersion: __, ...metadata } = manifest.metadata;
  const object = { ...manifest, metadata: { ...metadata, uid: 'dry-run', resourceVersion: '1' } };
  return { stored: { object, cluster: undefined, appliedBy: [] }, created: true };
}

function unchanged(live: StoredObject | undefined, manifest: KubeObject): StoredObject {
  return live ?? { object: manifest, cluster: undefined, appliedBy: [] };
}

function refOf({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): ObjectRef {
  return { gvk: gvkOf(apiVersion, kind), name, ...(namespace !== undefined && { namespace }) };
}

function keyOf({ gvk, namespace = '', name }: ObjectRef): string {
  return `${gvkKey(gvk)} ${namespace}/${name}`;
}

/** The manifest with the live values of fields that its manager has released. */
function withKept(
  manifest: KubeObject,
  live: KubeObject | undefined,
  fields: readonly FieldSteps[] = [],
): KubeObject {
  return fields.reduce((kept, steps) => {
    const value = valueAtSteps(live, steps);
    return value === undefined ? kept : withFieldAt(kept, steps, value);
  }, manifest);
}
