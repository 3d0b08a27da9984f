import type { ChildPlan } from '#compile';
import { allowsNamespace, isNamespaceName, matchesGlob } from '#util/glob.ts';
import type { Gvk } from '#util/gvk.ts';
import { type Problem, problemOfValue } from '../failure.ts';
import { kindAt, type ObjectAt } from '../identity.ts';
import { isNamespaced } from '../pass/context.ts';
import type { Pass, PassInput } from '../pass/pass.ts';
import { isRecordKeys, recordKeysRejection } from '../record-keys-secret.ts';
import { isNamePublic } from '../secrecy.ts';

/** The namespace of an object; undefined for cluster-scoped kinds. */
export interface ObjectNamespace {
  readonly namespace: string | undefined;
}

/** A child, or the target of a patch. */
type WrittenPlan = Pick<ChildPlan, 'gvk' | 'crossNamespace' | 'secrecy'>;

/** The namespace of a rendered child, or why it is not allowed (docs/definition/reads.md#crossnamespace, `crossNamespace`). */
export function namespaceOf(
  pass: Pass,
  plan: WrittenPlan,
  { object, cluster }: ObjectAt,
): ObjectNamespace | Problem {
  const { kind, metadata } = object;
  const requested = metadata.namespace;
  if (isRecordKeys(plan.gvk, metadata.name)) return problemOfValue(recordKeysRejection);
  if (!isNamespacedPlan(pass, plan, cluster)) {
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
export function ownNamespace(
  pass: Pass,
  plan: WrittenPlan,
  cluster: string | undefined,
): string | undefined {
  return isNamespacedPlan(pass, plan, cluster) ? pass.namespace : undefined;
}

function namespaceError(
  field: 'name' | 'namespace',
  namespace: string,
  { context, namespace: own }: PassInput,
  plan: WrittenPlan,
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
  { gvk }: WrittenPlan,
  cluster: string | undefined,
): boolean {
  return isNamespaced(context, kindAt(gvk, cluster)) ?? true;
}
