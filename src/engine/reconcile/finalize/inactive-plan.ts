import type { OperatorPlan, Phase } from '#compile';
import { resolveController, type ServedKind, type ServedNamespaces } from '#definition';
import type { GroupKind } from '#util/gvk.ts';

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
      controller: { ...resolveController({}), ...(namespaces && { namespaces }) },
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
  kind: nothingToRender,
  manifest: nothingToRender,
  name: nothingToRender,
  ready: nothingToRender,
  gate: nothingToRender,
  deleteWhen: nothingToRender,
  deletionTime: nothingToRender,
  status: nothingToRender,
};
