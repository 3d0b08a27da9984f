import type { ChildPlan, Seen } from '../../compile/index.ts';
import { KubeError } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import { liveOf } from '../child/element-result.ts';
import { readinessOfElement } from '../child/readiness.ts';
import { wantTier } from '../child/want-tier.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { onDeleteAnnotationOf } from '../names.ts';
import { observeChildren } from '../observe/observe-children.ts';
import { observeReads } from '../observe/observe-reads.ts';
import { type ElementResult, type Pass, worldWrite } from '../pass/pass.ts';
import { noteOnResource } from '../resource/write-metadata.ts';
import { open } from '../secrecy.ts';
import { isKnown, listOf } from '../wake/settled.ts';
import { type DeletionTerms, doneMark } from './deletion-terms.ts';

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
  const readiness = await readinessOf(pass, children);
  if (typeof readiness === 'object') return { isDone: false, problems: [readiness] };
  if (readiness === 'waiting') return waiting;
  const problem = await noteOnResource(pass, { [onDeleteAnnotationOf(plan.name)]: doneMark });
  return problem === undefined ? done : { isDone: false, problems: [problem] };
}

/** What expressions see of the children while they go: what there still is. What is gone is not waited for. */
export async function observeExisting(pass: Pass): Promise<void> {
  const { children, onDelete } = pass.context.plan;
  if (onDelete === undefined && !children.some(({ hasDeleteWhen }) => hasDeleteWhen)) return;
  await observeChildren(pass);
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

async function readinessOf(
  pass: Pass,
  children: readonly ChildPlan[],
): Promise<'ready' | 'waiting' | Problem> {
  const elements = children.flatMap(({ id }) => pass.did.children.get(id)?.elements ?? []);
  const isGoing = elements.some(isBlocked) && (await isNamespaceGoing(pass));
  if (typeof isGoing === 'object') return isGoing;
  for (const element of elements) {
    if (isImpossible(element) || (isGoing && isBlocked(element))) continue;
    const { state } = await readinessOfElement(pass.wanting, element);
    if (state !== 'Ready') return 'waiting';
  }
  return 'ready';
}

/** In a namespace that is on its way out nothing can be made any more: there is nothing to wait for. */
function isImpossible({ problem }: ElementResult): boolean {
  return problem?.code === 'namespace-terminating';
}

/** Is it neither there nor asked for? What it waits for may have gone with the namespace. */
function isBlocked({ problem, live }: ElementResult): boolean {
  return problem !== undefined && live === undefined;
}

/** The server is asked: no watch on namespaces is worth it. Who may not ask takes it for one that stays. */
async function isNamespaceGoing(pass: Pass): Promise<boolean | Problem> {
  const { context, namespace, signal } = pass;
  if (namespace === undefined) return false;
  try {
    const ref = { gvk: namespaceKind, name: namespace };
    const found = await context.cluster.get(ref, worldWrite(pass), signal);
    return found?.object.metadata.deletionTimestamp !== undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || signal.aborted) throw error;
    return error.isPermanent ? false : problemOfRequest(error, { about: open });
  }
}

const namespaceKind = gvkOf('v1', 'Namespace');

const broken: Problem = {
  reason: 'DefinitionBroken',
  message:
    'Its definition has "onDelete" and is broken: the deletion waits for it, or for the annotation homeostat.dev/skip-on-delete: "true"',
  code: 'definition-broken',
  kind: 'waiting',
};
