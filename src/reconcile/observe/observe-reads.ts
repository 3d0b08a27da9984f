import type { ReadPlan, ReadRequest, Rendered, Seen } from '../../compile/index.ts';
import type { InformerState, ObjectRef } from '../../kube/roles.ts';
import { type Problem, problemOfRender, problemOfRequest } from '../failure.ts';
import { isNamespaced } from '../pass/context.ts';
import type { Pass, ReadResult } from '../pass/pass.ts';
import { isNameOpen, objectText, open } from '../secrecy.ts';
import { type ScopeResult, scopeOf, whyNotFrom } from './list-scope.ts';

/**
 * Looks at every read whose request can be rendered by now, and tells the phase. Called again after each tier,
 * as a read may depend on a child.
 */
export async function observeReads(pass: Pass): Promise<void> {
  let open = pass.context.plan.reads.filter(({ id }) => !isSettled(pass.found.reads.get(id)));
  while (open.length > 0) {
    const requests = await Promise.all(
      open.map(async (plan) => ({ plan, request: await pass.wanting.readRequest(plan.id) })),
    );
    const ready = requests.filter(({ request }) => request.kind !== 'waiting');
    await prepareWatches(pass, ready);
    for (const { plan, request } of requests) settle(pass, { plan, request });
    if (ready.length === 0) return;
    // A read that has just become known may be what another one waits for.
    open = open.filter(({ id }) => !isSettled(pass.found.reads.get(id)));
  }
}

/** Looks again at what a read asked for: the world after the applies. */
export function readAgain(pass: Pass, before: ReadResult): ReadResult {
  return before.request === undefined ? before : look(pass, before.plan, before.request);
}

type NameRequest = Extract<ReadRequest, { by: 'name' }>;
type ListRequest = Extract<ReadRequest, { by: 'selector' }>;

interface OpenRead {
  readonly plan: ReadPlan;
  readonly request: Rendered<ReadRequest>;
}

function isSettled(result: ReadResult | undefined): boolean {
  return result !== undefined && !result.isOpen;
}

async function prepareWatches(pass: Pass, reads: readonly OpenRead[]): Promise<void> {
  const refs = reads.flatMap(({ plan, request }) =>
    request.kind === 'value' && request.value.by === 'name'
      ? (refOf(pass, plan, request.value) ?? [])
      : [],
  );
  await pass.context.watches.prepareNamed(refs, pass.signal);
}

function settle(pass: Pass, { plan, request }: OpenRead): void {
  const result = resultOf(pass, { plan, request });
  pass.found.reads.set(plan.id, result);
  pass.wanting.setRead(plan.id, result.seen);
}

function resultOf(pass: Pass, { plan, request }: OpenRead): ReadResult {
  const nothing = { plan, objects: [], isKnown: true, isOpen: false };
  switch (request.kind) {
    case 'value':
      return look(pass, plan, request.value);
    case 'missing':
      return { ...nothing, seen: plan.optional ? { state: 'absent' } : waitingFor(plan) };
    case 'waiting':
      return { ...nothing, isOpen: true, seen: waitingFor(plan) };
    case 'failed':
      return { ...nothing, seen: waitingFor(plan), problem: problemOfRender(request.failure) };
  }
}

function look(pass: Pass, plan: ReadPlan, request: ReadRequest): ReadResult {
  return request.by === 'name'
    ? lookByName(pass, plan, request)
    : lookBySelector(pass, plan, request);
}

function lookByName(pass: Pass, plan: ReadPlan, request: NameRequest): ReadResult {
  const ref = refOf(pass, plan, request);
  if (ref === undefined) {
    const where = request.namespace ?? pass.namespace;
    return refused(plan, request, whyNotFrom(pass, plan, where) ?? '');
  }
  const { state, stored } = pass.dependencies.named(ref, plan.pathsRead);
  if (state.kind !== 'synced') return unknown(plan, request, state);
  // Where to look is not known: never "does not exist".
  if (isNamespaced(pass.context, plan.gvk) === undefined)
    return unknown(plan, request, { kind: 'waiting' });
  const base = { plan, request, isKnown: true, isOpen: false };
  const current = stored && pass.context.watches.confirmed(stored);
  if (current !== undefined) {
    return { ...base, objects: [current], seen: { state: 'present', value: current.object } };
  }
  const what = objectText(plan.gvk.kind, request.name, plan);
  const absent = waitingFor(plan, `${what} does not exist`);
  return { ...base, objects: [], seen: plan.optional ? { state: 'absent' } : absent };
}

function lookBySelector(pass: Pass, plan: ReadPlan, request: ListRequest): ReadResult {
  const { state } = pass.context.watches.list(plan.id);
  const found =
    isNamespaced(pass.context, plan.gvk) === false
      ? wholeCluster
      : scopeOf(pass, plan, request.place);
  if (found.kind === 'refused') return refused(plan, request, found.message);
  if (found.kind === 'unknown') return unknown(plan, request, found.state);
  const { selector } = request;
  const objects = pass.dependencies
    .selected(plan, { scope: found.scope, selector })
    .filter((stored) => pass.context.watches.confirmed(stored) !== undefined);
  if (state.kind !== 'synced') return unknown(plan, request, state);
  // Where to look is not known: never "nothing there".
  if (isNamespaced(pass.context, plan.gvk) === undefined)
    return unknown(plan, request, { kind: 'waiting' });
  const value = objects.map(({ object }) => object);
  const seen: Seen = { state: 'present', value };
  return { plan, request, objects, isKnown: true, isOpen: false, seen };
}

const wholeCluster: ScopeResult = { kind: 'scope', scope: { kind: 'named', namespaces: [''] } };

/** It is looked for nowhere, and never taken for absent. */
function refused(plan: ReadPlan, request: ReadRequest, message: string): ReadResult {
  const problem: Problem = {
    reason: 'RenderFailed',
    message: `reads.${plan.id}: ${message}`,
    code: 'invalid-manifest',
    kind: 'permanent',
  };
  return {
    plan,
    request,
    objects: [],
    isKnown: true,
    isOpen: false,
    seen: waitingFor(plan, message),
    problem,
  };
}

function unknown(plan: ReadPlan, request: ReadRequest, state: InformerState): ReadResult {
  const base = { plan, request, objects: [], isKnown: false, isOpen: false };
  if (state.kind !== 'failing') return { ...base, seen: waitingFor(plan, 'not read yet') };
  const { gvk, literalName } = plan;
  const context = { about: open, gvk, literalName };
  const { reason, message, code } = problemOfRequest(state.error, context);
  // Never permanent: the informer goes on trying and wakes the resource.
  const problem: Problem = {
    reason,
    message: `reads.${plan.id}: ${message}`,
    code,
    kind: 'waiting',
  };
  return { ...base, problem, seen: waitingFor(plan, message) };
}

function waitingFor(plan: ReadPlan, why?: string): Seen {
  return {
    state: 'waiting',
    on: why === undefined ? `reads.${plan.id}` : `reads.${plan.id} (${why})`,
  };
}

/** Undefined: it is in a namespace that is not read from. */
function refOf(
  pass: Pass,
  plan: ReadPlan,
  { name, namespace }: NameRequest,
): ObjectRef | undefined {
  const { gvk } = plan;
  if (isNamespaced(pass.context, gvk) === false) return { gvk, name };
  const where = namespace ?? pass.namespace;
  if (whyNotFrom(pass, plan, where) !== undefined) return undefined;
  return {
    gvk,
    name,
    ...(where === undefined ? {} : { namespace: where }),
    ...(!isNameOpen(plan) && { isPrivate: true }),
  };
}
