import type { Difference, PathStep } from './difference.ts';

/** The names of the fields that differ, without values: `spec.replicas`, `spec.template.spec.containers[name="web"].image`. */
export function fieldsOf(found: readonly Difference[]): readonly string[] {
  return [...new Set(found.map(({ path }) => fieldName(path)))];
}

/** A path as people write it. Keys that are no plain names are quoted. */
export function fieldName(path: readonly PathStep[]): string {
  return path.map(stepName).join('').replace(/^\./, '');
}

function stepName(step: PathStep): string {
  if (typeof step === 'number') return `[${step}]`;
  if (typeof step === 'string')
    return /^[A-Za-z_][\w-]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
  if ('item' in step) return `[${JSON.stringify(step.item)}]`;
  const keys = Object.entries(step.keys).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `[${keys.join(',')}]`;
}
