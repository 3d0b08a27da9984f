import type { ExpressionInput, ReadPlan, ReadRequest, Rendered } from '#compile';
import type { InformerState, RefAt, StoredObject } from '#kube/roles.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { type Problem, problemOfRender, problemOfValue, problemOfWatch } from '../failure.ts';
import { kindAt, refTo } from '../identity.ts';
import { isNamespaced } from '../pass/context.ts';
import { isReachable } from '../pass/other-clusters.ts';
import type { Pass, ReadResult } from '../pass/pass.ts';
import { isRecordKeys, recordKeysRejection } from '../record-keys-secret.ts';
import { isNamePublic, objectText } from '../secrecy.ts';
import { namespaceRejection, type ScopeResult, scopeOf } from './list-scope.ts';

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
type NamesRequest = Extract<ReadRequest, { by: 'names' }>;
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
    request.kind === 'value' &&
    request.value.by !== 'selector' &&
    isReachable(pass, request.value.cluster)
      ? namesOf(request.value).flatMap((one) => refOf(pass, plan, one) ?? [])
      : [],
  );
  await pass.context.watches.prepareNamed(refs, pass.signal);
}

function setResult(pass: Pass, { plan, request }: OpenRead): void {
  const result = resultOf(pass, { plan, request });
  pass.findings.reads.set(plan.id, result);
  pass.desiredPhase.setRead(plan.id, desiredInput(plan, result.input));
  for (const feature of pass.features) feature.seen?.(pass, result);
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
    const { others } = pass;
    others?.depend(cluster);
    const problem = others?.rejection(plan, cluster) ?? others?.available(cluster);
    if (problem !== undefined) return failedRead(plan, request, problem);
  }
  switch (request.by) {
    case 'name':
      return readByName(pass, plan, request);
    case 'names':
      return readByNames(pass, plan, request);
    case 'selector':
      return readBySelector(pass, plan, request);
  }
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

/** What one name leads to. */
type NamedResult =
  | { readonly kind: 'failed'; readonly problem: Problem }
  | { readonly kind: 'unknown'; readonly state: InformerState; readonly name: string }
  | { readonly kind: 'absent'; readonly label: string }
  | { readonly kind: 'present'; readonly label: string; readonly stored: StoredObject };

function readByName(pass: Pass, plan: ReadPlan, request: NameRequest): ReadResult {
  const found = findNamed(pass, plan, request);
  if (found.kind === 'failed') return failedRead(plan, request, found.problem);
  if (found.kind === 'unknown') return unknownRead(plan, request, found.state, found.name);
  const base = { plan, request, isKnown: true, isOpen: false };
  const { label } = found;
  if (found.kind === 'present') {
    const input: ExpressionInput = { state: 'present', value: found.stored.object, label };
    return { ...base, objects: [found.stored], input };
  }
  const why = `${label} does not exist`;
  const input = plan.optional ? ({ state: 'absent', why } as const) : waitingFor(plan, why);
  return { ...base, objects: [], input };
}

/** The objects in the order of their names. The resource depends on all of them, also where one of them already decides the result. */
function readByNames(pass: Pass, plan: ReadPlan, request: NamesRequest): ReadResult {
  const found = namesOf(request).map((one) => findNamed(pass, plan, one));
  const failed = found.find(({ kind }) => kind === 'failed');
  if (failed?.kind === 'failed') return failedRead(plan, request, failed.problem);
  // Of several watches, the one that fails has the message.
  const unknown = found.filter((each) => each.kind === 'unknown');
  const worst = unknown.find(({ state }) => state.kind === 'failing') ?? unknown[0];
  if (worst !== undefined) return unknownRead(plan, request, worst.state, worst.name);
  const objects = found.flatMap((each) => (each.kind === 'present' ? [each.stored] : []));
  const absent = found.flatMap((each) => (each.kind === 'absent' ? [each.label] : []));
  if (absent.length === 0 || plan.optional) return listResult(plan, request, objects);
  const input = waitingFor(plan, absenceOf(absent));
  return { plan, request, objects, isKnown: true, isOpen: false, input };
}

