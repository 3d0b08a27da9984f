import { rulesMissingIn, validatingPolicyGvk } from '#compile';
import type { AdmissionRule, LocatedDefinition } from '#definition';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { admissionPolicyNameOf } from '#util/stored-names.ts';
import type { DryRunCluster } from './dry-run-cluster.ts';
import type { BrokenRules } from './plan.ts';

/** What a rule says of a stored object; `unknown`: only a server can evaluate it. */
export type RuleOutcome =
  | { readonly kind: 'kept' | 'broken' | 'unknown' }
  | { readonly kind: 'error'; readonly message: string };

/** Makes what evaluates rules in CEL for a stored object: one outcome for each. */
export type CreateRuleEvaluator = (
  rules: readonly string[],
) => (object: JsonObject) => readonly RuleOutcome[];

/** At most this many objects are listed. */
const maxListed = 20;

/** Finds the stored objects that break new rules of a definition, without a request for any of them. */
export class RuleCheck {
  readonly #rules: readonly AdmissionRule[];
  readonly #evaluate: ReturnType<CreateRuleEvaluator>;
  readonly #listed: BrokenRules['objects'][number][] = [];
  readonly #unchecked = new Set<string>();
  #count = 0;

  constructor(rules: readonly AdmissionRule[], createEvaluator: CreateRuleEvaluator) {
    this.#rules = rules;
    this.#evaluate = createEvaluator(rules.map(({ rule }) => rule));
  }

  /** Checks an object as the cluster has it. */
  add(object: KubeObject): void {
    const { namespace, name, deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined) return;
    const messages = this.#messagesOf(object);
    if (messages.length === 0) return;
    this.#count += 1;
    if (this.#listed.length >= maxListed) return;
    const place = namespace === undefined ? {} : { namespace };
    this.#listed.push({ kind: object.kind, ...place, name, message: messages.join('; ') });
  }

  /** Undefined: no object breaks a rule, and all could be evaluated. */
  get result(): BrokenRules | undefined {
    const unchecked = [...this.#unchecked];
    if (this.#count === 0 && unchecked.length === 0) return undefined;
    return {
      count: this.#count,
      objects: this.#listed,
      ...(unchecked.length > 0 && { unchecked }),
    };
  }

  #messagesOf(object: KubeObject): readonly string[] {
    return this.#evaluate(object as unknown as JsonObject).flatMap((outcome, index) => {
      const rule = this.#rules[index];
      if (rule === undefined || outcome.kind === 'kept') return [];
      const text = rule.field === undefined ? rule.message : `${rule.field}: ${rule.message}`;
      if (outcome.kind === 'unknown') this.#unchecked.add(text);
      if (outcome.kind === 'unknown') return [];
      return [outcome.kind === 'error' ? outcome.message : text];
    });
  }
}

interface RuleCheckOptions {
  readonly cluster: DryRunCluster;
  readonly createEvaluator: CreateRuleEvaluator;
}

/**
 * The check of the rules that the cluster does not enforce yet, for updates: objects that exist are not created again.
 * @returns undefined: there are none
 * @throws KubeError when a request fails
 */
export async function ruleCheckOf(
  { definition: { name, admission } }: LocatedDefinition,
  { cluster, createEvaluator }: RuleCheckOptions,
  signal: AbortSignal,
): Promise<RuleCheck | undefined> {
  const rules = admission?.rules.filter(({ operations }) => operations.includes('Update')) ?? [];
  if (rules.length === 0) return undefined;
  const isServed = (await cluster.lookUp(validatingPolicyGvk, signal)) !== undefined;
  const enforced = isServed ? await enforcedPolicy(name, admission?.action, cluster, signal) : {};
  const missing = rulesMissingIn(enforced, rules);
  return missing.length === 0 ? undefined : new RuleCheck(missing, createEvaluator);
}

/** The policy as it is, if what it does with requests stays the same. */
async function enforcedPolicy(
  definition: string,
  action: string | undefined,
  cluster: DryRunCluster,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const flow = { name: definition, priority: 'object' } as const;
  const get = async (kind: string) => {
    const ref = { gvk: { ...validatingPolicyGvk, kind }, name: admissionPolicyNameOf(definition) };
    const stored = await cluster.get(ref, { flow }, signal);
    return stored?.object as unknown as JsonObject | undefined;
  };
  const binding = await get('ValidatingAdmissionPolicyBinding');
  const actions = isJsonObject(binding?.spec) ? binding.spec.validationActions : undefined;
  if (!Array.isArray(actions) || !actions.includes(action ?? 'Deny')) return undefined;
  return get('ValidatingAdmissionPolicy');
}
