import { isJsonObject, type Json } from '#util/json.ts';
import { defaultPathSteps } from './admission-path.ts';
import type {
  AdmissionDefault,
  AdmissionDefinition,
  AdmissionOperation,
  AdmissionRule,
} from './operator-definition.ts';
import { mapAt, mapsAt } from './tree.ts';

/** The requests that a rule can check. */
export const admissionOperations: readonly AdmissionOperation[] = ['Create', 'Update', 'Delete'];

/**
 * `spec.admission` with its defaults.
 * @param isForeign whether the definition uses an existing kind: then a rule that fails must not block its other users
 */
export function resolveAdmission(
  document: Json,
  isForeign: boolean,
): AdmissionDefinition | undefined {
  const rules = mapsAt(document, '/spec/admission/rules').flatMap(({ value }) => ruleOf(value));
  const defaults = mapsAt(document, '/spec/admission/defaults').flatMap(({ value }) =>
    defaultOf(value),
  );
  if (rules.length === 0 && defaults.length === 0) return undefined;
  const { action, failurePolicy } = mapAt(document, '/spec/admission');
  const isWritten = failurePolicy === 'Fail' || failurePolicy === 'Ignore';
  return {
    rules,
    defaults,
    action: action === 'Warn' || action === 'Audit' ? action : 'Deny',
    failurePolicy: isWritten ? failurePolicy : isForeign ? 'Ignore' : 'Fail',
  };
}

function defaultOf(written: Json): readonly AdmissionDefault[] {
  if (!isJsonObject(written)) return [];
  const { path, value } = written;
  const steps = typeof path === 'string' ? defaultPathSteps(path) : undefined;
  return steps === undefined || typeof value !== 'string' ? [] : [{ steps, value: value.trim() }];
}

function ruleOf(written: Json): readonly AdmissionRule[] {
  if (!isJsonObject(written)) return [];
  const { rule, message, operations, field } = written;
  if (typeof rule !== 'string' || typeof message !== 'string') return [];
  const chosen = Array.isArray(operations)
    ? admissionOperations.filter((each) => operations.includes(each))
    : [];
  return [
    {
      rule: rule.trim(),
      message: message.trim(),
      operations: chosen.length > 0 ? chosen : ['Create', 'Update'],
      ...(typeof field === 'string' && { field }),
    },
  ];
}
