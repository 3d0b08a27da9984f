import {
  type ApplyOptions,
  type EditableMetadata,
  KubeError,
  type ManagedFieldsEntry,
  type MetadataPatch,
  type Reader,
  type Writer,
} from '#kube/roles.ts';
import { appliedAnnotation, managedByLabel } from '#reconcile';
import type { Clock } from '#util/clock.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  rejectedAnnotation,
  sourceLabel,
  sourceRefAnnotation,
  withdrawnAnnotation,
} from '#util/stored-names.ts';
import { definitionGvk, flowOf, passTokenOf } from '../objects/names.ts';
import { WriteRateLimiter } from '../objects/write-rate-limiter.ts';
import { controlAnnotations } from './definition-controls.ts';
import {
  lastAppliedAnnotation,
  type ManifestNote,
  noteAnnotations,
  noteManager,
  publishManager,
} from './publication.ts';

/** Limits writes when another client keeps changing an object. */
const writeLimits = { burst: 10, refillMs: 6_000 };

/** Writes published `OperatorDefinition` objects. */
export class ObjectWriter {
  readonly #cluster: Reader & Writer;
  readonly #limiter: WriteRateLimiter;

  constructor(cluster: Reader & Writer, clock: Clock) {
    this.#cluster = cluster;
    this.#limiter = new WriteRateLimiter(clock, writeLimits);
  }

  /** How long the next write of an object has to wait, in ms. */
  delayOf(name: string): number {
    return this.#limiter.delayOf(name);
  }

  /** Call when a manifest has changed: the next write is not delayed. */
  forget(name: string): void {
    this.#limiter.forget(name);
  }

  /**
   * Creates the object or updates it to the publication.
   * @throws KubeError
   */
  async publish(
    publication: KubeObject,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    // If two processes create it at the same time, one is rejected and reads the other's object.
    const guard = live === undefined ? { resourceVersion: '1' } : { uid: live.metadata.uid ?? '' };
    const manifest = { ...publication, metadata: { ...publication.metadata, ...guard } };
    return this.#apply(manifest, publishManager, signal);
  }

  /**
   * Writes a note about the manifest on the object.
   * @throws KubeError
   */
  note(live: KubeObject, note: ManifestNote, signal: AbortSignal): Promise<KubeObject> {
    const { apiVersion, kind, metadata } = live;
    const { name, uid = '' } = metadata;
    const annotations = noteAnnotations(note);
    return this.#apply(
      { apiVersion, kind, metadata: { name, uid, annotations } },
      noteManager,
      signal,
    );
  }

  /** Whether another field manager has written the definition. @throws KubeError */
  async hasOtherManagers(
    { metadata: { name } }: KubeObject,
    signal: AbortSignal,
  ): Promise<boolean> {
    const ref = { gvk: definitionGvk, name };
    const flow = flowOf(name);
    return isWrittenByOthers(
      await this.#cluster.managedFields(ref, { flow, pass: passTokenOf(name) }, signal),
    );
  }

  /** Converts the published object into a user's object. @throws KubeError */
  async handOver({ metadata: { name, uid = '' } }: KubeObject, signal: AbortSignal): Promise<void> {
    const options = {
      uid,
      flow: flowOf(name),
      pass: passTokenOf(name),
      change: handedOver,
    };
    await this.#cluster.editMetadata({ gvk: definitionGvk, name }, options, signal);
  }

  /** @throws KubeError */
  async delete({ metadata: { name, uid = '' } }: KubeObject, signal: AbortSignal): Promise<void> {
    try {
      // Not marked: the event that it is being deleted must follow.
      const options = { uid, flow: flowOf(name) };
      await this.#cluster.delete({ gvk: definitionGvk, name }, options, signal);
    } catch (error) {
      // The object was recreated; a watch event follows.
      if (!(error instanceof KubeError && error.code === 'uid-mismatch')) throw error;
    }
  }

  async #apply(
    manifest: KubeObject,
    fieldManager: string,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const { name } = manifest.metadata;
    this.#limiter.recordWrite(name);
    const options: ApplyOptions = {
      fieldManager,
      force: true,
      flow: flowOf(name),
      pass: passTokenOf(name),
    };
    const { stored } = await this.#cluster.apply(manifest, options, signal);
    return stored.object;
  }
}

/** Whether another field manager has written the definition, even with the same content. Pure. */
function isWrittenByOthers(owners: readonly ManagedFieldsEntry[]): boolean {
  return owners.some(
    ({ manager, subresource, fields }) =>
      manager !== publishManager && subresource === undefined && ownsSpec(fields),
  );
}

/** `spec` is atomic. A client-side apply of the same content owns only its annotation. */
function ownsSpec({
  'f:spec': spec,
  'f:metadata': metadata,
}: ManagedFieldsEntry['fields']): boolean {
  const annotations = isJsonObject(metadata) ? metadata['f:annotations'] : undefined;
  const note = isJsonObject(annotations) ? annotations[`f:${lastAppliedAnnotation}`] : undefined;
  return spec !== undefined || note !== undefined;
}

/** The patch that converts a published object into a user's object. Pure. */
function handedOver({ managedFields }: EditableMetadata): MetadataPatch {
  return {
    labels: { [sourceLabel]: null, [managedByLabel]: null },
    annotations: {
      [sourceRefAnnotation]: null,
      [rejectedAnnotation]: null,
      [withdrawnAnnotation]: null,
      ...Object.fromEntries(controlAnnotations.map((key) => [key, null])),
      [appliedAnnotation]: null,
    },
    // Otherwise the user's next apply would conflict with our field managers.
    ...(Array.isArray(managedFields) && {
      managedFields: managedFields.filter((entry) => !isOurs(entry)),
    }),
  };
}

function isOurs(entry: unknown): boolean {
  if (!isJsonObject(entry) || entry.operation !== 'Apply') return false;
  return entry.manager === publishManager || entry.manager === noteManager;
}
