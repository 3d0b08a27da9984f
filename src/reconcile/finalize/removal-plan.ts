import type { OperatorPlan, Phase } from '../../compile/index.ts';
import type { ServedKind, ServedNamespaces } from '../../definition/index.ts';
import type { GroupKind } from '../../util/gvk.ts';

/** A definition of which no plan can be made: what is known of it all the same. */
export interface FinishedDefinition {
  /** Its name. */
  readonly name: string;
  /** The kind that it serves or has served; nothing of it is installed. */
  readonly kind: ServedKind;
  /** Where it works; elsewhere another runtime may, with a better text. @default everywhere */
  readonly namespaces?: ServedNamespaces;
  /**
   * Kinds that are on record of it: children are looked for in no others. @default undefined: there is no record, and each resource says
   * for itself in which
   */
  readonly recordedKinds?: readonly GroupKind[] | undefined;
  /**
   * Another process may run the definition, which would write the status over and over: nothing is written into that of resources.
   * @default false
   */
  readonly isQuiet?: boolean;
}

/**
 * The plan of a definition that is broken or gone: it wants nothing, so that all it ever does is to bring deletions to their end, from
 * labels and inventory alone.
 */
export function removalPlan({ name, kind, namespaces }: FinishedDefinition): OperatorPlan {
  return Object.freeze({
    name,
    revision: '',
    definition: {
      name,
      revision: '',
      kind,
      vars: {},
      reads: [],
      children: [],
      status: {},
      controller: {
        ...(namespaces && { namespaces }),
        concurrency: 10,
        resyncMs: 36_000_000,
        retry: { initialMs: 5, maxMs: 1_000_000, permanentMs: 600_000 },
        rollout: { perSecond: 50, stopAfterFailures: 10, maxDeletions: 10 },
        limits: { steps: 1_000_000, memoryBytes: 67_108_864, cpuMs: 1_000 },
      },
      removalPolicy: 'Retain',
    },
    scope: kind.scope,
    resourceType: { kind: 'any', builtIn: false, keepsNull: false, atomic: false },
    // Nobody can say what was written into it.
    secrecy: 'content',
    reads: [],
    observed: [],
    children: [],
    tiers: [],
    isFinalizing: true,
    statusPathsRead: [],
    foreignPathsRead: [],
    startPhase: () => emptyPhase,
  } satisfies OperatorPlan);
}

function nothingToRender(): never {
  throw new Error('A definition that is broken renders nothing');
}

const emptyPhase: Phase = {
  setChild: nothingToRender,
  setRead: nothingToRender,
  setObserved: nothingToRender,
  readRequest: nothingToRender,
  wanted: nothingToRender,
  elements: nothingToRender,
  manifest: nothingToRender,
  name: nothingToRender,
  ready: nothingToRender,
  mayGo: nothingToRender,
  status: nothingToRender,
};
