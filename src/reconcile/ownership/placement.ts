import type { ChildPlan } from '../../compile/index.ts';
import { matchesGlob } from '../../util/glob.ts';
import type { Gvk } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { allowsNamespace, isNamespaceName } from '../../util/namespace.ts';
import type { Problem } from '../failure.ts';
import { isNamespaced } from '../pass/context.ts';
import type { Given, Pass } from '../pass/pass.ts';
import { isNameOpen } from '../secrecy.ts';

/** Where an object is to be; no namespace: its kind has none. */
export interface Placement {
  readonly namespace: string | undefined;
}

/** What is placed: a child, or the target of a patch. */
export type PlacedPlan = Pick<ChildPlan, 'gvk' | 'crossNamespace' | 'secrecy'>;

/** Where a rendered child goes, or why it may not go there (definition.md section 4, `crossNamespace`). */
export function placementOf(
  pass: Pass,
  plan: PlacedPlan,
  { kind, metadata }: KubeObject,
): Placement | Problem {
  const asked = metadata.namespace;
  if (!livesInNamespace(pass, plan)) {
    if (asked !== undefined) {
      const found = isNameOpen(plan) ? `"${asked}"` : 'one';
      return invalid(
        `metadata.namespace: Expected none, since "${kind}" is cluster-scoped, found ${found}`,
      );
    }
    const mayLeave = plan.crossNamespace !== false || pass.namespace === undefined;
    if (!mayLeave) return invalid(needsCrossNamespace(`kind: "${kind}" is cluster-scoped`));
    // A Namespace is where it is called to be: whoever writes it decides about all that is in it.
    const why = isNamespaceKind(plan.gvk) ? whyNotIn('name', metadata.name, pass, plan) : undefined;
    return why === undefined ? { namespace: undefined } : invalid(why);
  }
  const namespace = asked ?? pass.namespace;
  if (namespace === undefined) {
    return invalid(
      'metadata.namespace: Expected a namespace, since the resource has none, found none',
    );
  }
  if (namespace === pass.namespace) return { namespace };
  const why = whyNotIn('namespace', namespace, pass, plan);
  return why === undefined ? { namespace } : invalid(why);
}

/** The namespace of a child that says nothing of one; undefined for cluster-scoped kinds. */
export function ownNamespace(pass: Pass, plan: PlacedPlan): string | undefined {
  return livesInNamespace(pass, plan) ? pass.namespace : undefined;
}

function whyNotIn(
  field: 'name' | 'namespace',
  namespace: string,
  { context, namespace: own }: Given,
  plan: PlacedPlan,
): string | undefined {
  // Before it is compared with anything: what is no name could mean another place in a path.
  if (!isNamespaceName(namespace)) {
    return `metadata.${field}: Expected the name of a namespace (lower-case letters, digits and "-", at most 63)`;
  }
  const { crossNamespace } = plan;
  const where = `metadata.${field}: ${isNameOpen(plan) ? `"${namespace}"` : 'The value'}`;
  if (context.guardedNamespaces.has(namespace))
    return `${where} is a namespace of the runtime itself`;
  // What a cluster-scoped resource names in so many words needs no leave: it has no namespace to be left.
  if (crossNamespace === false) {
    return own === undefined
      ? undefined
      : needsCrossNamespace(`${where} is not that of the resource`);
  }
  if (crossNamespace === true || allowsNamespace(namespace, crossNamespace.namespaces))
    return undefined;
  return matchesGlob(namespace, crossNamespace.namespaces)
    ? `${where} is a namespace of Kubernetes itself, which "crossNamespace.namespaces" must name`
    : `${where} matches none of "crossNamespace.namespaces"`;
}

function isNamespaceKind({ group, kind }: Gvk): boolean {
  return group === '' && kind === 'Namespace';
}

function needsCrossNamespace(what: string): string {
  return `${what}, which needs "crossNamespace"`;
}

/** A kind that nobody knows yet is taken for namespaced: its apply will tell. */
function livesInNamespace({ context }: Given, { gvk }: PlacedPlan): boolean {
  return isNamespaced(context, gvk) ?? true;
}

function invalid(message: string): Problem {
  return { reason: 'RenderFailed', message, code: 'invalid-manifest', kind: 'permanent' };
}
