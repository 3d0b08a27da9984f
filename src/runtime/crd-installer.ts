import { createSchemaCompiler, type SchemaType } from '../compile/index.ts';
import type { CrdKind, OperatorDefinition } from '../definition/index.ts';
import { type Informer, KubeError, type KubeErrorCode, type StoredObject } from '../kube/roles.ts';
import {
  appliedHashOf,
  childKindsAnnotation,
  covers,
  definitionLabel,
  fieldManagerOf,
  kindsText,
  kindText,
  managedByLabel,
  managedByValue,
  parseKinds,
  pathHash,
  prepare,
  settled,
  stamped,
} from '../reconcile/index.ts';
import type { Clock } from '../util/clock.ts';
import type { GroupKind } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import type { RuntimeCluster } from './runtime-cluster.ts';
import { crdGvk } from './stored-kind.ts';

/** A definition that brings its kind with it. */
export interface CrdDefinition extends OperatorDefinition {
  readonly kind: CrdKind;
}

export interface InstallOptions {
  readonly definition: CrdDefinition;
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
}

/** A CRD that may not be installed: a state to report, not a failure to retry blindly. */
export type InstallResult =
  | {
      readonly kind: 'served';
      /** Kinds that the definition has had children of and has no more: what is left of them is to go. */
      readonly formerKinds: readonly GroupKind[];
    }
  | { readonly kind: 'refused'; readonly message: string };

/** Does the definition bring its kind with it, or work on one that is there (`for`)? */
export function bringsCrd(definition: OperatorDefinition): definition is CrdDefinition {
  return definition.kind.source === 'crd';
}

/** The CRD is not what the look before the apply has shown. */
const movedOn: ReadonlySet<KubeErrorCode> = new Set(['already-exists', 'conflict', 'uid-mismatch']);
/** How often a new kind is asked for until every part of the server serves it. */
const servedPollMs = 100;

/**
 * Brings the definition's CRD to the server (nothing is written when it is there as wanted) and waits until it is established and served.
 * A CRD that is not ours is touched only with `crdPolicy.adopt`; one of another definition never.
 * @throws KubeError when the server refuses or cannot be asked.
 */
export async function installCrd(
  options: InstallOptions,
  signal: AbortSignal,
): Promise<InstallResult> {
  const { definition, cluster } = options;
  const name = definition.kind.crd.metadata.name;
  const crds = cluster.acquire({ gvk: crdGvk, fieldSelector: `metadata.name=${name}` });
  try {
    await whenUsable(crds, signal);
    const found = crds.get(undefined, name)?.object;
    const before = found?.metadata.resourceVersion;
    const formerKinds = formerKindsOf(definition, found);
    // Its resources go with it, and wait for us where they have our finalizer.
    if (found !== undefined && isGoing(found) && refusalOf(found, definition) === undefined) {
      return { kind: 'served', formerKinds };
    }
    const refusal = await bringAbout(crds, options, signal);
    if (refusal !== undefined) return { kind: 'refused', message: refusal };
    const clash = await whenEstablished(crds, name, signal);
    if (clash !== undefined) return { kind: 'refused', message: clash };
    await whenServed(options, signal);
    const after = crds.get(undefined, name)?.object.metadata.resourceVersion;
    if (after !== before) cluster.kindChanged(definition.kind.gvk);
    return { kind: 'served', formerKinds };
  } finally {
    crds.release();
  }
}

/**
 * Notes that nothing is left of these kinds: they are not looked at any more. One write, after a change of the definition.
 * @throws KubeError
 */
export async function forgetFormerKinds(
  { definition, cluster }: InstallOptions,
  left: readonly GroupKind[],
  signal: AbortSignal,
): Promise<void> {
  const ref = { gvk: crdGvk, name: definition.kind.crd.metadata.name };
  const live = await cluster.get(ref, { flow: flowOf(definition) }, signal);
  if (live === undefined || refusalOf(live.object, definition) !== undefined) return;
  const schema = await cluster.fetchKindSchema(crdGvk, signal);
  const type = schema && createSchemaCompiler().compile(schema);
  const intent = intentFor(definition, type, left);
  if (!isAsWanted(intent, live, definition))
    await apply({ intent, live, definition, cluster }, signal);
}

/** What the CRD has on record beyond the definition. */
function formerKindsOf(
  definition: CrdDefinition,
  live: KubeObject | undefined,
): readonly GroupKind[] {
  const current = new Set(childKindsOf(definition).map(kindText));
  const recorded = parseKinds(live?.metadata.annotations?.[childKindsAnnotation]);
  return recorded.filter((kind) => !current.has(kindText(kind)));
}

function childKindsOf({ children, onDelete }: CrdDefinition): readonly GroupKind[] {
  return [...children, ...(onDelete?.children ?? [])].map(({ gvk }) => gvk);
}

/** Applies the CRD where needed; the reason when it may not be touched. */
async function bringAbout(
  crds: Informer,
  { definition, cluster }: InstallOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const name = definition.kind.crd.metadata.name;
  const schema = await cluster.fetchKindSchema(crdGvk, signal);
  const type = schema && createSchemaCompiler().compile(schema);
  const former = formerKindsOf(definition, crds.get(undefined, name)?.object);
  const intent = intentFor(definition, type, former);
  // Twice: somebody may create it between the look and the create-only apply.
  for (let attempt = 0; attempt < 2; attempt++) {
    const live = crds.get(undefined, name);
    const refusal = live === undefined ? undefined : refusalOf(live.object, definition);
    if (refusal !== undefined) return refusal;
    // Until the server has removed all its objects; then it is installed again.
    if (live !== undefined && isGoing(live.object))
      return `The CustomResourceDefinition "${name}" is being deleted`;
    if (live !== undefined && isAsWanted(intent, live, definition)) return undefined;
    try {
      await apply({ intent, live, definition, cluster }, signal);
      return undefined;
    } catch (error) {
      if (!(error instanceof KubeError) || !movedOn.has(error.code)) throw error;
      await cluster.get({ gvk: crdGvk, name }, { flow: flowOf(definition) }, signal);
    }
  }
  return `The CustomResourceDefinition "${name}" was created by somebody else just now`;
}

