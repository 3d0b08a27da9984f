import { isJsonObject } from '#util/json.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';
import { reconcileAtAnnotation } from '#util/stored-names.ts';
import { giveUpAnnotation } from '../core/decide-deletion.ts';
import { approveEndpointAnnotation } from '../core/endpoint-gate.ts';
import { type ObjectPlan, planOf } from '../core/plan.ts';
import { approveCreateAnnotation, idAnnotation } from '../core/recover.ts';
import { type Approvals, type Blocked, isBlocked, type View } from '../core/view.ts';
import { decodeObject } from '../spec/object-spec.ts';
import { problemText } from '../spec/problem.ts';
import type { Endpoint, Endpoints } from './endpoints.ts';
import type { HttpObjectPorts, InputValue } from './ports.ts';
import { maskSecrets } from './secret-mask.ts';

/** After this time, an object whose deletion is not confirmed does not hold a namespace that is being deleted. */
const namespaceWaitMs = 300_000;

/** What a reconcile of an object starts with. */
export interface Start {
  /** Of the spec. The answer to an own write may show a later one. */
  readonly generation: number | undefined;
  readonly endpoint: Endpoint | undefined;
  readonly plan: ObjectPlan | Blocked;
  readonly inputs: Readonly<Record<string, InputValue>>;
  readonly isNamespaceTerminating: boolean;
}

/** Reads what the reconcile depends on. @throws KubeError */
export async function readStart(
  object: KubeObject,
  { ports, endpoints }: { readonly ports: HttpObjectPorts; readonly endpoints: Endpoints },
  signal: AbortSignal,
): Promise<Start> {
  const { namespace = '', deletionTimestamp } = object.metadata;
  const isDeleting = deletionTimestamp !== undefined;
  const endpoint = await endpoints.find(
    keyOf(namespace, endpointNameOf(object)),
    isDeleting,
    signal,
  );
  const isNamespaceTerminating =
    isDeleting && (await ports.values.isNamespaceTerminating(namespace, signal));
  const { generation } = object.metadata;
  const about = { generation, endpoint, isNamespaceTerminating };
  const { spec, problems } = decodeObject(object, ports.parser);
  if (spec === undefined) {
    const [first] = problems.filter(({ severity }) => severity === 'error');
    const message = first === undefined ? '' : problemText(first);
    return { ...about, plan: { reason: 'Invalid', message }, inputs: {} };
  }
  const inputs: Record<string, InputValue> = {};
  for (const [input, source] of Object.entries(spec.inputs)) {
    const value = await ports.values.read(namespace, source, signal);
    if ('reason' in value) return { ...about, plan: value, inputs };
    inputs[input] = value;
  }
  const used = [...new Set(Object.values(spec.secretFields))].sort();
  const versions = used.map((input) => inputs[input]?.version ?? '');
  return { ...about, plan: planOf(spec, object.metadata, versions), inputs };
}

/** What the result depends on, besides time and the API: another text reconciles at once. Pure. */
export function causeOf(
  { metadata }: KubeObject,
  { generation, endpoint, plan, inputs, isNamespaceTerminating }: Start,
): string {
  const { annotations = {} } = metadata;
  return JSON.stringify([
    generation,
    metadata.deletionTimestamp,
    isNamespaceTerminating,
    [approvalsOf(metadata.annotations), annotations[reconcileAtAnnotation]],
    endpoint?.version,
    isBlocked(plan) ? plan : Object.values(inputs).map(({ version }) => version),
  ]);
}

/** The decisions of users, as annotations. Pure. */
export function approvalsOf(annotations: Readonly<Record<string, string>> = {}): Approvals {
  return {
    endpoint: annotations[approveEndpointAnnotation],
    id: annotations[idAnnotation],
    create: annotations[approveCreateAnnotation],
    givesUp: annotations[giveUpAnnotation] === 'true',
  };
}

/** What the spec says about deletion, also if the rest of it is not valid. Pure. */
export function deletionOf(
  { spec, metadata: { deletionTimestamp } }: KubeObject,
  { isNamespaceTerminating }: Start,
): View['deletion'] {
  const { deletionPolicy, whenGone } = isJsonObject(spec) ? spec : {};
  const isGiven = whenGone === 'Orphan' || whenGone === 'Wait';
  return {
    policy: deletionPolicy === 'Orphan' ? 'Orphan' : 'Delete',
    whenGone: isGiven ? whenGone : isNamespaceTerminating ? 'Orphan' : 'Wait',
    ...(isNamespaceTerminating &&
      deletionTimestamp !== undefined &&
      whenGone !== 'Wait' && { untilMs: Date.parse(deletionTimestamp) + namespaceWaitMs }),
  };
}

/** The values of the inputs, by name. Pure. */
export function inputValues({ inputs }: Start): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(inputs).map(([name, { value }]) => [name, value]));
}

/** A text without the values of inputs and credentials. Pure. */
export function masked(text: string, start: Start): string {
  const withoutInputs = maskSecrets(text, Object.values(inputValues(start)));
  return start.endpoint?.session?.mask(withoutInputs) ?? withoutInputs;
}

function endpointNameOf({ spec }: KubeObject): string {
  const endpoint = isJsonObject(spec) ? spec.endpoint : undefined;
  return isJsonObject(endpoint) && typeof endpoint.name === 'string' ? endpoint.name : '';
}
