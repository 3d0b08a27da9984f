import type { ChildPlan, Element, Rendered } from '../../compile/index.ts';
import type { KubeError } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { type Problem, problemOfRender, problemOfRequest, problemOfWaiting } from '../failure.ts';
import type { Intent } from '../intent/intent.ts';
import type { Pass } from '../pass/pass.ts';
import { isNameOpen, open } from '../secrecy.ts';
import { buildIntent } from './build-intent.ts';

/** Bounds of definition.md section 4; beyond them a child fails with `LimitReached`. */
const maxElements = 1_000;
const maxChildren = 2_000;

/** What a child is to be, before anything is sent. */
export interface ResolvedChild {
  readonly plan: ChildPlan;
  readonly isWanted: boolean;
  readonly elements: readonly ResolvedElement[];
}

export type ResolvedElement =
  | { readonly kind: 'rendered'; readonly element: Element; readonly intent: Intent }
  | { readonly kind: 'blocked'; readonly element?: Element; readonly problem: Problem };

/** Evaluates `when`, `forEach` and the manifests of a child. */
export async function resolveChild(pass: Pass, plan: ChildPlan): Promise<ResolvedChild> {
  const wanted = await pass.wanting.wanted(plan.id);
  if (wanted.kind !== 'value') return blocked(plan, whyNot(wanted, 'when'));
  if (!wanted.value) return { plan, isWanted: false, elements: [] };
  const unavailable = kindProblem(pass, plan);
  if (unavailable !== undefined) return blocked(plan, unavailable);
  const elements = await pass.wanting.elements(plan.id);
  if (elements.kind !== 'value') return blocked(plan, whyNot(elements, 'forEach'));
  const found = elements.value.length;
  if (found > maxElements) return blocked(plan, limit(`${maxElements} elements`, found));
  const resolved: ResolvedElement[] = [];
  for (const element of elements.value) {
    if (pass.budget.isDue) await pass.budget.pause();
    resolved.push(await resolveElement(pass, plan, element));
  }
  return { plan, isWanted: true, elements: resolved };
}

/** Renders one element. */
export async function resolveElement(
  pass: Pass,
  plan: ChildPlan,
  element: Element,
): Promise<ResolvedElement> {
  const manifest: Rendered<KubeObject> = await pass.wanting.manifest(plan.id, element);
  if (manifest.kind !== 'value') {
    return { kind: 'blocked', element, problem: whyNot(manifest, 'template') };
  }
  const intent = buildIntent(pass, plan, {
    manifest: manifest.value,
    index: element.index,
  });
  return 'reason' in intent
    ? { kind: 'blocked', element, problem: intent }
    : { kind: 'rendered', element, intent };
}

/**
 * Gives every object to one element only. Elements of one child that share a name all fail; between children the first in
 * order keeps the name, as the others cannot be meant.
 */
export function claimNames(
  pass: Pass,
  children: readonly ResolvedChild[],
): readonly ResolvedChild[] {
  return children.map((child) => {
    const rendered = child.elements.filter(({ kind }) => kind === 'rendered').length;
    const total = pass.found.claims.size + rendered;
    if (total > maxChildren) return blocked(child.plan, limit(`${maxChildren} children`, total));
    const uses = countIdentities(child);
    const elements = child.elements.map((each) => claimed(pass, child.plan, { each, uses }));
    return { ...child, elements };
  });
}

function claimed(
  pass: Pass,
  plan: ChildPlan,
  { each, uses }: { readonly each: ResolvedElement; readonly uses: ReadonlyMap<string, number> },
): ResolvedElement {
  if (each.kind !== 'rendered') return each;
  const { identity, ref } = each.intent;
  const holder = pass.found.claims.get(identity);
  const twice = (uses.get(identity) ?? 0) > 1;
  if (twice || (holder !== undefined && holder !== plan.id)) {
    const by = twice ? 'two elements' : `child "${holder}" too`;
    const message = isNameOpen(plan)
      ? `metadata.name: "${ref.name}" is the name of ${by}`
      : `metadata.name: Expected a name of its own, found that of ${by}`;
    const problem: Problem = {
      reason: 'RenderFailed',
      message,
      code: 'duplicate-name',
      kind: 'permanent',
    };
    pass.found.claims.set(identity, holder ?? plan.id);
    return { kind: 'blocked', element: each.element, problem };
  }
  pass.found.claims.set(identity, plan.id);
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

function blocked(plan: ChildPlan, problem: Problem): ResolvedChild {
  return { plan, isWanted: true, elements: [{ kind: 'blocked', problem }] };
}

function limit(allowed: string, found: number): Problem {
  const message = `Expected at most ${allowed}, found "${found}"`;
  return { reason: 'LimitReached', message, code: 'limit-reached', kind: 'permanent' };
}

function whyNot(rendered: Exclude<Rendered<unknown>, { kind: 'value' }>, field: string): Problem {
  if (rendered.kind === 'waiting') return problemOfWaiting(rendered.on);
  if (rendered.kind === 'failed') return problemOfRender(rendered.failure);
  return {
    reason: 'RenderFailed',
    message: `${field}: Expected a value, found none`,
    code: 'missing-value',
    kind: 'permanent',
  };
}

/** The informer goes on trying and wakes the resource: nothing to do until then. */
function waitingForInformer(failure: KubeError, { gvk }: ChildPlan): Problem {
  const { reason, message, code } = problemOfRequest(failure, { about: open, gvk });
  return { reason, message, code, kind: 'waiting' };
}

/** Why objects of this kind cannot be made now: what exists is not known. */
function kindProblem(pass: Pass, plan: ChildPlan): Problem | undefined {
  const { state } = pass.context.watches.children(plan.gvk).informer;
  switch (state.kind) {
    case 'synced':
      return undefined;
    case 'waiting':
      return problemOfWaiting([`the list of ${plan.gvk.kind} objects`]);
    case 'failing':
      return waitingForInformer(state.error, plan);
  }
}
