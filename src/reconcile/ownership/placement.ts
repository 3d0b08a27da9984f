import type { ChildPlan } from '../../compile/index.ts';
import { selectsMember } from '../../definition/index.ts';
import { allowsNamespace, isNamespaceName, matchesGlob } from '../../util/glob.ts';
import { type Gvk, gvkIn } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { memberOf } from '../../util/member-cluster.ts';
import { type Problem, problemOfValue } from '../failure.ts';
import { type Placements, placementsOf } from '../members/placements.ts';
import { isNamespaced } from '../pass/context.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { isRecordKeys, recordKeysRejection } from '../record-keys-secret.ts';
import { isNamePublic } from '../secrecy.ts';

/** The namespace of an object; undefined for cluster-scoped kinds. */
export interface Placement {
  readonly namespace: string | undefined;
}

/** A child, or the target of a patch. */
type PlacedPlan = Pick<ChildPlan, 'gvk' | 'crossNamespace' | 'secrecy' | 'placement'>;

/** The namespace of a rendered child, or why it is not allowed (docs/definition/reads.md#crossnamespace, `crossNamespace`). */
export function placementOf(pass: Pass, plan: PlacedPlan, object: KubeObject): Placement | Problem {
  const { kind, metadata } = object;
  const requested = metadata.namespace;
  if (isRecordKeys(plan.gvk, metadata.name)) return problemOfValue(recordKeysRejection);
  if (!isNamespacedPlan(pass, plan, memberOf(object))) {
    if (requested !== undefined) {
      const found = isNamePublic(plan) ? `"${requested}"` : 'one';
      return problemOfValue(
        `metadata.namespace: Expected none, "${kind}" is cluster-scoped; found ${found}`,
      );
    }
    const mayLeave = plan.crossNamespace !== false || pass.namespace === undefined;
    if (!mayLeave) return problemOfValue(crossNamespaceError(`kind: "${kind}" is cluster-scoped`));
    // For a Namespace its name counts: who writes it controls the objects in it.
    const why = isNamespaceKind(plan.gvk)
      ? namespaceError('name', metadata.name, pass, plan)
      : undefined;
    return why === undefined ? { namespace: undefined } : problemOfValue(why);
  }
  const namespace = requested ?? pass.namespace;
  if (namespace === undefined) {
    return problemOfValue(
      'metadata.namespace: Expected a namespace, the resource is cluster-scoped; found none',
    );
  }
  if (namespace === pass.namespace) return { namespace };
  const why = namespaceError('namespace', namespace, pass, plan);
  return why === undefined ? { namespace } : problemOfValue(why);
}

/** The default namespace of a child; undefined for cluster-scoped kinds. */
export function ownNamespace(pass: Pass, plan: PlacedPlan, cluster?: string): string | undefined {
  return isNamespacedPlan(pass, plan, cluster) ? pass.namespace : undefined;
}

function namespaceError(
  field: 'name' | 'namespace',
  namespace: string,
  { context, namespace: own }: PassInput,
  plan: PlacedPlan,
): string | undefined {
  // Before any comparison: an invalid name could become another path in a URL.
  if (!isNamespaceName(namespace)) {
    return `metadata.${field}: Expected a namespace name (lowercase letters, digits and "-", at most 63 characters)`;
  }
  const { crossNamespace } = plan;
  const where = `metadata.${field}: ${isNamePublic(plan) ? `"${namespace}"` : 'The value'}`;
  if (context.guardedNamespaces.has(namespace))
    return `${where} is a namespace of the Homeostat runtime and is not allowed`;
  // A literal namespace in the definition of a cluster-scoped resource is allowed: the resource has no namespace of its own.
  if (crossNamespace === false) {
    return own === undefined
      ? undefined
      : crossNamespaceError(`${where} is not the namespace of the resource`);
  }
  if (crossNamespace === true || allowsNamespace(namespace, crossNamespace.namespaces))
    return undefined;
  return matchesGlob(namespace, crossNamespace.namespaces)
    ? `${where} is a system namespace; list its name in "crossNamespace.namespaces" to allow it`
    : `${where} matches none of "crossNamespace.namespaces"`;
}

function isNamespaceKind({ group, kind }: Gvk): boolean {
  return group === '' && kind === 'Namespace';
}

function crossNamespaceError(what: string): string {
  return `${what}; set "crossNamespace" to allow it`;
}

/** A kind that discovery has not found counts as namespaced: its apply fails if it is not. */
function isNamespacedPlan(
  { context }: PassInput,
  { gvk }: PlacedPlan,
  cluster: string | undefined,
): boolean {
  return isNamespaced(context, gvkIn(gvk, cluster)) ?? true;
}

/** Why objects of a child or read may not be in this member (`crossCluster`); undefined: they may, or the member does not exist. */
export function clusterRejection(
  { members }: PassInput,
  { placement }: Pick<ChildPlan, 'placement'>,
  cluster: string,
): Problem | undefined {
  const labels = members?.labelsOf(cluster);
  if (labels === undefined || selectsMember(placement?.allowed ?? 'all', labels)) return undefined;
  return problemOfValue(`cluster: "${cluster}" does not match the selector of "crossCluster"`);
}

/** The placements of the resource, with those that the pass has added. */
export function currentPlacements({ context, resource, effects }: Pass): Placements {
  return effects.placements ?? placementsOf(resource, context.plan.name);
}

const none: ReadonlySet<string> = new Set();

/** The member clusters that may have objects of the resource, without those that are given up. */
export function placesOf(pass: Pass): ReadonlySet<string> {
  if (pass.members === undefined) return none;
  const recorded = [...pass.findings.inventory.recorded.values()];
  const names = [
    ...currentPlacements(pass).keys(),
    ...recorded.flatMap(({ kind }) => kind.cluster ?? []),
  ];
  return new Set(names.filter((name) => !isGivenUp(pass, name)));
}

/** Is nothing of the resource searched or waited for in this cluster any more? */
export function isGivenUp(pass: Pass, cluster: string): boolean {
  const uid = currentPlacements(pass).get(cluster) ?? '';
  return pass.members?.isGivenUp(cluster, uid) ?? false;
}
