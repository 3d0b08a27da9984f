import type { ChildPlan, Element, Rendered } from '#compile';
import { gvkKey } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  type Problem,
  problemOfRender,
  problemOfValue,
  problemOfWaiting,
  problemOfWatch,
} from '../failure.ts';
import type { Intent } from '../intent/intent.ts';
import type { Pass } from '../pass/pass.ts';
import { isNamePublic } from '../secrecy.ts';
import { isElsewhere } from '../where.ts';
import { buildIntent } from './build-intent.ts';

/** Limits of docs/definition/children.md#limits; beyond them a child fails with `LimitReached`. */
const maxElements = 1_000;
const maxChildren = 2_000;

/** A rendered child, before any request. */
export interface ResolvedChild {
  readonly plan: ChildPlan;
  readonly isDesired: boolean;
  readonly elements: readonly ResolvedElement[];
}

export type ResolvedElement = RenderedElement | BlockedElement;

interface RenderedElement {
  readonly kind: 'rendered';
  readonly element: Element;
  readonly intent: Intent;
  /** The other cluster. */
  readonly cluster?: string | undefined;
}

/** An element that could not be rendered, or may not be applied. */
export interface BlockedElement {
  readonly kind: 'blocked';
  readonly element?: Element;
  readonly problem: Problem;
  /** The other cluster, if it is known. */
  readonly cluster?: string | undefined;
}

/** The other clusters of resolved children. */
export function clustersOf(children: readonly ResolvedChild[]): ReadonlySet<string> {
  const names = children.flatMap(({ elements }) =>
    elements.flatMap(({ kind, cluster }) => (kind === 'rendered' ? (cluster ?? []) : [])),
  );
  return new Set(names);
}

/** Evaluates `when`, `forEach` and the manifests of a child. */
export async function resolveChild(pass: Pass, base: ChildPlan): Promise<ResolvedChild> {
  const wanted = await pass.desiredPhase.when(base.id);
  if (wanted.kind !== 'value') return blocked(base, problemOf(wanted, 'when'));
  if (!wanted.value) return { plan: base, isDesired: false, elements: [] };
  const plan = base.variants === undefined ? base : await chosenVariant(pass, base, base.variants);
  if ('reason' in plan) return blocked(base, plan);
  const unavailable = kindProblem(pass, plan);
  if (unavailable !== undefined) return blocked(plan, unavailable);
  const elements = await pass.desiredPhase.elements(plan.id);
  if (elements.kind !== 'value') return blocked(plan, problemOf(elements, 'forEach'));
  const found = elements.value.length;
  if (found > maxElements) return blocked(plan, limit(`${maxElements} elements`, found));
  const resolved: ResolvedElement[] = [];
  for (const element of elements.value) {
    if (pass.budget.shouldPause) await pass.budget.pause();
    resolved.push(await resolveElement(pass, plan, element));
  }
  return { plan, isDesired: true, elements: resolved };
}

/** The plan for the kind that the template chooses. */
async function chosenVariant(
  pass: Pass,
  base: ChildPlan,
  variants: readonly ChildPlan[],
): Promise<ChildPlan | Problem> {
  const chosen = await pass.desiredPhase.kind(base.id);
  if (chosen.kind !== 'value') return problemOf(chosen, 'template.kind');
  return variants.find(({ gvk }) => gvkKey(gvk) === gvkKey(chosen.value)) ?? base;
}

/** Renders one element. */
export async function resolveElement(
  pass: Pass,
  plan: ChildPlan,
  element: Element,
): Promise<ResolvedElement> {
  const place = await placeOf(pass, plan, element);
  if ('reason' in place) return { kind: 'blocked', element, problem: place };
  const manifest: Rendered<KubeObject> = await pass.desiredPhase.manifest(
    plan.id,
    element,
    plan.gvk,
  );
  if (manifest.kind !== 'value') {
    return { kind: 'blocked', element, problem: problemOf(manifest, 'template'), ...place };
  }
  const { cluster } = place;
  const intent = buildIntent(pass, plan, {
    manifest: manifest.value,
    cluster,
    index: element.index,
  });
  return 'reason' in intent
    ? { kind: 'blocked', element, problem: intent, ...place }
    : { kind: 'rendered', element, intent, ...place };
}

