import type { SchemaType } from '../../compile/index.ts';
import type { CrdDefinition } from '../../definition/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
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
import { crdFlowOf, isAdopted } from './crd-definition.ts';

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
