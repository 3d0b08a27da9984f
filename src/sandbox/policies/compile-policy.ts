import { isJsonObject, type JsonObject } from '#util/json.ts';
import type {
  PolicyCompiler,
  PolicyExpression,
  PolicyScope,
  PolicyValues,
} from '../cel/policy-cel.ts';
import { type PolicyVariable, variableTypes } from '../cel/policy-variables.ts';
import { fieldOf, listField, objectField, stringField } from '../json-fields.ts';
import { isUnsupported } from './request-values.ts';

/** An expression of a policy with its text. */
export interface Expression {
  readonly text: string;
  readonly compiled: PolicyExpression;
}

/** A rule of a policy that validates. */
export interface Validation {
  readonly expression: Expression;
  /** Computes the message. */
  readonly computed: Expression | undefined;
  readonly message: string;
  readonly reason: string;
}

/** A stored policy, ready to be evaluated. */
export interface CompiledPolicy {
  readonly name: string;
  readonly constraints: JsonObject;
  readonly failsOnError: boolean;
  readonly conditions: readonly Expression[];
  readonly variables: readonly PolicyVariable[];
  readonly validations: readonly Validation[];
  /** JSON patches. */
  readonly mutations: readonly Expression[];
  readonly isReinvocable: boolean;
}

/** Compiles a stored policy. Undefined: the sandbox does not enforce it, because it has params. */
export function compilePolicy(
  policy: JsonObject,
  compiler: PolicyCompiler,
): CompiledPolicy | undefined {
  const spec = objectField(policy, 'spec') ?? {};
  if (objectField(spec, 'paramKind') !== undefined) return undefined;
  const { variables, types } = variableTypes(spec, compiler);
  const scope = { variables: types, hasParams: false, hasAuthorizer: true, hasPatchTypes: false };
  const expression = (text: string, more: Partial<PolicyScope> = {}): Expression => ({
    text,
    compiled: compiler.compile(text, { ...scope, ...more }),
  });
  const items = (name: string) => listField(spec, name).filter(isJsonObject);
  return {
    name: stringField(objectField(policy, 'metadata') ?? {}, 'name') ?? '',
    constraints: objectField(spec, 'matchConstraints') ?? {},
    failsOnError: stringField(spec, 'failurePolicy') !== 'Ignore',
    conditions: items('matchConditions').map((each) =>
      expression(stringField(each, 'expression') ?? '', { variables: undefined }),
    ),
    variables,
    validations: items('validations').map((each) => {
      const computed = stringField(each, 'messageExpression') ?? '';
      return {
        expression: expression(stringField(each, 'expression') ?? ''),
        computed: computed === '' ? undefined : expression(computed, { hasAuthorizer: false }),
        message: (stringField(each, 'message') ?? '').trim(),
        reason: stringField(each, 'reason') ?? 'Invalid',
      };
    }),
    mutations: items('mutations').flatMap((each) => {
      const text = stringField(objectField(each, 'jsonPatch') ?? {}, 'expression');
      return text === undefined ? [] : [expression(text.trim(), { hasPatchTypes: true })];
    }),
    isReinvocable: fieldOf(spec, 'reinvocationPolicy') === 'IfNeeded',
  };
}

/** The result of an expression for a request. */
export type Outcome =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly message: string }
  /** The sandbox cannot evaluate it. */
  | { readonly kind: 'unknown' };

/** Evaluates an expression; errors have the server's words. */
export function evaluate({ text, compiled }: Expression, values: PolicyValues): Outcome {
  if (compiled.kind !== 'program') return { kind: 'unknown' };
  try {
    return { kind: 'value', value: compiled.evaluate(values) };
  } catch (error) {
    if (isUnsupported(error)) return { kind: 'unknown' };
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'error', message: `expression '${text}' resulted in error: ${why}` };
  }
}

/** Whether the conditions of a policy are true: `error` = the server cannot tell. */
export function evaluateConditions(
  conditions: readonly Expression[],
  values: PolicyValues,
): Outcome {
  const outcomes = conditions.map((condition) => evaluate(condition, values));
  if (outcomes.some((each) => each.kind === 'value' && each.value === false))
    return { kind: 'value', value: false };
  if (outcomes.some(({ kind }) => kind === 'unknown')) return { kind: 'value', value: false };
  const errors = outcomes.flatMap((each) => (each.kind === 'error' ? [each.message] : []));
  if (errors.length === 0) return { kind: 'value', value: true };
  const unique = [...new Set(errors)];
  return {
    kind: 'error',
    message: unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`,
  };
}
