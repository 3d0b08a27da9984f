import type { ChildPlan, OperatorPlan, PatchPlan, ReadPlan } from '#compile';
import {
  isPlaced,
  kindsOf,
  placesInMembers,
  runsInMembers,
  type ServedKind,
  statusKindOf,
} from '#definition';
import { apiVersionOf, type Gvk } from '#util/gvk.ts';
import { recordKeysName } from '#util/stored-names.ts';
import {
  type AccessRule,
  createPluralOf,
  type KnownPlurals,
  type MergedRule,
  mergeRules,
  type Plural,
  privilegeWarning,
} from './access-rule.ts';
import { notesOfComputedNames, reasonOfRead } from './computed-names.ts';
import { grantedRights } from './granted-rights.ts';
import { type HttpRights, httpRights } from './http-rights.ts';
import { installTitle, literalPlaceOf, meaningOf } from './install-rights.ts';
import { ruleText } from './roles-yaml.ts';

interface DefinitionRights {
  readonly rules: readonly MergedRule[];
  /** Notes for administrators. */
  readonly notes: readonly string[];
  /** Rules that grant more than they name, as messages. */
  readonly warnings: readonly string[];
}

/** Read-only verbs. A watch covers a whole kind in all namespaces, or one name. */
const watchVerbs = ['list', 'watch'];

interface DefinitionRightsOptions {
  /**
   * The rights in member clusters: of definitions that run there (`controller.clusters`), and on objects that others place there.
   * @default false: those in the cluster where each definition runs
   */
  readonly inMembers?: boolean;
  /** Of definitions that run in members, only the rights on the hub: those on their own objects (`install`). @default false */
  readonly isHub?: boolean;
  /** The namespace of the runtime. @default undefined: rights on its own objects are cluster-wide, and limited by their names */
  readonly namespace?: string;
}

/**
 * The rights that the runtime needs for these definitions, in addition to {@link runtimeRights}. Sends no requests: unknown plurals are
 * guessed, with a note.
 */
export function definitionRights(
  plans: readonly OperatorPlan[],
  known: KnownPlurals,
  { inMembers = false, isHub = false, namespace }: DefinitionRightsOptions = {},
): DefinitionRights {
  const pluralOf = createPluralOf(plans, known);
  const rules: AccessRule[] = [];
  const notes: string[] = [];
  const guessed = new Set<string>();
  for (const plan of plans) {
    const resourceOf = (gvk: Gvk) => notePlural(gvk, pluralOf(gvk), guessed);
    if (plan.install !== undefined && !inMembers) {
      const installed = installRights(plan.install, plan.definition.name, resourceOf);
      rules.push(...installed.rules);
      notes.push(...installed.notes);
    }
    if (isHub && runsInMembers(plan.definition)) continue;
    const isPlacing = inMembers && !runsInMembers(plan.definition);
    const placed = new Set(plan.children.filter(isPlaced).map(({ id }) => id));
    const granted = grantedRights(plan.definition, (id) => placed.has(id) === isPlacing);
    const own = isPlacing
      ? rulesOf(plan, placedRights(plan), resourceOf)
      : rightsOf(plan, resourceOf);
    const http = isPlacing || inMembers ? noHttpRights : httpRights(plan);
    rules.push(...http.rules, ...rulesOf(plan, http.rights, resourceOf));
    notes.push(...http.notes);
    const keys = isPlacing ? [] : keysRule(plan, inMembers ? 'kube-system' : namespace);
    rules.push(...own, ...keys, ...granted.rules);
    notes.push(...granted.notes);
  }
  const merged = mergeRules(rules);
  return {
    rules: merged,
    notes: [...guessed, ...notes, ...notesOfComputedNames(plans, merged)],
    warnings: merged.flatMap(warningOf),
  };
}

function warningOf(rule: MergedRule): readonly string[] {
  const reason = privilegeWarning(rule);
  return reason === undefined ? [] : [`${rule.reasons.join('; ')}: ${ruleText(rule)}: ${reason}`];
}

function notePlural(gvk: Gvk, { plural, isGuessed }: Plural, notes: Set<string>): string {
  if (isGuessed)
    notes.add(`The plural of "${gvk.kind}" of "${apiVersionOf(gvk)}" is assumed to be "${plural}"`);
  return plural;
}

/** Objects behind HTTP are on the hub only. */
const noHttpRights: HttpRights = { rules: [], rights: [], notes: [] };

type ResourceOf = (gvk: Gvk) => string;

