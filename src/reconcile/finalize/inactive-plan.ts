import type { OperatorPlan, Phase } from '../../compile/index.ts';
import type { ServedKind, ServedNamespaces } from '../../definition/index.ts';
import type { GroupKind } from '../../util/gvk.ts';

/** A definition without a plan. */
export interface InactivePlanOptions {
  /** Its name. */
  readonly name: string;
  /** The kind that it serves or served; its schema is not needed. */
  readonly kind: ServedKind;
  /** The namespaces of this runtime; another runtime may serve others. @default everywhere */
  readonly namespaces?: ServedNamespaces;
  /** The recorded kinds of its children: only these are searched. @default undefined: no record; the inventory of each resource names kinds */
  readonly recordedKinds?: readonly GroupKind[] | undefined;
}

/** The plan of a definition that is broken or deleted: it desires nothing and only completes deletions, from labels and inventory. */
export function inactivePlan({ name, kind, namespaces }: InactivePlanOptions): OperatorPlan {
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
    // The origin of the content is unknown.
    secrecy: 'content',
    reads: [],
    observed: [],
    children: [],
    tiers: [],
    needsFinalizer: true,
    statusPathsRead: [],
    externalStatusPathsRead: [],
    startPhase: () => emptyPhase,
  } satisfies OperatorPlan);
}

function nothingToRender(): never {
  throw new Error('A broken definition renders nothing');
}

const emptyPhase: Phase = {
  setChild: nothingToRender,
  setRead: nothingToRender,
  setObserved: nothingToRender,
  readRequest: nothingToRender,
  when: nothingToRender,
  elements: nothingToRender,
  cluster: nothingToRender,
  manifest: nothingToRender,
  name: nothingToRender,
  ready: nothingToRender,
  deleteWhen: nothingToRender,
  status: nothingToRender,
};
