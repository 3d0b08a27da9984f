import { createSchemaCompiler, type SchemaType } from '../../compile/index.ts';
import type { CrdDefinition, SourceMap } from '../../definition/index.ts';
import {
  type Informer,
  KubeError,
  type KubeErrorCode,
  type StoredObject,
} from '../../kube/roles.ts';
import {
  adoptedAnnotation,
  appliedHashOf,
  covers,
  definitionLabel,
  fieldManagerOf,
  managedByLabel,
  managedByValue,
  pathHash,
  prepare,
  stamped,
} from '../../reconcile/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { hubAnnotation, runtimeLabel } from '../objects/names.ts';
import type { Hub, RuntimeCluster } from '../runner-options.ts';
import { type CrdRejection, checkChange } from './check-change.ts';
import {
  acquireCrd,
  type CrdContext,
  crdFlowOf,
  crdGvk,
  isAdopted,
  isTerminating,
  ownershipConflict,
} from './crd-definition.ts';
import { whenEstablished, whenServed, whenSynced } from './wait-for-crd.ts';

interface InstallOptions extends CrdContext {
  /** Source map of the definition, for diagnostics. */
  readonly source: SourceMap;
  /** Allows breaking changes, for simulated clusters, like `crdPolicy.allowBreakingChanges`. @default false */
  readonly allowBreakingChanges?: boolean;
}

/** Errors of an apply when the CRD has changed since it was read. */
const conflictCodes: ReadonlySet<KubeErrorCode> = new Set([
  'already-exists',
  'conflict',
  'uid-mismatch',
]);

/**
 * Installs the definition's CRD and waits until it is established and served. Writes nothing if it is up to date. Changes a CRD without an
 * owner only with `crdPolicy.adopt`, and never one of another definition. Rejects breaking changes unless `crdPolicy.allowBreakingChanges`.
 * @returns why it cannot be installed; undefined: it is served
 * @throws KubeError when a request fails.
 */
export async function installCrd(
  options: InstallOptions,
  signal: AbortSignal,
): Promise<CrdRejection | undefined> {
  const { definition, cluster } = options;
  const name = definition.kind.crd.metadata.name;
  const crds = acquireCrd(cluster, name);
  try {
    await whenSynced(crds, signal);
    const found = crds.get(undefined, name)?.object;
    const before = schemaGeneration(found);
    // Its resources are being deleted, too; their finalizers still need this definition.
    const isOurs = found && ownershipConflict(found, definition, options.hub) === undefined;
    if (found !== undefined && isTerminating(found) && isOurs) return undefined;
    const obstacle = await applyWhereNeeded(crds, options, signal);
    if (obstacle !== undefined) return obstacle;
    const conflict = await whenEstablished(crds, name, signal);
    if (conflict !== undefined) return rejection(conflict);
    await whenServed(options, signal);
    const after = schemaGeneration(crds.get(undefined, name)?.object);
    if (after !== before) cluster.kindChanged(definition.kind.gvk);
    return undefined;
  } finally {
    crds.release();
  }
}

/**
 * Applies the definition's CRD as {@link installCrd} does, and does not wait until it is served.
 * @returns why it cannot be applied
 * @throws KubeError when a request fails.
 */
export async function applyCrd(
  options: InstallOptions,
  signal: AbortSignal,
): Promise<CrdRejection | undefined> {
  const { name } = options.definition.kind.crd.metadata;
  const query = { gvk: crdGvk, fieldSelector: `metadata.name=${name}` };
  const crds = options.cluster.acquire(query);
  try {
    await whenSynced(crds, signal);
    return await applyWhereNeeded(crds, options, signal);
  } finally {
    crds.release();
  }
}

async function applyWhereNeeded(
  crds: Informer,
  options: InstallOptions,
  signal: AbortSignal,
): Promise<CrdRejection | undefined> {
  const { definition, cluster, source, runtime, hub, allowBreakingChanges = false } = options;
  const name = definition.kind.crd.metadata.name;
  const schema = await cluster.fetchKindSchema(crdGvk, signal);
  const type = schema && createSchemaCompiler().compile(schema);
  // Two attempts: another client may create the CRD between the read and the create-only apply.
  for (let attempt = 0; attempt < 2; attempt++) {
    const live = crds.get(undefined, name);
    const intent = intentFor({ definition, type, live: live?.object, runtime, hub });
    if (live !== undefined) {
      const obstacle = checkLiveCrd(live.object, definition, hub);
      if (obstacle !== undefined) return obstacle;
      if (isUpToDate(intent, live, definition)) return undefined;
      const breaking = checkChange(live.object, definition, source);
      if (breaking !== undefined && !allowBreakingChanges) return breaking;
    }
    try {
      await sendIntent({ intent, live, definition, cluster }, signal);
      return undefined;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.code === 'rejected') return rejectedByServer(name, error);
      if (!conflictCodes.has(error.code)) throw error;
      await cluster.get({ gvk: crdGvk, name }, { flow: crdFlowOf(definition) }, signal);
    }
  }
  return rejection(`The CustomResourceDefinition "${name}" was just created by another client`);
}