function rightsOf(plan: OperatorPlan, resourceOf: ResourceOf): readonly AccessRule[] {
  const { definition } = plan;
  const required = [
    ...ownKindRights(plan),
    ...childRights(childrenOf(plan).filter((each) => !isPlaced(each))),
    ...onDeleteRights(plan),
    ...readRights(plan.reads.filter((each) => !isPlaced(each))),
    ...historyRights(plan),
    ...patchRights(plan),
  ];
  const members = placesInMembers(plan) ? [membersRule(plan)] : [];
  return [...crdRight(definition), ...members, ...rulesOf(plan, required, resourceOf)];
}

/** On what a definition of the hub has in members. */
function placedRights({ children, reads }: OperatorPlan): readonly RequiredRight[] {
  return [...childRights(children.filter(isPlaced)), ...readRights(reads.filter(isPlaced))];
}

function membersRule({ name }: OperatorPlan): AccessRule {
  return {
    apiGroup: 'homeostat.dev',
    resource: 'clusters',
    verbs: watchVerbs,
    purpose: 'clusters',
    reason: `${name}: the member clusters of its objects`,
  };
}

function rulesOf(
  plan: OperatorPlan,
  required: readonly RequiredRight[],
  resourceOf: ResourceOf,
): readonly AccessRule[] {
  const { name } = plan;
  const namespaces = writeNamespacesOf(plan);
  const right = ({
    gvk,
    subresource = '',
    reason,
    isNamespaced = true,
    ...desired
  }: RequiredRight) => ({
    ...(namespaces !== undefined && isNamespaced ? { namespaces } : {}),
    ...desired,
    apiGroup: gvk.group,
    resource: `${resourceOf(gvk)}${subresource}`,
    reason: `${name}: ${reason}`,
  });
  return required.map(right);
}

interface RequiredRight
  extends Pick<AccessRule, 'names' | 'namespaces' | 'verbs' | 'purpose' | 'reason'> {
  readonly gvk: Gvk;
  /** With a leading slash. */
  readonly subresource?: string;
  /** Whether the right is limited to the definition's namespaces. @default true */
  readonly isNamespaced?: boolean;
}

/** `resourceNames` also limits creates by apply, because the path contains the name. */
function crdRight({ name, kind }: OperatorPlan['definition']): readonly AccessRule[] {
  if (kind.source !== 'crd') return [];
  const isDeleted = kind.crdPolicy.deletion === 'Delete';
  return [
    {
      apiGroup: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
      names: [kind.crd.metadata.name],
      verbs: ['create', 'patch', ...(isDeleted ? ['delete'] : [])],
      purpose: 'crd',
      reason: `${name}: installs its CustomResourceDefinition${isDeleted ? ' and deletes it' : ''}`,
    },
    ...(hasVersions(kind)
      ? [
          {
            apiGroup: 'apiextensions.k8s.io',
            resource: 'customresourcedefinitions/status',
            names: [kind.crd.metadata.name],
            verbs: ['patch'],
            purpose: 'crd',
            reason: `${name}: removes unused versions from status.storedVersions of its CustomResourceDefinition`,
          } as const,
        ]
      : []),
  ];
}

/** With several versions, the storage version may change; then resources are migrated. */
function hasVersions(kind: ServedKind): boolean {
  const { versions } = kind.source === 'crd' ? (kind.crd.spec as { versions?: unknown }) : {};
  return Array.isArray(versions) && versions.length > 1;
}

function ownKindRights(plan: OperatorPlan): readonly RequiredRight[] {
  const { definition, reporting, needsFinalizer } = plan;
  const { gvk } = definition.kind;
  const patches = reporting?.patches ?? [];
  const patchesItself = patches.some((patch) => patch.gvk === undefined && !patch.isRestore);
  const hasOnce = patches.some((patch) => patch.hasOnce);
  const owns = childrenOf(plan).some(({ isDetached }) => !isDetached);
  const all: readonly (RequiredRight | false)[] = [
    { gvk, verbs: watchVerbs, purpose: 'resources', reason: 'its resources', isNamespaced: false },
    isSelective(plan) && {
      gvk,
      verbs: ['get'],
      purpose: 'resource-gone',
      reason: 'whether an object was deleted or no longer matches',
    },
    hasVersions(definition.kind) && {
      gvk,
      verbs: ['get', 'patch'],
      purpose: 'resource-metadata',
      isNamespaced: false,
      reason: 'migrates its resources to a new storage version',
    },
    needsFinalizer && {
      gvk,
      verbs: ['get', 'patch'],
      purpose: 'resource-metadata',
      reason: 'finalizer and inventory of its resources',
    },
    definition.deleteAfter !== undefined && {
      gvk,
      verbs: ['delete'],
      purpose: 'resources',
      reason: 'deletes its resources ("deleteAfter")',
    },
    patchesItself && {
      gvk,
      verbs: ['get', 'patch'],
      purpose: 'resource-patch',
      reason: 'its patches of the resource itself',
    },
    hasOnce && {
      gvk,
      verbs: ['get', 'patch'],
      purpose: 'resource-patch',
      reason: 'stores which patches with "once" have been sent',
    },
    patches.some(({ owned }) => owned?.withdraws === true) && {
      gvk,
      verbs: ['get', 'patch'],
      purpose: 'resource-patch',
      reason: 'stores which objects have fields of its patches',
    },
    childrenOf(plan).some(({ mayRunOnce }) => mayRunOnce === true) && {
      gvk,
      verbs: ['get', 'patch'],
      purpose: 'resource-finished',
      reason: 'stores which children that run once have finished',
    },
    statusKindOf(definition) !== undefined && {
      gvk,
      subresource: '/status',
      verbs: ['patch'],
      purpose: 'status',
      reason: 'status of its resources',
    },
    owns && {
      gvk,
      subresource: '/finalizers',
      verbs: ['update'],
      purpose: 'owners',
      reason: 'owner references of its children (OwnerReferencesPermissionEnforcement)',
    },
  ];
  return all.filter((each) => each !== false);
}

