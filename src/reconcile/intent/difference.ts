/** One step to a value: a field or map key, an index of an atomic list, the keys of a list-map item, the item of a set. */
export type PathStep =
  | string
  | number
  | { readonly keys: Readonly<Record<string, unknown>> }
  | { readonly item: unknown };

/** Holds values, so of Secrets too: never log it, never put it into a status. */
export interface Difference {
  readonly path: readonly PathStep[];
  /** Undefined: the intent does not have it, and it stands inside something that is replaced as a whole. */
  readonly want: unknown;
  /** Undefined: the live object does not have it. */
  readonly have: unknown;
}

/** Where a walk stands, and what it found. */
export interface Trail {
  readonly path: PathStep[];
  readonly found: Difference[];
}

/** Notes a difference where somebody listens. Always false, so that comparisons can return it. */
export function differs(want: unknown, have: unknown, trail: Trail | undefined): false {
  trail?.found.push({ path: [...trail.path], want, have });
  return false;
}

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
