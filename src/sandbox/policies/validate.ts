import type { PolicyValues } from '../cel/policy-cel.ts';
import { listField } from '../json-fields.ts';
import type { AdmissionRequest } from '../rest/rest-context.ts';
import { StatusError } from '../status/status-error.ts';
import { evaluate, evaluateConditions, type Validation } from './compile-policy.ts';
import { type Invocation, resourceOfError } from './mutate.ts';

/** A rule that a request violates, or that failed. */
interface Violation {
  readonly message: string;
  /** Empty: the rule failed. */
  readonly reason: string;
}

/**
 * Evaluates the rules of policies; returns the warnings of bindings that only warn.
 * @throws StatusError of the first violation that a binding denies
 */
export function validateBy(
  request: AdmissionRequest,
  invocations: readonly Invocation[],
  valuesOf: (invocation: Invocation) => PolicyValues,
): readonly string[] {
  const warnings: string[] = [];
  let denial: StatusError | undefined;
  for (const invocation of invocations) {
    const { policy, binding, bindingSpec } = invocation;
    const actions = listField(bindingSpec, 'validationActions');
    for (const violation of violationsOf(invocation, valuesOf(invocation))) {
      const about = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding}'`;
      if (actions.includes('Warn'))
        warnings.push(`Validation failed for ${about}: ${violation.message}`);
      if (actions.includes('Deny'))
        denial ??= denied(request, `${about} denied request: ${violation.message}`, violation);
    }
  }
  if (denial !== undefined) throw denial.withWarnings(warnings);
  return warnings;
}

function violationsOf({ policy }: Invocation, values: PolicyValues): readonly Violation[] {
  // The server evaluates conditions without the namespace.
  const condition = evaluateConditions(policy.conditions, { ...values, namespaceObject: null });
  const failed = (message: string) => (policy.failsOnError ? [{ message, reason: '' }] : []);
  if (condition.kind === 'error') return failed(condition.message);
  if (condition.kind === 'unknown' || condition.value !== true) return [];
  return policy.validations.flatMap((validation) => {
    const outcome = evaluate(validation.expression, values);
    if (outcome.kind === 'error') return failed(outcome.message);
    if (outcome.kind === 'unknown' || outcome.value === true) return [];
    return [{ message: messageOf(validation, values), reason: validation.reason }];
  });
}

const maxMessageBytes = 5 * 1024;

/** A computed message of one line, else the literal one, else the expression. */
function messageOf({ computed, message, expression }: Validation, values: PolicyValues): string {
  const outcome = computed && evaluate(computed, values);
  const text = outcome?.kind === 'value' && typeof outcome.value === 'string' ? outcome.value : '';
  const trimmed = text.trim();
  const isUsable =
    !trimmed.includes('\n') && new TextEncoder().encode(trimmed).length <= maxMessageBytes;
  if (trimmed !== '' && isUsable) return trimmed;
  return message === '' ? `failed expression: ${expression.text.trim()}` : message;
}

function denied(request: AdmissionRequest, message: string, { reason }: Violation): StatusError {
  const { resource, name, details } = resourceOfError(request);
  const known = reason === '' ? 'Invalid' : reason;
  return new StatusError({
    code: codeOf(known),
    reason: known,
    message: `${resource} ${JSON.stringify(name)} is forbidden: ${message}`,
    details: { ...details, causes: [{ message }] },
  });
}

function codeOf(reason: string): number {
  switch (reason) {
    case 'Forbidden':
      return 403;
    case 'RequestEntityTooLarge':
      return 413;
    default:
      return 422;
  }
}