function isSelective({ definition: { kind } }: OperatorPlan): boolean {
  return (
    kind.source === 'for' && (kind.selector !== undefined || kind.annotationSelector !== undefined)
  );
}

/** Children, including those of `onDelete`. */
function childrenOf({ children, onDelete }: OperatorPlan): readonly ChildPlan[] {
  return [...children, ...(onDelete?.children ?? [])];
}

function childRights(children: readonly ChildPlan[]): readonly RequiredRight[] {
  return children.flatMap((child): readonly RequiredRight[] => {
    const reason = `its children "${child.id}"`;
    return kindsOf(child).flatMap((gvk): readonly RequiredRight[] => {
      const about = { gvk, purpose: 'children', reason } as const;
      return [
        { ...about, verbs: watchVerbs, isNamespaced: false },
        { ...about, verbs: ['get', 'create', 'patch', 'delete'] },
      ];
    });
  });
}

/** On the objects of a definition itself, and what these mean for the cluster. */
function installRights(
  { children, reads, definition }: OperatorPlan,
  name: string,
  resourceOf: ResourceOf,
): Pick<DefinitionRights, 'notes'> & { readonly rules: readonly AccessRule[] } {
  const required = children.flatMap((child): readonly RequiredRight[] => {
    const { gvk, id } = child;
    const about = { gvk, purpose: 'children', reason: `its ${installTitle(id)}` } as const;
    return [
      { ...about, verbs: watchVerbs },
      { ...about, verbs: ['get', 'create', 'patch', 'delete'], ...literalPlaceOf(child) },
    ];
  });
  const granted = grantedRights(definition, () => true, installTitle);
  const meanings = children.flatMap((child) => {
    const meaning = meaningOf(child);
    return meaning === undefined
      ? []
      : [`${name}: ${installTitle(child.id)} (${child.gvk.kind}): ${meaning}`];
  });
  const rules = [...required, ...readRights(reads)].map(
    ({ gvk, subresource: _, isNamespaced: __, reason, ...right }): AccessRule => ({
      ...right,
      apiGroup: gvk.group,
      resource: resourceOf(gvk),
      reason: `${name}: ${reason}`,
    }),
  );
  return { rules: [...rules, ...granted.rules], notes: [...granted.notes, ...meanings] };
}

function onDeleteRights({ onDelete, reporting, scope }: OperatorPlan): readonly RequiredRight[] {
  const isPatching = reporting?.patches.some(({ atDeletion }) => atDeletion) === true;
  if ((onDelete === undefined && !isPatching) || scope === 'Cluster') return [];
  const what = onDelete === undefined ? 'patches with "at: Deletion"' : '"onDelete"';
  const reason = `whether the namespace is terminating, for ${what}`;
  const gvk = { group: '', version: 'v1', kind: 'Namespace' };
  return [{ gvk, verbs: ['get'], purpose: 'namespace-going', reason, isNamespaced: false }];
}

function readRights(reads: readonly ReadPlan[]): readonly RequiredRight[] {
  const isNamespaced = false;
  const kinds = reads.map((read): RequiredRight => {
    const { gvk, literalNames: names, namespaces } = read;
    const about = { gvk, verbs: watchVerbs, reason: reasonOfRead(read), isNamespaced };
    // Objects that are read by name are watched in their namespaces.
    const where = namespaces === undefined ? {} : { namespaces };
    if (names === undefined) return { ...about, purpose: 'reads', ...where };
    return { ...about, purpose: 'reads-by-name', names, ...where };
  });
  if (!reads.some(({ selectsNamespaces }) => selectsNamespaces)) return kinds;
  const gvk = { group: '', version: 'v1', kind: 'Namespace' };
  const reason = 'namespace selectors of its reads';
  return [...kinds, { gvk, verbs: watchVerbs, purpose: 'read-namespaces', reason, isNamespaced }];
}

