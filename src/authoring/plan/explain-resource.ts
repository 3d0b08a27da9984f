import {
  type ExplainedExpression,
  type ExplainedReference,
  type ExpressionInput,
  explainDefinition,
  isHidden,
  type OperatorPlan,
  type PhaseInput,
  type Secrecy,
} from '#compile';
import type { LocatedDefinition } from '#definition';
import type { ChildDecision } from '#reconcile';
import { gvkKey } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { PlannedChange } from './plan.ts';
import { changesOf } from './planned-changes.ts';
import { type DryReconcileOptions, reconcileDry } from './reconcile-dry.ts';

/** The value of a reference now. */
export type PresentValue =
  | { readonly state: 'present'; readonly value: unknown }
  | { readonly state: 'missing' }
  /** It does not exist yet: `children.db`. */
  | { readonly state: 'waiting'; readonly on: string }
  /** It may contain a value of a Secret. */
  | { readonly state: 'sensitive' };

/** A value as a text for people. `json` writes a value that is present. */
export function presentValueText(value: PresentValue, json: (value: unknown) => string): string {
  switch (value.state) {
    case 'present':
      return `= ${json(value.value)}`;
    case 'missing':
      return 'is missing';
    case 'waiting':
      return `waits for ${value.on}`;
    default:
      return '= (sensitive)';
  }
}

/** An expression with the values that it reads. */
export interface PresentExpression extends Omit<ExplainedExpression, 'references'> {
  readonly reads: readonly { readonly reference: string; readonly value: PresentValue }[];
}

/** A child of a definition for one resource. */
export interface ChildExplanation {
  readonly id: string;
  readonly tier: number;
  readonly kind: string;
  /** Whether messages may name its objects. */
  readonly isNameOpen: boolean;
  /** One for each object; empty: `forEach` has no elements, or the resource is not reconciled. */
  readonly decisions: readonly ChildDecision[];
  readonly expressions: readonly PresentExpression[];
}

/** Why the objects of a resource are as they are. */
export interface ResourceExplanation {
  readonly definition: string;
  readonly resource: KubeObject;
  /** Whether the resource is reconciled; one that is paused or being deleted is not. */
  readonly isReconciled: boolean;
  /** Whether messages may quote the status of the resource. */
  readonly isStatusOpen: boolean;
  /** By tier. Without the children of `onDelete`. */
  readonly children: readonly ChildExplanation[];
  /** Objects of children that the definition no longer has. */
  readonly others: readonly ChildDecision[];
  /** What the next reconcile would write. Values of Secrets are masked. */
  readonly changes: readonly PlannedChange[];
}

/**
 * Explains the children of a resource as they are now: reconciles it once without writes, and looks up what its expressions read.
 * @param key `namespace/name`, `/name` for a cluster-scoped resource
 * @returns undefined: there is no such resource, or a problem of the definition on this cluster
 * @throws KubeError when a request fails
 */
export async function explainResource(
  located: LocatedDefinition,
  key: string,
  options: DryReconcileOptions,
  signal: AbortSignal,
): Promise<ResourceExplanation | { readonly problem: string } | undefined> {
  const found = await reconcileDry(located, key, options, signal);
  if (found === undefined || 'problem' in found) return found;
  const { plan, resource, decisions, writes, inputs } = found;
  const lookUp = inputs === undefined ? () => missing : createLookUp(plan, inputs);
  return {
    definition: plan.name,
    resource,
    isReconciled: decisions !== undefined,
    isStatusOpen: plan.secrecy === 'none',
    changes: changesOf(plan, writes),
    ...childrenOf(located, { plan, decisions: decisions ?? [], lookUp }),
  };
}

const missing: PresentValue = { state: 'missing' };

interface Found {
  readonly plan: OperatorPlan;
  readonly decisions: readonly ChildDecision[];
  readonly lookUp: (reference: ExplainedReference) => PresentValue;
}

