import {
  type ApplyOptions,
  type ApplyResult,
  type DeleteOptions,
  type EditMetadataOptions,
  type Informer,
  type InformerQuery,
  type KubeCluster,
  KubeError,
  type ObjectRef,
  pathOf,
  type ReplaceOptions,
  type StoredObject,
} from '../kube/index.ts';
import type { RuntimeCluster } from '../runtime/index.ts';
import { gvkKey, gvkOf } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import { OverlayInformer } from './overlay-informer.ts';

/** A write that would have been made. `cluster`: name of the member cluster; undefined: the hub. */
export type DryRunWrite = { readonly cluster?: string } & (
  | {
      readonly kind: 'apply';
      readonly manifest: KubeObject;
      readonly fieldManager: string;
      /** Undefined: the object would be created. */
      readonly before: KubeObject | undefined;
      /** As the server would store it. */
      readonly after: KubeObject;
      /** An object of this name would be deleted first. */
      readonly isReplacement: boolean;
    }
  | { readonly kind: 'delete'; readonly object: KubeObject }
  | { readonly kind: 'metadata'; readonly before: KubeObject; readonly after: KubeObject }
);

/**
 * A cluster whose reads are real and whose writes are dry runs: applies are sent with `dryRun=All`, deletions and changes of metadata are
 * only recorded. Status writes and Events are dropped.
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
    return writes;
  }

  get unreachable() {
    return this.#cluster.unreachable;
  }

  acquire(query: InformerQuery): Informer {
    const informer = this.#cluster.acquire(query);
    const changed = this.#changed.get(gvkKey(query.gvk));
    return changed === undefined ? informer : new OverlayInformer(informer, changed);
  }

  readonly resourceFor: RuntimeCluster['resourceFor'] = (gvk) => this.#cluster.resourceFor(gvk);
  readonly lookUp: RuntimeCluster['lookUp'] = (gvk, signal) => this.#cluster.lookUp(gvk, signal);
  readonly findKind: RuntimeCluster['findKind'] = (kind, signal) =>
    this.#cluster.findKind(kind, signal);
  readonly get: RuntimeCluster['get'] = (ref, options, signal) =>
    this.#cluster.get(ref, options, signal);
  readonly managedFields: RuntimeCluster['managedFields'] = (ref, options, signal) =>
    this.#cluster.managedFields(ref, options, signal);
  readonly fetchKindSchema: RuntimeCluster['fetchKindSchema'] = (gvk, signal) =>
    this.#cluster.fetchKindSchema(gvk, signal);
  readonly onGranted: RuntimeCluster['onGranted'] = () => () => undefined;
  readonly onAuthenticated: RuntimeCluster['onAuthenticated'] = () => () => undefined;
  readonly observe = () => undefined;
  readonly kindChanged = () => undefined;

  /**
   * Has later reads see an object as if it were applied. Informers that exist already do not.
   * @throws KubeError as an apply
   */
  async overlay(manifest: KubeObject, options: ApplyOptions, signal: AbortSignal): Promise<void> {
    const { stored } = await this.apply(manifest, options, signal);
    const key = gvkKey(refOf(manifest).gvk);
    this.#changed.set(key, [...(this.#changed.get(key) ?? []), stored]);
  }

  async apply(
    manifest: KubeObject,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    const ref = refOf(manifest);
    const live = await this.#cluster.get(ref, { flow: options.flow }, signal);
    if (options.subresource === 'status')
      return { stored: unchanged(live, manifest), created: false };
    const isReplacement = this.#deleted.has(keyOf(ref));
    const result = isReplacement
      ? created(manifest)
      : await this.#dryRun(manifest, options, signal);
    const { object: after } = result.stored;
    if (manifest.kind === 'Namespace') this.#namespaces.add(manifest.metadata.name);
    const before = live?.object;
    const { fieldManager } = options;
    this.#writes.push({ kind: 'apply', manifest, fieldManager, before, after, isReplacement });
    return result;
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
    this.#writes.push({
      kind: 'apply',
      manifest,
      fieldManager,
      before,
      after,
      isReplacement: false,
    });
    return { object: after, appliedBy: [] };
  }

  async editMetadata(
    ref: ObjectRef,
    { uid, cached, change, flow }: EditMetadataOptions,
    signal: AbortSignal,
  ): Promise<StoredObject | undefined> {
    const live = cached ?? (await this.#cluster.get(ref, { flow }, signal))?.object;
    if (live === undefined || live.metadata.uid !== uid) return undefined;
    const patch = change(live.metadata);
    const type = this.#cluster.resourceFor(ref.gvk);
    if (patch === undefined || type === undefined) return undefined;
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
    return { object: after, appliedBy: [] };
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

  /** An object in a namespace that would be created first cannot be sent: its manifest stands for it. */
  async #dryRun(
    manifest: KubeObject,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
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

function withoutManagedFields({ metadata, ...object }: KubeObject): KubeObject {
  const { managedFields: _, ...kept } = metadata as KubeObject['metadata'] & {
    readonly managedFields?: unknown;
  };
  return { ...object, metadata: kept } as KubeObject;
}

function created(manifest: KubeObject): ApplyResult {
  const { uid: _, resourceVersion: __, ...metadata } = manifest.metadata;
  const object = { ...manifest, metadata: { ...metadata, uid: 'dry-run', resourceVersion: '1' } };
  return { stored: { object, appliedBy: [] }, created: true };
}

function unchanged(live: StoredObject | undefined, manifest: KubeObject): StoredObject {
  return live ?? { object: manifest, appliedBy: [] };
}

function refOf({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): ObjectRef {
  return { gvk: gvkOf(apiVersion, kind), name, ...(namespace !== undefined && { namespace }) };
}

function keyOf({ gvk, namespace = '', name }: ObjectRef): string {
  return `${gvkKey(gvk)} ${namespace}/${name}`;
}
