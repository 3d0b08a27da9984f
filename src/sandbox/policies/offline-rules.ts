import type { JsonObject } from '#util/json.ts';
import { toCel } from '../cel/cel-environment.ts';
import { createPolicyCompiler } from '../cel/policy-cel.ts';
import { evaluate, type Outcome } from './compile-policy.ts';

/** What a rule says of a stored object; `unknown`: it cannot be evaluated here. */
export type RuleOutcome =
  | { readonly kind: 'kept' | 'broken' | 'unknown' }
  | { readonly kind: 'error'; readonly message: string };

/** Evaluates rules of policies without a server, as for an update that changes nothing in an object. */
export type RuleEvaluator = (object: JsonObject) => readonly RuleOutcome[];

const scope = { variables: undefined, hasParams: false, hasAuthorizer: true, hasPatchTypes: false };
/** What is known in a request only. */
const ofRequests =
  /\b(?:namespaceObject|authorizer)\b|\brequest\s*\.\s*\??\s*(?:userInfo|options)\b/;

/** An evaluator of these rules: one outcome for each. */
export function createRuleEvaluator(rules: readonly string[]): RuleEvaluator {
  const compiler = createPolicyCompiler();
  const compiled = rules.map((text) =>
    ofRequests.test(text) ? undefined : { text, compiled: compiler.compile(text, scope) },
  );
  return (object) => {
    const seen = toCel(object, undefined);
    const request = toCel(requestFor(object), undefined);
    const values = { object: seen, oldObject: seen, request, namespaceObject: null, params: null };
    return compiled.map((rule) =>
      rule === undefined ? { kind: 'unknown' } : outcomeOf(evaluate(rule, values)),
    );
  };
}

function outcomeOf(outcome: Outcome): RuleOutcome {
  if (outcome.kind !== 'value') return outcome;
  return { kind: outcome.value === true ? 'kept' : 'broken' };
}

function requestFor({ metadata }: JsonObject): JsonObject {
  const { name = '', namespace } = metadata as JsonObject;
  return {
    operation: 'UPDATE',
    name,
    ...(namespace !== undefined && { namespace }),
    dryRun: false,
  };
}