function childrenOf(
  located: LocatedDefinition,
  { plan, decisions, lookUp }: Found,
): Pick<ResourceExplanation, 'children' | 'others'> {
  const explained = explainDefinition(located).children.filter(({ stage }) => stage === 'always');
  const ids = new Set(explained.map(({ id }) => id));
  const isNameOpen = (id: string) =>
    plan.children.find((each) => each.id === id)?.secrecy !== 'all';
  const decisionsOf = (id: string) => {
    const own = decisions.filter(({ childId }) => childId === id);
    return isNameOpen(id) ? own : own.map((each) => ({ ...each, namespace: '', name: '' }));
  };
  return {
    children: explained.map(({ id, tier, gvk: { kind }, expressions }) => ({
      id,
      tier,
      kind,
      isNameOpen: isNameOpen(id),
      decisions: decisionsOf(id),
      expressions: expressions.map(({ references, ...expression }) => ({
        ...expression,
        reads: references.map((each) => ({ reference: each.text, value: lookUp(each) })),
      })),
    })),
    others: decisions.filter(({ childId }) => !ids.has(childId)),
  };
}

type ReadObject = Pick<
  OperatorPlan['children'][number] | OperatorPlan['reads'][number],
  'id' | 'gvk' | 'secrecy'
>;

/** Looks up references in what a reconcile has read. Values that may come from a Secret are hidden. */
export function createLookUp(
  plan: OperatorPlan,
  { resource, children, reads, observed, history }: PhaseInput,
): (reference: ExplainedReference) => PresentValue {
  const inputs = { children, reads, observed };
  const plans = { children: plan.children, observed: plan.children, reads: plan.reads };
  return ({ root, path }) => {
    const [id, ...field] = path;
    if (root === 'resource' && id === 'history' && plan.history !== undefined)
      return versions(plan, history, field);
    if (root === 'resource')
      return shown({ state: 'present', value: resource }, path, plan.secrecy);
    if (id === undefined) return whole(plans[root], inputs[root]);
    const of = plans[root].find((each) => each.id === id);
    if (of === undefined) return missing;
    return shown(inputs[root]?.get(id) ?? { state: 'absent' }, field, secrecyOf(of));
  };
}

/** `history`, or a field of it. */
function versions(
  { reads }: OperatorPlan,
  entries: PhaseInput['history'],
  field: readonly string[],
): PresentValue {
  if (entries === undefined) return { state: 'waiting', on: 'history' };
  const isSensitive = reads.some(
    (read) => read.history !== undefined && isHidden(secrecyOf(read), []),
  );
  return isSensitive ? { state: 'sensitive' } : valueBelow(entries, field);
}

function secrecyOf({ gvk, secrecy }: ReadObject): Secrecy {
  return secrecy === 'none' && gvkKey(gvk) === 'v1/Secret' ? 'content' : secrecy;
}

/** All children or reads at once. */
function whole(
  plans: readonly ReadObject[],
  inputs: ReadonlyMap<string, ExpressionInput> = new Map(),
): PresentValue {
  if (plans.some((each) => isHidden(secrecyOf(each), []))) return { state: 'sensitive' };
  const present = [...inputs].flatMap(([id, input]) => {
    const value = shown(input, [], 'none');
    return value.state === 'present' ? [[id, value.value] as const] : [];
  });
  return { state: 'present', value: Object.fromEntries(present) };
}

function shown(input: ExpressionInput, path: readonly string[], secrecy: Secrecy): PresentValue {
  switch (input.state) {
    case 'absent':
    case 'unknown':
      return missing;
    case 'waiting':
      return { state: 'waiting', on: input.on };
    default:
      return isHidden(secrecy, path) ? { state: 'sensitive' } : valueBelow(input.value, path);
  }
}

function valueBelow(whole: unknown, path: readonly string[]): PresentValue {
  const value = below(whole, path);
  return value === undefined ? missing : { state: 'present', value };
}

/** As in expressions: a field of a list is the list of the fields of its items. */
function below(value: unknown, path: readonly string[]): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => below(item, path)).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items.flat();
  }
  return isJsonObject(value) && Object.hasOwn(value, step) ? below(value[step], rest) : undefined;
}