/** The other cluster of an element; empty in that of the resource. */
async function placeOf(
  pass: Pass,
  plan: ChildPlan,
  element: Element,
): Promise<Problem | { readonly cluster?: string }> {
  if (!isElsewhere(plan)) return {};
  const cluster = await pass.desiredPhase.cluster(plan.id, element);
  if (cluster.kind !== 'value') return problemOf(cluster, 'cluster');
  return pass.others?.rejection(plan, cluster.value) ?? { cluster: cluster.value };
}

/**
 * Assigns every object to one element. Elements of one child with the same name all fail. Between children, the first in order keeps the
 * name.
 */
export function rejectDuplicates(
  pass: Pass,
  children: readonly ResolvedChild[],
): readonly ResolvedChild[] {
  const { maxObjects: most = maxChildren } = pass.context.plan;
  return children.map((child) => {
    const rendered = child.elements.filter(({ kind }) => kind === 'rendered').length;
    const total = pass.findings.desiredObjects.size + rendered;
    if (total > most) return blocked(child.plan, limit(`${most} children`, total));
    const uses = countIdentities(child);
    const elements = child.elements.map((each) =>
      unlessDuplicate(pass, child.plan, { each, uses }),
    );
    return { ...child, elements };
  });
}

function unlessDuplicate(
  pass: Pass,
  plan: ChildPlan,
  { each, uses }: { readonly each: ResolvedElement; readonly uses: ReadonlyMap<string, number> },
): ResolvedElement {
  if (each.kind !== 'rendered') return each;
  const { identity, ref } = each.intent;
  const owner = pass.findings.desiredObjects.get(identity);
  const twice = (uses.get(identity) ?? 0) > 1;
  if (twice || (owner !== undefined && owner !== plan.id)) {
    const by = twice ? 'used by two elements' : `also used by child "${owner}"`;
    const message = isNamePublic(plan)
      ? `metadata.name: "${ref.name}" is ${by}`
      : `metadata.name: Expected a unique name, found one that is ${by}`;
    const problem = problemOfValue(message, 'duplicate-name');
    pass.findings.desiredObjects.set(identity, owner ?? plan.id);
    return { kind: 'blocked', element: each.element, problem, cluster: ref.gvk.cluster };
  }
  pass.findings.desiredObjects.set(identity, plan.id);
  return each;
}

function countIdentities({ elements }: ResolvedChild): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const each of elements) {
    if (each.kind !== 'rendered') continue;
    const { identity } = each.intent;
    uses.set(identity, (uses.get(identity) ?? 0) + 1);
  }
  return uses;
}

/** A child of which no element can be applied. */
export function blocked(plan: ChildPlan, problem: Problem): ResolvedChild {
  return { plan, isDesired: true, elements: [{ kind: 'blocked', problem }] };
}

function limit(allowed: string, found: number): Problem {
  const message = `Expected at most ${allowed}, found "${found}"`;
  return { reason: 'LimitReached', message, code: 'limit-reached', kind: 'permanent' };
}

function problemOf(
  rendered: Exclude<Rendered<unknown>, { kind: 'value' }>,
  field: string,
): Problem {
  if (rendered.kind === 'waiting') return problemOfWaiting(rendered.on);
  if (rendered.kind === 'failed') return problemOfRender(rendered.failure);
  return problemOfValue(`${field}: Expected a value, found none`, 'missing-value');
}

/** Why objects of this kind cannot be applied now: the existing ones are unknown. */
function kindProblem(pass: Pass, plan: ChildPlan): Problem | undefined {
  // In other clusters each element has its own.
  if (isElsewhere(plan)) return undefined;
  const { state } = pass.context.watches.children(plan.gvk).informer;
  switch (state.kind) {
    case 'synced':
      return undefined;
    case 'waiting':
      return problemOfWaiting([`the list of ${plan.gvk.kind} objects`]);
    case 'failing':
      return problemOfWatch(state.error, plan.gvk);
  }
}
