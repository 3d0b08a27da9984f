import type { ExpressionInput, ReadPlan, ReadRequest, Rendered } from '../../compile/index.ts';
import type { InformerState, ObjectRef } from '../../kube/roles.ts';
import { gvkIn } from '../../util/gvk.ts';
import { conditionsOf, type KubeObject } from '../../util/kube-object.ts';
import { type Problem, problemOfRender, problemOfValue, problemOfWatch } from '../failure.ts';
import { isRecord } from '../history/record.ts';
import { refTo } from '../identity.ts';
import { clusterRejection } from '../ownership/placement.ts';
import { hasFinalizer, isTerminating } from '../ownership-claims.ts';
import { isNamespaced } from '../pass/context.ts';
import type { Pass, ReadResult } from '../pass/pass.ts';
import { isRecordKeys, recordKeysRejection } from '../record-keys-secret.ts';
import { isNamePublic, objectText } from '../secrecy.ts';
import { namespaceRejection, type ScopeResult, scopeOf } from './list-scope.ts';
import { dependOnMember, memberUnusable } from './observe-members.ts';

/** Resolves every read whose request can be rendered, and passes it to the phase. Called after each tier: a read may depend on a child. */
export async function observeReads(pass: Pass): Promise<void> {
  let open = pass.context.plan.reads.filter(({ id }) => !isSettled(pass.findings.reads.get(id)));
  while (open.length > 0) {
    const requests = await Promise.all(
      open.map(async (plan) => ({ plan, request: await pass.desiredPhase.readRequest(plan.id) })),
    );
    const ready = requests.filter(({ request }) => request.kind !== 'waiting');
    await prepareWatches(pass, ready);
    for (const { plan, request } of requests) setResult(pass, { plan, request });
    if (ready.length === 0) return;
    // A read that was resolved now may be an input of another one.
    open = open.filter(({ id }) => !isSettled(pass.findings.reads.get(id)));
  }
}

/** Resolves a read again, after the applies. */
export function readAgain(pass: Pass, before: ReadResult): ReadResult {
  return before.request === undefined ? before : observeRead(pass, before.plan, before.request);
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
    request.kind === 'value' && request.value.by === 'name' && isReachable(pass, request.value)
      ? (refOf(pass, plan, request.value) ?? [])
      : [],
  );
  await pass.context.watches.prepareNamed(refs, pass.signal);
}

/** Objects in a member that cannot be used are not waited for. */
function isReachable({ members }: Pass, { cluster }: ReadRequest): boolean {
  return cluster === undefined || members?.isUsable(cluster) === true;
}

function setResult(pass: Pass, { plan, request }: OpenRead): void {
  const result = resultOf(pass, { plan, request });
  pass.findings.reads.set(plan.id, result);
  pass.desiredPhase.setRead(plan.id, desiredInput(plan, result.input));
  recordStates(pass, result);
}

/** Has the objects of a read with `history` recorded from now on, in the same synchronous step in which they were read. */
function recordStates(pass: Pass, { plan, objects, isKnown, problem, request }: ReadResult): void {
  const { context, key, uid, resource } = pass;
  const isRead = isKnown && problem === undefined && request !== undefined;
  if (plan.history === undefined || !isRead || isTerminating(resource)) return;
  // Versions in other namespaces are deleted by the finalizer.
  if (context.plan.history?.isDetached === true && !hasOwnFinalizer(pass)) return;
  context.recorder?.observe({ key, uid, resource }, plan, objects);
}

function hasOwnFinalizer({ context, resource, effects }: Pass): boolean {
  return effects.hasFinalizer === true || hasFinalizer(resource, context.plan.name);
}

/**
 * What desired objects may use of objects of kind `Cluster`: of the status, only the condition `Connected`. The rest changes without a
 * change of the cluster, so that objects would be created and deleted for no reason.
 */
function desiredInput({ isOfClusters }: ReadPlan, input: ExpressionInput): ExpressionInput {
  if (isOfClusters !== true || input.state !== 'present') return input;
  const { value } = input;
  return {
    ...input,
    value: Array.isArray(value) ? value.map(onlyConnected) : onlyConnected(value as KubeObject),
  };
}

function onlyConnected(object: KubeObject): KubeObject {
  const conditions = conditionsOf(object).filter(({ type }) => type === 'Connected');
  return { ...object, status: { conditions } };
}

function resultOf(pass: Pass, { plan, request }: OpenRead): ReadResult {
  const nothing = { plan, objects: [], isKnown: true, isOpen: false };
  switch (request.kind) {
    case 'value':
      return observeRead(pass, plan, request.value);
    case 'missing':
      return { ...nothing, input: plan.optional ? { state: 'absent' } : waitingFor(plan) };
    case 'waiting':
      return { ...nothing, isOpen: true, input: waitingFor(plan) };
    case 'failed':
      return { ...nothing, input: waitingFor(plan), problem: problemOfRender(request.failure) };
  }
}

