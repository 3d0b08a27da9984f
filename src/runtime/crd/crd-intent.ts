import type { SchemaType } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import {
  adoptedAnnotation,
  appliedHashOf,
  childKindsAnnotation,
  covers,
  definitionLabel,
  fieldManagerOf,
  kindsText,
  managedByLabel,
  managedByValue,
  pathHash,
  prepare,
  stamped,
} from '../../reconcile/index.ts';
import type { GroupKind } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { RuntimeCluster } from '../runtime-cluster.ts';
import { type CrdDefinition, crdFlowOf } from './crd-definition.ts';
import { isAdopted } from './crd-owner.ts';
import { childKindsOf } from './former-kinds.ts';

/** A CRD as it is to be, ready to be compared and sent. */
export interface CrdIntent {
  readonly manifest: KubeObject;
  readonly hash: string;
  readonly type: SchemaType | undefined;
}

export interface IntentOptions {
  readonly definition: CrdDefinition;
  /** Of the kind of all CRDs. */
  readonly type: SchemaType | undefined;
  /** As the server has it. */
  readonly live: KubeObject | undefined;
  /** Kinds that stay on record beside those of the definition. */
  readonly former: readonly GroupKind[];
}

/** The CRD with our labels and what it has on record. */
export function intentFor({ definition, type, live, former }: IntentOptions): CrdIntent {
  const { crd } = definition.kind;
  const labels = {
    ...crd.metadata.labels,
    [managedByLabel]: managedByValue,
    [definitionLabel]: definition.name,
  };
  const kinds = kindsText([...childKindsOf(definition), ...former]);
  const annotations = {
    ...crd.metadata.annotations,
    ...(kinds !== '' && { [childKindsAnnotation]: kinds }),
    ...(live !== undefined && isAdopted(live) && { [adoptedAnnotation]: 'true' }),
  };
  const owned = { ...crd, metadata: { ...crd.metadata, labels, annotations } };
  const manifest = prepare(owned, type, { hasStatus: true });
  return { manifest, hash: pathHash(manifest, type), type };
}

/** Would an apply change nothing? The same three questions as for a child. */
export function isAsWanted(
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

export interface CrdApply {
  readonly intent: CrdIntent;
  readonly live: StoredObject | undefined;
  readonly definition: CrdDefinition;
  readonly cluster: RuntimeCluster;
}

/** Creates the CRD where it was not there, else changes that very one. @throws KubeError */
export async function applyCrd(
  { intent, live, definition, cluster }: CrdApply,
  signal: AbortSignal,
): Promise<void> {
  const guard =
    live === undefined ? { resourceVersion: '1' } : { uid: live.object.metadata.uid ?? '' };
  const sent = stamped(intent.manifest, intent.hash);
  const manifest = { ...sent, metadata: { ...sent.metadata, ...guard } };
  // Forced: a CRD that we may touch is ours alone to define.
  await cluster.apply(
    manifest,
    { fieldManager: fieldManagerOf(definition.name), force: true, flow: crdFlowOf(definition) },
    signal,
  );
}
