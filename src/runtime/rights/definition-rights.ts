import type { ChildPlan, OperatorPlan } from '../../compile/index.ts';
import type { ServedKind } from '../../definition/index.ts';
import { apiVersionOf, type Gvk } from '../../util/gvk.ts';
import { type AccessRule, type MergedRule, mergeRules } from './access-rule.ts';
import { whyFarReaching } from './far-reaching.ts';
import { grantedRights } from './granted-rights.ts';
import { createPluralOf, type KnownPlurals, type Plural } from './plural-of.ts';
import { ruleText } from './roles-yaml.ts';
import { writeNamespacesOf } from './write-namespaces.ts';

export interface DefinitionRights {
  readonly rules: readonly MergedRule[];
  /** What whoever gives the rights has to look at, for people. */
  readonly notes: readonly string[];
  /** Rules that give more than what they name, for people. */
  readonly warnings: readonly string[];
}

/** Verbs that look without changing anything. A watch is on a whole kind, wherever the definition works, or on one name. */
const watching = ['list', 'watch'];

/**
 * The rights that the runtime needs for these definitions, beside those that it always needs. Nothing is asked: the plural of a kind
 * that neither the definitions nor `known` tell is guessed, and a note says so.
 */
export function definitionRights(
  plans: readonly OperatorPlan[],
  known: KnownPlurals,
): DefinitionRights {
  const pluralOf = createPluralOf(plans, known);
  const rules: AccessRule[] = [];
  const notes: string[] = [];
  const guessed = new Set<string>();
  for (const plan of plans) {
    const resourceOf = (gvk: Gvk) => noted(gvk, pluralOf(gvk), guessed);
    const granted = grantedRights(plan.definition);
    rules.push(...rightsOf(plan, resourceOf), ...granted.rules);
    notes.push(...granted.notes);
  }
  const merged = mergeRules(rules);
  return { rules: merged, notes: [...guessed, ...notes], warnings: merged.flatMap(warningOf) };
}

function warningOf(rule: MergedRule): readonly string[] {
  const why = whyFarReaching(rule);
  return why === undefined ? [] : [`${rule.whys.join('; ')}: ${ruleText(rule)}: ${why}`];
}

function noted(gvk: Gvk, { plural, isGuessed }: Plural, notes: Set<string>): string {
  if (isGuessed)
    notes.add(`The plural of "${gvk.kind}" of "${apiVersionOf(gvk)}" is taken to be "${plural}"`);
  return plural;
}

type ResourceOf = (gvk: Gvk) => string;

function rightsOf(plan: OperatorPlan, resourceOf: ResourceOf): readonly AccessRule[] {
  const { definition, name } = plan;
  const namespaces = writeNamespacesOf(plan);
  const right = ({ gvk, subresource = '', why, isNarrow = true, ...wanted }: Wanted) => ({
    ...(namespaces !== undefined && isNarrow ? { namespaces } : {}),
    ...wanted,
    apiGroup: gvk.group,
    resource: `${resourceOf(gvk)}${subresource}`,
    why: `${name}: ${why}`,
  });
  const wanted = [
    ...ownKindRights(plan),
    ...childRights(plan),
    ...readRights(plan),
    ...patchRights(plan),
  ];
  return [...crdRight(definition), ...wanted.map(right)];
}

interface Wanted extends Pick<AccessRule, 'names' | 'namespaces' | 'verbs' | 'purpose' | 'why'> {
  readonly gvk: Gvk;
  /** With its slash. */
  readonly subresource?: string;
  /** Is it enough to have it where the definition works? @default true */
  readonly isNarrow?: boolean;
}

/** An apply that creates is allowed by name, too: the path names the object. */
function crdRight({ name, kind }: OperatorPlan['definition']): readonly AccessRule[] {
  if (kind.source !== 'crd') return [];
  const isToGo = kind.crdPolicy.deletion === 'Delete';
  return [
    {
      apiGroup: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
      names: [kind.crd.metadata.name],
      verbs: ['get', 'create', 'patch', ...(isToGo ? ['delete'] : [])],
      purpose: 'crd',
      why: `${name}: its kind is installed and looked after${isToGo ? ', and goes with it' : ''}`,
    },
    ...(hasVersions(kind)
      ? [
          {
            apiGroup: 'apiextensions.k8s.io',
            resource: 'customresourcedefinitions/status',
            names: [kind.crd.metadata.name],
            verbs: ['patch'],
            purpose: 'crd',
            why: `${name}: versions in which nothing is stored any more are taken off the record of its kind`,
          } as const,
        ]
      : []),
  ];
}

