import type { OperatorPlan } from '#compile';
import { type ServedKind, statusKindOf } from '#definition';
import type { AccessRule } from './access-rule.ts';
import { type RequiredRight, watchVerbs } from './required-right.ts';
import { childrenOf } from './written-rights.ts';

/** `resourceNames` also limits creates by apply, because the path contains the name. */
export function crdRight({ name, kind }: OperatorPlan['definition']): readonly AccessRule[] {
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

/** On the resources of the definition. */
export function ownKindRights(plan: OperatorPlan): readonly RequiredRight[] {
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
    definition.conversions !== undefined && {
      gvk,
      verbs: ['create'],
      purpose: 'resource-metadata',
      isNamespaced: false,
      reason: 'tries conversions with dry runs',
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
