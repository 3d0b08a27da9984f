import { type FieldStep, fieldName } from '#util/field-path.ts';

/** Contains values, also of Secrets: never log it or write it to a status. */
export interface Difference {
  readonly path: readonly FieldStep[];
  /** Undefined: the intent lacks it, and an apply replaces the surrounding value as a whole. */
  readonly want: unknown;
  /** Undefined: the live object lacks it. */
  readonly have: unknown;
}

/** The current path of a comparison, and the differences so far. */
export interface Trail {
  readonly path: FieldStep[];
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
