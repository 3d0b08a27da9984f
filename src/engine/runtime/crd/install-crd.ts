import { crdDiagnostics } from '#check';
import { createSchemaCompiler } from '#compile';
import type { CrdDefinition, Diagnostic, SourceMap } from '#definition';
import { type Informer, KubeError } from '#kube/roles.ts';
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
} from '#reconcile';
import type { KubeObject } from '#util/kube-object.ts';
import { hubAnnotation, runtimeLabel } from '#util/stored-names.ts';
import { type CrdRejection, checkChange } from './check-change.ts';
import { type ConversionTarget, targetOf } from './conversion/conversion-target.ts';
import { provenShape } from './conversion/staged-crd.ts';
import {
  acquireCrd,
  type CrdContext,
  type CrdListener,
  crdFlowOf,
  crdGvk,
  isAdopted,
  isTerminating,
  ownCrd,
  ownershipConflict,
} from './crd-definition.ts';
import { releaseCaBundle } from './release-ca-bundle.ts';
import { losesRules, removedVersions, renameFieldVersions } from './rename-field-versions.ts';
import { whenEstablished, whenServed, withSynced } from './wait-for-crd.ts';

interface InstallOptions extends CrdContext, CrdListener {
  /** Source map of the definition, for diagnostics. */
  readonly source: SourceMap;
  /** Allows breaking changes, for simulated clusters, like `crdPolicy.allowBreakingChanges`. @default false */
  readonly allowBreakingChanges?: boolean;
  /** Called with what breaks when a breaking change was installed, as allowed. @default not reported */
  readonly onBreakingChange?: (broken: readonly Diagnostic[]) => void;
  /** Where the API server has objects converted. @default undefined: nowhere */
  readonly conversion?: ConversionTarget | undefined;
  /** Namespace of the runtime. @default 'default' */
  readonly namespace?: string | undefined;
  /** Called with the current step. @default not reported */
  readonly onStep?: (message: string) => void;
}

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
  const { definition, cluster, onCrd } = options;
  const { name } = definition.kind.crd.metadata;
  return withSynced(acquireCrd(cluster, name), signal, async (crds) => {
    const report = () => onCrd?.(ownCrd(crds.get(undefined, name)?.object, options));
    report();
    const unsubscribe = crds.subscribe(report);
    try {
      return await installSynced(crds, options, signal);
    } finally {
      unsubscribe();
    }
  });
}

async function installSynced(
  crds: Informer,
  options: InstallOptions,
  signal: AbortSignal,
): Promise<CrdRejection | undefined> {
  const { definition, cluster, hub } = options;
  const { name } = definition.kind.crd.metadata;
  const found = crds.get(undefined, name)?.object;
  const before = schemaGeneration(found);
  const beforeRemoval = (live: KubeObject) => prepareRemoval(live, options, signal);
  // Its resources are being deleted, too; their finalizers still need this definition.
  const isOurs = found && ownershipConflict(found, definition, hub) === undefined;
  if (found !== undefined && isTerminating(found) && isOurs) return undefined;
  const apply = (shape?: CrdShape) =>
    applyWhereNeeded(crds, { ...options, shape, prepareChange: beforeRemoval }, signal);
  const restore = (shape: CrdShape) =>
    applyWhereNeeded(crds, { ...options, shape, isRestored: true }, signal);
  const { conversions } = definition;
  const obstacle =
    conversions === undefined
      ? await apply()
      : await (await loadConverted())({ ...options, crds, apply, restore }, conversions, signal);
  if (obstacle !== undefined) return obstacle;
  const conflict = await whenEstablished(crds, name, signal);
  if (conflict !== undefined) return rejection(conflict);
  await whenServed(options, signal);
  const { gvk } = definition.kind;
  const after = schemaGeneration(crds.get(undefined, name)?.object);
  if (before === undefined) cluster.kindCreated(gvk);
  else if (after !== before) cluster.kindChanged(gvk);
  return undefined;
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
  const { definition, cluster } = options;
  const { conversions } = definition;
  const shape: CrdShape | undefined =
    conversions &&
    ((crd, live) => provenShape(conversions, options.conversion ?? targetOf(live))(crd, live));
  return withSynced(acquireCrd(cluster, definition.kind.crd.metadata.name), signal, (crds) =>
    applyWhereNeeded(crds, { ...options, shape }, signal),
  );
}

/** Definitions without `conversions` do not load the converter. */
async function loadConverted() {
  return (await import('./conversion/install-converted.ts')).installConverted;
}

