/** One step to a value: a field or map key, an index of an atomic list, the keys of a list-map item, the item of a set. */
export type PathStep =
  | string
  | number
  | { readonly keys: Readonly<Record<string, unknown>> }
  | { readonly item: unknown };

/** Contains values, also of Secrets: never log it or write it to a status. */
export interface Difference {
  readonly path: readonly PathStep[];
  /** Undefined: the intent lacks it, and an apply replaces the surrounding value as a whole. */
  readonly want: unknown;
  /** Undefined: the live object lacks it. */
  readonly have: unknown;
}

/** The current path of a comparison, and the differences so far. */
export interface Trail {
  readonly path: PathStep[];
  readonly found: Difference[];
}

/** Records a difference if a trail is given. Always false, so that comparisons can return it. */
export function differs(want: unknown, have: unknown, trail: Trail | undefined): false {
  trail?.found.push({ path: [...trail.path], want, have });
  return false;
}

/** The names of the fields that differ, without values: `spec.replicas`, `spec.template.spec.containers[name="web"].image`. */
export function fieldsOf(found: readonly Difference[]): readonly string[] {
  return [...new Set(found.map(({ path }) => fieldName(path)))];
}

/** The path as text: `spec.containers[name="web"].image`. Keys that are not identifiers are quoted. */
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