interface CrdApply {
  readonly intent: CrdIntent;
  readonly live: StoredObject | undefined;
  readonly definition: CrdDefinition;
  readonly cluster: RuntimeCluster;
}

async function apply({ intent, live, definition, cluster }: CrdApply, signal: AbortSignal) {
  const guard =
    live === undefined ? { resourceVersion: '1' } : { uid: live.object.metadata.uid ?? '' };
  const sent = stamped(intent.manifest, intent.hash);
  const manifest = { ...sent, metadata: { ...sent.metadata, ...guard } };
  // Forced: a CRD that we may touch is ours alone to define.
  await cluster.apply(
    manifest,
    { fieldManager: fieldManagerOf(definition.name), force: true, flow: flowOf(definition) },
    signal,
  );
}

interface CrdIntent {
  readonly manifest: KubeObject;
  readonly hash: string;
  readonly type: SchemaType | undefined;
}

/** The CRD with our labels and the kinds on record, prepared to be compared and sent. */
function intentFor(
  definition: CrdDefinition,
  type: SchemaType | undefined,
  former: readonly GroupKind[],
): CrdIntent {
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
  };
  const owned = { ...crd, metadata: { ...crd.metadata, labels, annotations } };
  const manifest = prepare(owned, type, { hasStatus: true });
  return { manifest, hash: pathHash(manifest, type), type };
}

/** Would an apply change nothing? The same three questions as for a child. */
function isAsWanted(
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

function isGoing(live: KubeObject): boolean {
  return live.metadata.deletionTimestamp !== undefined;
}

function refusalOf(live: KubeObject, definition: CrdDefinition): string | undefined {
  const owner = live.metadata.labels?.[definitionLabel];
  if (owner === definition.name) return undefined;
  const name = live.metadata.name;
  if (owner !== undefined) {
    return `The CustomResourceDefinition "${name}" belongs to the definition "${owner}"`;
  }
  if (definition.kind.crdPolicy.adopt) return undefined;
  return `The CustomResourceDefinition "${name}" exists and is not ours; "crdPolicy: { adopt: true }" takes it over`;
}

/** Resolves when the informer is synced. @throws KubeError when it cannot (no right to list CRDs, say): whoever waits should hear of it. */
async function whenUsable(informer: Informer, signal: AbortSignal): Promise<void> {
  await settled(informer, signal);
  if (informer.state.kind === 'failing') throw informer.state.error;
}

/**
 * Resolves, with the reason, when the CRD that was installed is gone or no longer the definition's: its controller must stop then, as
 * what it would work on is not what it was written for. While it is being deleted its resources are, and may wait for us. Rejects
 * when the signal aborts.
 */
export async function whenCrdLost(
  { definition, cluster }: InstallOptions,
  signal: AbortSignal,
): Promise<string> {
  const { name } = definition.kind.crd.metadata;
  const crds = cluster.acquire({ gvk: crdGvk, fieldSelector: `metadata.name=${name}` });
  try {
    await crds.whenSynced(signal);
    return await firstOf(crds, signal, () => {
      const live = crds.get(undefined, name)?.object;
      if (live === undefined) return `The CustomResourceDefinition "${name}" is gone`;
      return refusalOf(live, definition);
    });
  } finally {
    crds.release();
  }
}

/** Resolves when the CRD is established; with the reason when its names are taken. */
async function whenEstablished(
  crds: Informer,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { clash } = await firstOf(crds, signal, () => {
    const live = crds.get(undefined, name)?.object;
    if (live === undefined) return undefined;
    const accepted = conditionOf(live, 'NamesAccepted');
    if (accepted?.status === 'False')
      return { clash: `Names of "${name}" are taken: ${accepted.message}` };
    const isEstablished = conditionOf(live, 'Established')?.status === 'True';
    return isEstablished ? { clash: undefined } : undefined;
  });
  return clash;
}

/** The first answer that `look` gives, now or after a change in the informer. */
function firstOf<T>(
  informer: Informer,
  signal: AbortSignal,
  look: () => T | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let unsubscribe = () => {};
    const end = (finish: () => void) => {
      signal.removeEventListener('abort', onAbort);
      unsubscribe();
      finish();
    };
    const onAbort = () => end(() => reject(signal.reason));
    const check = () => {
      const answer = look();
      if (answer !== undefined) end(() => resolve(answer));
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    unsubscribe = informer.subscribe(check);
    // Also once by hand: subscribing to an empty informer delivers nothing, and an answer given while subscribing came before `unsubscribe`.
    check();
  });
}

/** Established is not yet served: discovery and the other servers follow a little later. */
async function whenServed({ definition, cluster, clock }: InstallOptions, signal: AbortSignal) {
  const { gvk } = definition.kind;
  while ((await cluster.lookUp(gvk, signal)) === undefined) await clock.sleep(servedPollMs, signal);
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
}

function conditionOf(object: KubeObject, type: string): Condition | undefined {
  const status = object.status as { readonly conditions?: readonly Condition[] } | undefined;
  return status?.conditions?.find((condition) => condition.type === type);
}

function flowOf(definition: CrdDefinition) {
  return { name: definition.name, priority: 'world' } as const;
}