/** Another version may be stored one day: then all resources are written anew. */
function hasVersions(kind: ServedKind): boolean {
  const { versions } = kind.source === 'crd' ? (kind.crd.spec as { versions?: unknown }) : {};
  return Array.isArray(versions) && versions.length > 1;
}

function ownKindRights(plan: OperatorPlan): readonly Wanted[] {
  const { definition, reporting, isFinalizing } = plan;
  const { gvk } = definition.kind;
  const isForeign = definition.kind.source === 'for';
  const patchesItself = reporting?.patches.some((patch) => patch.gvk === undefined) === true;
  const writesStatus =
    !isForeign ||
    Object.keys(definition.status).length > 0 ||
    (reporting?.conditionTypes.length ?? 0) > 0;
  const owns = childrenOf(plan).some(({ isDetached }) => !isDetached);
  const all: readonly (Wanted | false)[] = [
    { gvk, verbs: watching, purpose: 'resources', why: 'its resources', isNarrow: false },
    isSelective(plan) && {
      ...{ gvk, verbs: ['get'], purpose: 'resource-gone' },
      why: 'whether an object matches no more, or is gone',
    },
    hasVersions(definition.kind) && {
      ...{ gvk, verbs: ['get', 'patch'], purpose: 'resource-metadata', isNarrow: false },
      why: 'its resources are stored anew when another version is stored',
    },
    isFinalizing && {
      ...{ gvk, verbs: ['get', 'patch'], purpose: 'resource-metadata' },
      why: 'finalizer and inventory of its resources',
    },
    patchesItself && {
      ...{ gvk, verbs: ['get', 'patch'], purpose: 'resource-patch' },
      why: 'its patches of the resource itself',
    },
    writesStatus && {
      ...{ gvk, subresource: '/status', verbs: ['patch'], purpose: 'status' },
      why: 'status of its resources',
    },
    owns && {
      ...{ gvk, subresource: '/finalizers', verbs: ['update'], purpose: 'owners' },
      why: 'its resources own their children, where the server asks for this right',
    },
  ];
  return all.filter((each) => each !== false);
}

function isSelective({ definition: { kind } }: OperatorPlan): boolean {
  return (
    kind.source === 'for' && (kind.selector !== undefined || kind.annotationSelector !== undefined)
  );
}

/** Children of its life and of its end. */
function childrenOf({ children, onDelete }: OperatorPlan): readonly ChildPlan[] {
  return [...children, ...(onDelete?.children ?? [])];
}

function childRights(plan: OperatorPlan): readonly Wanted[] {
  const children = childrenOf(plan).flatMap(({ gvk, id }): readonly Wanted[] => {
    const about = { gvk, purpose: 'children', why: `its children "${id}"` } as const;
    return [
      { ...about, verbs: watching, isNarrow: false },
      { ...about, verbs: ['get', 'create', 'patch', 'delete'] },
    ];
  });
  if (plan.onDelete === undefined || plan.scope === 'Cluster') return children;
  const why = 'what "onDelete" makes is not made where nothing can be made any more';
  const gvk = { group: '', version: 'v1', kind: 'Namespace' };
  return [...children, { gvk, verbs: ['get'], purpose: 'namespace-going', why, isNarrow: false }];
}

function readRights({ reads }: OperatorPlan): readonly Wanted[] {
  const isNarrow = false;
  const kinds = reads.map((read): Wanted => {
    const { gvk, id, literalName, literalNamespace } = read;
    const about = { gvk, verbs: watching, why: `what it reads as "${id}"`, isNarrow };
    if (literalName === undefined) return { ...about, purpose: 'reads' };
    const namespaces = literalNamespace === undefined ? {} : { namespaces: [literalNamespace] };
    return { ...about, purpose: 'reads-by-name', names: [literalName], ...namespaces };
  });
  if (!reads.some(({ selectsNamespaces }) => selectsNamespaces)) return kinds;
  const gvk = { group: '', version: 'v1', kind: 'Namespace' };
  const why = 'in which namespaces it reads';
  return [...kinds, { gvk, verbs: watching, purpose: 'read-namespaces', why, isNarrow }];
}

function patchRights({ reporting }: OperatorPlan): readonly Wanted[] {
  return (reporting?.patches ?? []).flatMap(({ gvk, id, create }): readonly Wanted[] => {
    if (gvk === undefined) return [];
    const about = { gvk, purpose: 'patch-targets', why: `its patch "${id}"` } as const;
    const writing = create ? ['get', 'create', 'patch'] : ['get', 'patch'];
    return [
      { ...about, verbs: watching, isNarrow: false },
      { ...about, verbs: writing },
    ];
  });
}
