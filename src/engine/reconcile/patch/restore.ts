import type { PatchPlan, ReadPlan, ReadScope, RenderedPatch } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import { apiVersionOf, groupKindKey } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { ObjectMeta } from '#util/kube-object.ts';
import { type Problem, problemOfRequest, problemOfValue } from '../failure.ts';
import { refTo } from '../identity.ts';
import { scopeOf } from '../observe/list-scope.ts';
import { namespaceOf } from '../ownership/namespace-of.ts';
import { isNamespaced } from '../pass/context.ts';
import { clusterWrite, type Pass, requestError } from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import type { PatchTarget, PatchWithKind, TargetState } from './patch-target.ts';

/** A recorded object that is about to be restored. */
export interface RestoreTarget extends PatchTarget {
  /** The read that records it. */
  readonly read: ReadPlan;
  readonly state: TargetState;
}

/**
 * The target of a patch whose kind or fields are computed: an object that this resource has recorded, in the current scope of the read. So
 * it cannot write anything that the definition does not read.
 */
export async function restoreTarget(
  pass: Pass,
  plan: PatchWithKind,
  rendered: RenderedPatch,
): Promise<RestoreTarget | Problem> {
  const { name = '' } = rendered;
  const hasNamespace = isNamespaced(pass.context, plan.gvk) !== false;
  const namespace = hasNamespace ? (rendered.namespace ?? pass.namespace) : undefined;
  const what = objectText(plan.gvk.kind, name, plan);
  const read = pass.context.plan.reads.find(
    (each) =>
      groupKindKey(each.gvk) === groupKindKey(plan.gvk) &&
      plan.records?.isRecorded(pass.uid, each, { namespace, name }),
  );
  if (read === undefined)
    return problemOfValue(`Expected an object that this resource has recorded, found ${what}`);
  const rejection = namespaceRejectionOf(pass, plan, { read, namespace, name });
  if (rejection !== undefined) return rejection;
  const ref = refTo(plan.gvk, namespace, name);
  const state = await observeRecorded(pass, plan, { read, ref, isSelf: false });
  const live = state.kind === 'present' ? state.live : undefined;
  if (!isInScope(pass, read, { namespace, live }))
    return problemOfValue(`${what} is not in the scope of read "${read.id}" any more`);
  return { ref, isSelf: false, read, state };
}

/** A recorded object, and the read that records it. */
interface RecordedName {
  readonly read: ReadPlan;
  readonly namespace: string | undefined;
  readonly name: string;
}

/**
 * Why a recorded object may not be written where it is: the same rules as for children. Without a `crossNamespace` of its own, a patch may
 * write in the namespaces of the read, but in a system namespace only if the read names it.
 */
function namespaceRejectionOf(
  pass: Pass,
  plan: PatchWithKind,
  { read, namespace, name }: RecordedName,
): Problem | undefined {
  const { request } = pass.findings.reads.get(read.id) ?? {};
  const scope = request?.by === 'selector' ? request.scope : undefined;
  const crossNamespace =
    plan.crossNamespace === false ? { namespaces: namespacesOf(scope) } : plan.crossNamespace;
  const metadata = { name, ...(namespace !== undefined && { namespace }) };
  const object = { apiVersion: apiVersionOf(plan.gvk), kind: plan.gvk.kind, metadata };
  const found = namespaceOf(pass, { ...plan, crossNamespace }, { object, cluster: undefined });
  return 'reason' in found ? found : undefined;
}

/** Globs of the namespaces that a read may select, beside that of the resource. */
function namespacesOf(scope: ReadScope | undefined): readonly string[] {
  switch (scope?.kind) {
    case 'named':
      return scope.namespaces;
    case 'all':
    case 'selected':
      return scope.allowed ?? ['*'];
    default:
      // Of a cluster-scoped kind, all objects are read.
      return ['*'];
  }
}

/** The read that records the target of a patch. Undefined: the target is not recorded. */
export function readOfTarget(
  pass: Pass,
  { records }: Pick<PatchWithKind, 'records'>,
  {
    target: { ref },
    live,
  }: { readonly target: PatchTarget; readonly live: StoredObject | undefined },
) {
  if (records === undefined) return undefined;
  return pass.context.plan.reads.find(
    (read) =>
      records.keeps(read) &&
      groupKindKey(read.gvk) === groupKindKey(ref.gvk) &&
      isInScope(pass, read, { namespace: ref.namespace, live }),
  );
}

/** Asks the server about an object that the read does not find: it may have been relabelled. */
async function observeRecorded(
  pass: Pass,
  plan: PatchWithKind,
  { read, ref }: PatchTarget & { readonly read: ReadPlan },
): Promise<TargetState> {
  const known = pass.context.watches.list(read.id).informer.get(ref.namespace, ref.name);
  if (known !== undefined) return { kind: 'present', live: known };
  try {
    const live = await pass.context.cluster.get(ref, clusterWrite(pass), pass.signal);
    return live === undefined ? { kind: 'absent' } : { kind: 'present', live };
  } catch (error) {
    const context = { about: plan, gvk: ref.gvk };
    return { kind: 'unknown', problem: problemOfRequest(requestError(error, pass), context) };
  }
}

/** Whether an object is in the namespaces that the read selects now, and has its labels if it exists. */
function isInScope(
  pass: Pass,
  read: ReadPlan,
  {
    namespace,
    live,
  }: { readonly namespace: string | undefined; readonly live: StoredObject | undefined },
): boolean {
  const { request, isKnown, objects } = pass.findings.reads.get(read.id) ?? {};
  if (request?.by !== 'selector' || isKnown !== true) return false;
  if (live !== undefined) {
    const { uid } = live.object.metadata;
    return objects?.some(({ object }) => object.metadata.uid === uid) === true;
  }
  if (namespace === undefined) return true;
  const found = scopeOf(pass, read, request.scope);
  if (found.kind !== 'scope') return false;
  const { scope } = found;
  return scope.kind === 'wide' ? scope.has(namespace) : scope.namespaces.includes(namespace);
}

/**
 * The fields of a patch that is one expression, without what identifies the object: that is the same as in the target. Of the metadata,
 * only labels and annotations can be restored.
 */
export function fieldsOfWhole(
  plan: PatchWithKind,
  { fields }: RenderedPatch,
  { ref }: PatchTarget,
): RenderedPatch['fields'] | Problem {
  const { apiVersion, kind, metadata, ...content } = fields;
  const { name, namespace, labels, annotations, ...others } = isJsonObject(metadata)
    ? metadata
    : {};
  const identity = [
    ['apiVersion', apiVersion, apiVersionOf(ref.gvk)],
    ['kind', kind, ref.gvk.kind],
    ['metadata.name', name, ref.name],
    ['metadata.namespace', namespace, ref.namespace],
  ] as const;
  const different = identity.find(([, given, own]) => given !== undefined && given !== own);
  if (different !== undefined)
    return problemOfValue(`${different[0]}: Expected that of the target "${plan.id}" patches`);
  const [other] = Object.keys(others);
  if (other !== undefined)
    return problemOfValue(`metadata: Expected only labels and annotations, found "${other}"`);
  return {
    ...content,
    metadata: { ...mapOf('labels', labels), ...mapOf('annotations', annotations) },
  };
}

function mapOf(field: 'labels' | 'annotations', value: unknown): Partial<ObjectMeta> {
  return value === undefined ? {} : { [field]: value };
}

/** Whether a patch is one expression: it renders what identifies the object, too. */
export function isWholePatch({ paths }: PatchPlan): boolean {
  return paths.length === 1 && paths[0]?.length === 0;
}