/** Records are in the namespaces of the objects; those of cluster-scoped objects in the namespace of the runtime. */
function historyRights(plan: OperatorPlan): readonly RequiredRight[] {
  const { history } = plan;
  if (history === undefined) return [];
  const kept = recordedReads(plan);
  const isNamespaced = isRecordedInOwnNamespace(plan);
  const purpose = 'history';
  const records = history.recordKinds.flatMap((gvk): readonly RequiredRight[] => {
    const about = { gvk, purpose, reason: 'its versions of what it reads' } as const;
    return [
      { ...about, verbs: watchVerbs, isNamespaced: false },
      { ...about, verbs: ['get', 'create', 'patch', 'delete'], isNamespaced },
    ];
  });
  const owner: RequiredRight = {
    gvk: plan.definition.kind.gvk,
    verbs: ['get'],
    purpose,
    reason: 'whether a resource with versions exists',
    isNamespaced: false,
  };
  const checks = kept.map(({ gvk, id }): RequiredRight => {
    const reason = `whether an object of its read "${id}" was deleted`;
    return { gvk, verbs: ['get'], purpose, reason, isNamespaced };
  });
  return [...records, ...checks, owner];
}

/** The Secret whose keys sign records. `resourceNames` also limits creates by apply, because the path contains the name. */
function keysRule(
  { name, history }: OperatorPlan,
  namespace: string | undefined,
): readonly AccessRule[] {
  if (history === undefined) return [];
  return [
    {
      apiGroup: '',
      resource: 'secrets',
      names: [recordKeysName],
      verbs: [...watchVerbs, 'create', 'patch'],
      ...(namespace !== undefined && { namespaces: [namespace] }),
      purpose: 'history-keys',
      reason: `${name}: the keys that sign its versions`,
    },
  ];
}

function recordedReads({ reads }: OperatorPlan): readonly ReadPlan[] {
  return reads.filter(({ history }) => history !== undefined);
}

function isRecordedInOwnNamespace(plan: OperatorPlan): boolean {
  const isDetached = plan.history?.isDetached === true;
  return !isDetached && recordedReads(plan).every(({ reach }) => reach === 'own');
}

function patchRights(plan: OperatorPlan): readonly RequiredRight[] {
  return (plan.reporting?.patches ?? []).flatMap((patch) => {
    const { id, create, replaces, isRestore, setsStatus, deletes } = patch;
    const purpose = 'patch-targets';
    const verbs = setsStatus
      ? ['get']
      : deletes
        ? ['get', 'delete']
        : ['get', ...(create ? ['create'] : []), ...(replaces ? ['update'] : []), 'patch'];
    return targetKinds(plan, patch).flatMap((gvk): readonly RequiredRight[] => {
      const about = { gvk, purpose, reason: `its patch "${id}"` } as const;
      // A recorded object may be in any namespace of its read.
      const isNamespaced = !isRestore || isRecordedInOwnNamespace(plan);
      return [
        { ...about, verbs: watchVerbs, isNamespaced: false },
        { ...about, verbs, isNamespaced },
        ...(setsStatus ? [{ ...about, subresource: '/status', verbs: ['patch'] }] : []),
      ];
    });
  });
}

/** A computed kind is one of those that are recorded. */
function targetKinds(plan: OperatorPlan, { gvk, isRestore }: PatchPlan): readonly Gvk[] {
  if (gvk !== undefined) return [gvk];
  return isRestore ? recordedReads(plan).map((read) => read.gvk) : [];
}

/** Namespaces that a definition writes to, if RBAC can express them: literal names, and no cross-namespace writes. Undefined: all. */
function writeNamespacesOf(plan: OperatorPlan): readonly string[] | undefined {
  const { controller } = plan.definition;
  const { include, exclude = [] } = controller.namespaces ?? {};
  if (include === undefined || plan.scope === 'Cluster' || include.some(isGlob)) return undefined;
  const writes = [
    ...plan.children,
    ...(plan.onDelete?.children ?? []),
    ...(plan.reporting?.patches ?? []),
  ];
  if (writes.some(({ crossNamespace }) => crossNamespace !== false)) return undefined;
  return include.filter((name) => !exclude.includes(name)).sort();
}

/** Checks the wildcards of `matchesGlob`. */
function isGlob(text: string): boolean {
  return /[*?]/.test(text);
}