/** A CRD as a feature wants it, from that of the definition. Its last form must not break resources. */
type CrdShape = (crd: KubeObject, live: KubeObject | undefined) => KubeObject;

interface ApplyCrdOptions extends InstallOptions {
  /** @default the CRD of the definition */
  readonly shape?: CrdShape | undefined;
  /** Whether stored resources are known to work with it. @default false: a change that breaks them is rejected */
  readonly isRestored?: boolean;
  readonly prepareChange?: (live: KubeObject) => Promise<CrdRejection | undefined>;
}

async function applyWhereNeeded(
  crds: Informer,
  options: ApplyCrdOptions,
  signal: AbortSignal,
): Promise<CrdRejection | undefined> {
  const { definition, cluster, source, hub, allowBreakingChanges = false } = options;
  const { shape = (crd) => crd, prepareChange, isRestored = false } = options;
  const { name } = definition.kind.crd.metadata;
  const fieldManager = fieldManagerOf(definition.name);
  const schema = await cluster.fetchKindSchema(crdGvk, signal);
  const type = schema && createSchemaCompiler().compile(schema);
  const live = crds.get(undefined, name);
  const owned = shape(ownedCrd(options, live?.object), live?.object);
  const manifest = prepare(owned, type, { hasStatus: true });
  const hash = pathHash(manifest, type);
  let broken: readonly Diagnostic[] | undefined;
  if (live !== undefined) {
    const obstacle = checkLiveCrd(live.object, definition, hub);
    if (obstacle !== undefined) return obstacle;
    // The same three checks as for a child.
    const isApplied = live.appliedBy.includes(fieldManager) && appliedHashOf(live.object) === hash;
    if (isApplied && covers(manifest, live.object, type)) return undefined;
    const isAllowed = allowBreakingChanges || definition.kind.crdPolicy.allowBreakingChanges;
    if (!isRestored) {
      const check = checkChange(live.object, owned, { definition, source, isAllowed });
      if (check.obstacle !== undefined) return check.obstacle;
      broken = check.allowed;
    }
    const unprepared = await prepareChange?.(live.object);
    if (unprepared !== undefined) return unprepared;
    await releaseCaBundle(manifest, live.object, options, signal);
  }
  // Creates the CRD, or updates exactly the live one.
  const guard =
    live === undefined ? { resourceVersion: '1' } : { uid: live.object.metadata.uid ?? '' };
  const sent = stamped(manifest, hash);
  try {
    // Forced: the definition owns the CRD alone.
    await cluster.apply(
      { ...sent, metadata: { ...sent.metadata, ...guard } },
      { fieldManager, force: true, flow: crdFlowOf(definition) },
      signal,
    );
    if (broken !== undefined) options.onBreakingChange?.(broken);
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'rejected') throw error;
    // Whatever the definition's policy is.
    const which = `The API server rejects the CustomResourceDefinition "${name}"`;
    return {
      message: `${which}: ${error.message}`,
      diagnostics: crdDiagnostics(named(error), source),
    };
  }
}

/** The causes of a rejection that name a field of the CRD. */
function named({ causes }: KubeError): KubeError['causes'] {
  return causes.filter(({ field }) => field?.replace(/^\./, '').startsWith('spec') === true);
}

/** Resources must not name a version that is removed. */
async function prepareRemoval(
  live: KubeObject,
  options: InstallOptions,
  signal: AbortSignal,
): Promise<CrdRejection | undefined> {
  const removed = removedVersions(live, options);
  if (removed.length === 0 && !losesRules(live, options)) return undefined;
  const names = removed.map((name) => `"${name}"`).join(', ');
  options.onStep?.(
    removed.length === 0
      ? 'Removing preserved values from its resources'
      : `Renaming fields of version ${names} in its resources`,
  );
  return renameFieldVersions(options, { live, removed }, signal);
}

/** The definition's CRD with Homeostat's labels and annotations. */
function ownedCrd(
  { definition, runtime, hub }: InstallOptions,
  live: KubeObject | undefined,
): KubeObject {
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
  return { ...crd, metadata: { ...crd.metadata, labels, annotations } };
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

function rejection(message: string): CrdRejection {
  return { message, diagnostics: [] };
}

/** Changes when the CRD's spec changes, not with labels or annotations. Undefined: no CRD. */
function schemaGeneration(crd: KubeObject | undefined): string | undefined {
  return crd && `${crd.metadata.uid} ${crd.metadata.generation}`;
}