function absenceOf([first = '', ...others]: readonly string[]): string {
  return others.length === 0
    ? `${first} does not exist`
    : `${first} and ${others.length} more do not exist`;
}

/** One request for each name. */
function namesOf(request: NameRequest | NamesRequest): readonly NameRequest[] {
  if (request.by === 'name') return [request];
  const { names, ...place } = request;
  return names.map((name) => ({ ...place, by: 'name', name }));
}

function findNamed(pass: Pass, plan: ReadPlan, request: NameRequest): NamedResult {
  const { name } = request;
  const ref = refOf(pass, plan, request);
  if (ref === undefined) {
    const where = request.namespace ?? pass.namespace;
    const message = namespaceRejection(pass, plan, where) ?? recordKeysRejection;
    return { kind: 'failed', problem: problemOfValue(message) };
  }
  const { state, stored } = pass.dependencies.named(ref, plan.pathsRead);
  if (state.kind !== 'synced') return { kind: 'unknown', state, name };
  // The scope is unknown: this is never "does not exist".
  if (isNamespaced(pass.context, ref.gvk) === undefined)
    return { kind: 'unknown', state: { kind: 'waiting' }, name };
  const label = objectText(plan.gvk.kind, name, plan);
  const current = stored && pass.context.watches.confirmedByChildWatch(stored);
  return current === undefined
    ? { kind: 'absent', label }
    : { kind: 'present', label, stored: current };
}

function readBySelector(pass: Pass, plan: ReadPlan, request: ListRequest): ReadResult {
  const { cluster, selector } = request;
  const { state } = pass.context.watches.list(plan.id, cluster).informer;
  const gvk = kindAt(plan.gvk, cluster);
  const found =
    isNamespaced(pass.context, gvk) === false ? wholeCluster : scopeOf(pass, plan, request.scope);
  if (found.kind === 'rejected') return failedRead(plan, request, problemOfValue(found.message));
  if (found.kind === 'unknown') return unknownRead(plan, request, found.state);
  if (selector === 'none') return listResult(plan, request, []);
  const objects = pass.dependencies
    .selected(plan, { scope: found.scope, selector }, cluster)
    .filter(
      (stored) =>
        pass.context.watches.confirmedByChildWatch(stored) !== undefined &&
        !pass.features.some((feature) => feature.hides?.(pass, plan, stored) === true) &&
        !isRecordKeys(gvk, stored.object.metadata.name),
    );
  if (state.kind !== 'synced') return unknownRead(plan, request, state);
  // The scope is unknown: this is never an empty list.
  if (isNamespaced(pass.context, gvk) === undefined)
    return unknownRead(plan, request, { kind: 'waiting' });
  return listResult(plan, request, objects);
}

function listResult(
  plan: ReadPlan,
  request: ReadRequest,
  objects: readonly StoredObject[],
): ReadResult {
  const value = objects.map(({ object }) => object);
  const input: ExpressionInput = { state: 'present', value };
  return { plan, request, objects, isKnown: true, isOpen: false, input };
}

const wholeCluster: ScopeResult = { kind: 'scope', scope: { kind: 'named', namespaces: [''] } };

/** `name`: of the object whose watch has this state. */
function unknownRead(
  plan: ReadPlan,
  request: ReadRequest,
  state: InformerState,
  name?: string,
): ReadResult {
  const base = { plan, request, objects: [], isKnown: false, isOpen: false };
  if (state.kind !== 'failing') return { ...base, input: waitingFor(plan, 'not read yet') };
  const literalName = plan.literalNames?.find((each) => each === name);
  const problem = problemOfWatch(state.error, plan.gvk, literalName);
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
): RefAt | undefined {
  const gvk = kindAt(plan.gvk, cluster);
  if (isNamespaced(pass.context, gvk) === false) return refTo(gvk, undefined, name);
  const where = namespace ?? pass.namespace;
  if (namespaceRejection(pass, plan, where) !== undefined || isRecordKeys(gvk, name))
    return undefined;
  const ref = refTo(gvk, where, name);
  return isNamePublic(plan) ? ref : { ...ref, isPrivate: true };
}