function observeRead(pass: Pass, plan: ReadPlan, request: ReadRequest): ReadResult {
  const { cluster } = request;
  if (cluster !== undefined) {
    dependOnMember(pass, cluster);
    const problem = clusterRejection(pass, plan, cluster) ?? memberUnusable(pass, cluster);
    if (problem !== undefined) return failedRead(plan, request, problem);
  }
  return request.by === 'name'
    ? readByName(pass, plan, request)
    : readBySelector(pass, plan, request);
}

/** The result of a read that fails: its objects are not absent. */
function failedRead(plan: ReadPlan, request: ReadRequest, problem: Problem): ReadResult {
  return {
    plan,
    request,
    objects: [],
    isKnown: problem.isUnknown !== true,
    isOpen: false,
    input: waitingFor(plan, problem.message),
    problem: ofRead(plan, problem),
  };
}

function ofRead({ id }: ReadPlan, problem: Problem): Problem {
  return { ...problem, message: `reads.${id}: ${problem.message}` };
}

function readByName(pass: Pass, plan: ReadPlan, request: NameRequest): ReadResult {
  const ref = refOf(pass, plan, request);
  if (ref === undefined) {
    const where = request.namespace ?? pass.namespace;
    const message = namespaceRejection(pass, plan, where) ?? recordKeysRejection;
    return failedRead(plan, request, problemOfValue(message));
  }
  const { state, stored } = pass.dependencies.named(ref, plan.pathsRead);
  if (state.kind !== 'synced') return unknownRead(plan, request, state);
  // The scope is unknown: this is never "does not exist".
  if (isNamespaced(pass.context, ref.gvk) === undefined)
    return unknownRead(plan, request, { kind: 'waiting' });
  const base = { plan, request, isKnown: true, isOpen: false };
  const label = objectText(plan.gvk.kind, request.name, plan);
  const current = stored && pass.context.watches.confirmedByChildWatch(stored);
  if (current !== undefined) {
    const input: ExpressionInput = { state: 'present', value: current.object, label };
    return { ...base, objects: [current], input };
  }
  const why = `${label} does not exist`;
  const input = plan.optional ? ({ state: 'absent', why } as const) : waitingFor(plan, why);
  return { ...base, objects: [], input };
}

function readBySelector(pass: Pass, plan: ReadPlan, request: ListRequest): ReadResult {
  const { cluster } = request;
  const { state, query } = pass.context.watches.list(plan.id, cluster).informer;
  const found =
    isNamespaced(pass.context, query.gvk) === false
      ? wholeCluster
      : scopeOf(pass, plan, request.scope);
  if (found.kind === 'rejected') return failedRead(plan, request, problemOfValue(found.message));
  if (found.kind === 'unknown') return unknownRead(plan, request, found.state);
  const { selector } = request;
  const objects = pass.dependencies
    .selected(plan, { scope: found.scope, selector }, cluster)
    .filter(
      (stored) =>
        pass.context.watches.confirmedByChildWatch(stored) !== undefined &&
        // Versions of Secrets are Secrets: a read of Secrets does not return its own.
        !(plan.history !== undefined && isRecord(stored, pass.context.plan.name)) &&
        !isRecordKeys(query.gvk, stored.object.metadata.name),
    );
  if (state.kind !== 'synced') return unknownRead(plan, request, state);
  // The scope is unknown: this is never an empty list.
  if (isNamespaced(pass.context, query.gvk) === undefined)
    return unknownRead(plan, request, { kind: 'waiting' });
  const value = objects.map(({ object }) => object);
  const input: ExpressionInput = { state: 'present', value };
  return { plan, request, objects, isKnown: true, isOpen: false, input };
}

const wholeCluster: ScopeResult = { kind: 'scope', scope: { kind: 'named', namespaces: [''] } };

function unknownRead(plan: ReadPlan, request: ReadRequest, state: InformerState): ReadResult {
  const base = { plan, request, objects: [], isKnown: false, isOpen: false };
  if (state.kind !== 'failing') return { ...base, input: waitingFor(plan, 'not read yet') };
  const problem = problemOfWatch(state.error, plan.gvk, plan.literalName);
  return { ...base, problem: ofRead(plan, problem), input: waitingFor(plan, problem.message) };
}

function waitingFor(plan: ReadPlan, why?: string): ExpressionInput {
  return {
    state: 'waiting',
    on: why === undefined ? `reads.${plan.id}` : `reads.${plan.id} (${why})`,
  };
}

/** Undefined: reads from that namespace are rejected. */
function refOf(
  pass: Pass,
  plan: ReadPlan,
  { name, namespace, cluster }: NameRequest,
): ObjectRef | undefined {
  const gvk = gvkIn(plan.gvk, cluster);
  if (isNamespaced(pass.context, gvk) === false) return refTo(gvk, undefined, name);
  const where = namespace ?? pass.namespace;
  if (namespaceRejection(pass, plan, where) !== undefined || isRecordKeys(gvk, name))
    return undefined;
  const ref = refTo(gvk, where, name);
  return isNamePublic(plan) ? ref : { ...ref, isPrivate: true };
}