/** Why the definition may not write the live CRD. Undefined: it may. */
function checkLiveCrd(
  live: KubeObject,
  definition: CrdDefinition,
  hub: CrdContext['hub'],
): CrdRejection | undefined {
  const conflict = ownershipConflict(live, definition, hub);
  if (conflict !== undefined) return rejection(conflict);
  // Installed again after the API server has deleted it with all its objects.
  if (isTerminating(live))
    return rejection(`The CustomResourceDefinition "${live.metadata.name}" is being deleted`);
  return undefined;
}

/** The API server rejects the CRD, whatever the definition's policy is. */
function rejectedByServer(name: string, { message }: KubeError): CrdRejection {
  return rejection(`The API server rejects the CustomResourceDefinition "${name}": ${message}`);
}

function rejection(message: string): CrdRejection {
  return { message, diagnostics: [] };
}

/** Changes when the CRD's spec changes, not with labels or annotations. Undefined: no CRD. */
function schemaGeneration(crd: KubeObject | undefined): string | undefined {
  return crd && `${crd.metadata.uid} ${crd.metadata.generation}`;
}

/** The desired CRD, ready to compare and send. */
interface CrdIntent {
  readonly manifest: KubeObject;
  readonly hash: string;
  readonly type: SchemaType | undefined;
}

export interface IntentOptions {
  readonly definition: CrdDefinition;
  /** Schema type of CustomResourceDefinition. */
  readonly type: SchemaType | undefined;
  /** The live CRD. */
  readonly live: KubeObject | undefined;
  /** Name of this runtime, as a label value. @default undefined: unnamed */
  readonly runtime?: string | undefined;
  /** Set if the cluster is a member. @default undefined: it is the hub */
  readonly hub?: Pick<Hub, 'uid'> | undefined;
}

/** Returns the desired CRD with Homeostat's labels. */
export function intentFor({ definition, type, live, runtime, hub }: IntentOptions): CrdIntent {
  const { crd } = definition.kind;
  const labels = {
    ...crd.metadata.labels,
    [managedByLabel]: managedByValue,
    [definitionLabel]: definition.name,
    ...(runtime !== undefined && { [runtimeLabel]: runtime }),
  };
  const annotations = {
    ...crd.metadata.annotations,
    ...(hub !== undefined && { [hubAnnotation]: hub.uid }),
    ...(live !== undefined && isAdopted(live) && { [adoptedAnnotation]: 'true' }),
  };
  const owned = { ...crd, metadata: { ...crd.metadata, labels, annotations } };
  const manifest = prepare(owned, type, { hasStatus: true });
  return { manifest, hash: pathHash(manifest, type), type };
}

/** Whether an apply would change nothing. Uses the same three checks as for a child. */
export function isUpToDate(
  { manifest, hash, type }: CrdIntent,
  live: StoredObject,
  definition: CrdDefinition,
): boolean {
  return (
    live.appliedBy.includes(fieldManagerOf(definition.name)) &&
    appliedHashOf(live.object) === hash &&
    covers(manifest, live.object, type)
  );
}

interface SentIntent {
  readonly intent: CrdIntent;
  readonly live: StoredObject | undefined;
  readonly definition: CrdDefinition;
  readonly cluster: RuntimeCluster;
}

/**
 * Creates the CRD, or updates exactly the live one.
 * @throws KubeError
 */
export async function sendIntent(
  { intent, live, definition, cluster }: SentIntent,
  signal: AbortSignal,
): Promise<void> {
  const guard =
    live === undefined ? { resourceVersion: '1' } : { uid: live.object.metadata.uid ?? '' };
  const sent = stamped(intent.manifest, intent.hash);
  const manifest = { ...sent, metadata: { ...sent.metadata, ...guard } };
  // Forced: the definition owns the CRD alone.
  await cluster.apply(
    manifest,
    { fieldManager: fieldManagerOf(definition.name), force: true, flow: crdFlowOf(definition) },
    signal,
  );
}
