import type { ChildPlan, Seen } from '../../compile/index.ts';
import type { Problem } from '../failure.ts';
import { onDeleteAnnotationOf } from '../names.ts';
import { liveOf } from '../pass/element-result.ts';
import { observeChildren } from '../pass/observe-children.ts';
import { observeReads } from '../pass/observe-reads.ts';
import type { ElementResult, Pass } from '../pass/pass.ts';
import { wantTier } from '../pass/want-tier.ts';
import { readinessOfElement } from '../report/readiness.ts';
import { type DeletionTerms, doneMark } from './deletion-terms.ts';
import { noteOnResource } from './note-on-resource.ts';
import { isKnown, listOf } from './what-is-left.ts';

/** What stands in the way of the removal of the children. */
export interface Preparation {
  readonly isDone: boolean;
  readonly problems: readonly Problem[];
}

const done: Preparation = { isDone: true, problems: [] };
const waiting: Preparation = { isDone: false, problems: [] };

/** Makes `onDelete.children`, and says when they are ready: then the children may go. */
export async function prepareDeletion(pass: Pass, terms: DeletionTerms): Promise<Preparation> {
  const { context, resource } = pass;
  const { plan } = context;
  await observeExisting(pass);
  const mark = resource.metadata.annotations?.[onDeleteAnnotationOf(plan.name)];
  if (terms.isSkipping || terms.givesUp) return done;
  // Only the definition knows what is to be done, and in which order, and it cannot say.
  if (context.isFinishing) return mark === undefined ? done : { isDone: false, problems: [broken] };
  if (mark === doneMark) return done;
  const children = plan.onDelete?.children ?? [];
  if (children.length === 0) return done;
  for (const tier of plan.onDelete?.tiers ?? []) await wantTier(pass, tier);
  if (!(await areReady(pass, children))) return waiting;
  const problem = await noteOnResource(pass, { [onDeleteAnnotationOf(plan.name)]: doneMark });
  return problem === undefined ? done : { isDone: false, problems: [problem] };
}

/** What expressions see of the children while they go: what there still is. What is gone is not waited for. */
export async function observeExisting(pass: Pass): Promise<void> {
  const { children, onDelete } = pass.context.plan;
  if (onDelete === undefined && !children.some(({ hasDeleteWhen }) => hasDeleteWhen)) return;
  observeChildren(pass);
  for (const child of children) pass.wanting.setChild(child.id, seenOf(pass, child));
  await observeReads(pass);
}

function seenOf(pass: Pass, child: ChildPlan): Seen {
  const { informer } = pass.context.watches.children(child.gvk);
  if (!isKnown(informer)) return { state: 'waiting', on: listOf(informer) };
  const objects = liveOf(pass, child).map(({ object }) => object);
  if (child.isList) return { state: 'present', value: objects };
  const [object] = objects;
  return object === undefined ? { state: 'absent' } : { state: 'present', value: object };
}

async function areReady(pass: Pass, children: readonly ChildPlan[]): Promise<boolean> {
  for (const { id } of children) {
    for (const element of pass.children.get(id)?.elements ?? []) {
      if (isImpossible(element)) continue;
      const { state } = await readinessOfElement(pass.wanting, element);
      if (state !== 'Ready') return false;
    }
  }
  return true;
}

/** In a namespace that is on its way out nothing can be made any more: there is nothing to wait for. */
function isImpossible({ problem }: ElementResult): boolean {
  return problem?.code === 'namespace-terminating';
}

const broken: Problem = {
  reason: 'DefinitionBroken',
  message:
    'Its definition has "onDelete" and is broken: the deletion waits for it, or for the annotation homeostat.dev/skip-on-delete: "true"',
  code: 'definition-broken',
  kind: 'waiting',
};
