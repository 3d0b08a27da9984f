import { createSchemaCompiler } from '../../compile/index.ts';
import type { Diagnostic, SourceMap } from '../../definition/index.ts';
import { type Informer, KubeError, type KubeErrorCode } from '../../kube/roles.ts';
import type { GroupKind } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { checkChange } from './check-change.ts';
import { type CrdContext, type CrdDefinition, crdFlowOf } from './crd-definition.ts';
import { applyCrd, intentFor, isAsWanted } from './crd-intent.ts';
import { isGoing, whyNotOurs } from './crd-owner.ts';
import { formerKindsOf } from './former-kinds.ts';
import { crdGvk } from './stored-kind.ts';
import { whenEstablished, whenServed, whenUsable } from './when-crd.ts';

export interface InstallOptions extends CrdContext {
  /** Of the definition, to say where it stands what is in the way. */
  readonly source: SourceMap;
  /** Is nothing lost where a change breaks what is stored (a world of samples)? As `crdPolicy.allowBreakingChanges`. @default false */
  readonly breaksStored?: boolean;
}

/** A CRD that may not be installed: a state to report, not a failure to retry blindly. */
export type InstallResult =
  | {
      readonly kind: 'served';
      /** Kinds that the definition has had children of and has no more: what is left of them is to go. */
      readonly formerKinds: readonly GroupKind[];
    }
  | {
      readonly kind: 'refused';
      readonly message: string;
      /** What of the definition is in the way, where that can be said. */
      readonly diagnostics: readonly Diagnostic[];
    };

/** The CRD is not what the look before the apply has shown. */
const movedOn: ReadonlySet<KubeErrorCode> = new Set(['already-exists', 'conflict', 'uid-mismatch']);

/**
 * Brings the definition's CRD to the server (nothing is written when it is there as wanted) and waits until it is established and served.
 * A CRD that is not ours is touched only with `crdPolicy.adopt`; one of another definition never. A change that may break what is stored
 * is refused unless `crdPolicy.allowBreakingChanges`.
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
    const before = schemaStateOf(found);
    const formerKinds = formerKindsOf(definition, found);
    // Its resources go with it, and wait for us where they have our finalizer.
    if (found !== undefined && isGoing(found) && whyNotOurs(found, definition) === undefined) {
      return { kind: 'served', formerKinds };
    }
    const obstacle = await bringAbout(crds, options, signal);
    if (obstacle !== undefined) return { kind: 'refused', ...obstacle };
    const clash = await whenEstablished(crds, name, signal);
    if (clash !== undefined) return { kind: 'refused', ...told(clash) };
    await whenServed(options, signal);
    const after = schemaStateOf(crds.get(undefined, name)?.object);
    if (after !== before) cluster.kindChanged(definition.kind.gvk);
    return { kind: 'served', formerKinds };
  } finally {
    crds.release();
  }
}

/** Why the CRD may not be installed. */
interface Obstacle {
  readonly message: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** Applies the CRD where needed; the reason when it may not be. */
async function bringAbout(
  crds: Informer,
  options: InstallOptions,
  signal: AbortSignal,
): Promise<Obstacle | undefined> {
  const { definition, cluster, source, breaksStored = false } = options;
  const name = definition.kind.crd.metadata.name;
  const schema = await cluster.fetchKindSchema(crdGvk, signal);
  const type = schema && createSchemaCompiler().compile(schema);
  // Twice: somebody may create it between the look and the create-only apply.
  for (let attempt = 0; attempt < 2; attempt++) {
    const live = crds.get(undefined, name);
    const former = formerKindsOf(definition, live?.object);
    const intent = intentFor({ definition, type, live: live?.object, former });
    if (live !== undefined) {
      const obstacle = obstacleOf(live.object, definition);
      if (obstacle !== undefined) return obstacle;
      if (isAsWanted(intent, live, definition)) return undefined;
      const breaking = checkChange(live.object, definition, source);
      if (breaking !== undefined && !breaksStored) return breaking;
    }
    try {
      await applyCrd({ intent, live, definition, cluster }, signal);
      return undefined;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.code === 'rejected') return rejected(name, error);
      if (!movedOn.has(error.code)) throw error;
      await cluster.get({ gvk: crdGvk, name }, { flow: crdFlowOf(definition) }, signal);
    }
  }
  return told(`The CustomResourceDefinition "${name}" was created by somebody else just now`);
}

function obstacleOf(live: KubeObject, definition: CrdDefinition): Obstacle | undefined {
  const refusal = whyNotOurs(live, definition);
  if (refusal !== undefined) return told(refusal);
  // Until the server has removed all its objects; then it is installed again.
  if (isGoing(live))
    return told(`The CustomResourceDefinition "${live.metadata.name}" is being deleted`);
  return undefined;
}

/** What the server refuses it refuses whatever the definition's policy says. */
function rejected(name: string, { message }: KubeError): Obstacle {
  return told(`The API server refuses the CustomResourceDefinition "${name}": ${message}`);
}

function told(message: string): Obstacle {
  return { message, diagnostics: [] };
}

/** Changes with what the server serves, not with our notes on the CRD. Undefined: there is none. */
function schemaStateOf(crd: KubeObject | undefined): string | undefined {
  return crd && `${crd.metadata.uid} ${crd.metadata.generation}`;
}
