import type { ChangeView } from '../contract.ts';
import type { OwnedField } from './owned-fields.ts';

/** A field that a definition sets, beside what the object has. */
export interface WantedField {
  readonly path: string;
  /** As JSON. Undefined: the next reconcile removes it. */
  readonly wanted: string | undefined;
  /** As JSON. Undefined: the object does not have it. */
  readonly live: string | undefined;
  readonly isDifferent: boolean;
  /** Managers that own it now. */
  readonly owners: readonly string[];
}

export interface Comparison {
  /** All fields with owners. */
  readonly fields: readonly OwnedField[];
  /** What the next reconcile changes in the object. */
  readonly changes: readonly ChangeView[];
}

/** The fields that a definition owns, and those that its next reconcile changes: first those that differ. Pure. */
export function wantedFields(
  own: readonly OwnedField[],
  { fields, changes }: Comparison,
): readonly WantedField[] {
  const differing = changes
    .flatMap((change) => change.fields)
    .map(({ path, before, after }): WantedField => {
      const owners = fields.find((field) => isSamePath(field.path, path))?.owners ?? [];
      return { path, wanted: after, live: before, isDifferent: true, owners };
    });
  const equal = own
    .filter(({ path }) => !differing.some((field) => isSamePath(path, field.path)))
    .map(({ path, value, owners }): WantedField => {
      return { path, wanted: value, live: value, isDifferent: false, owners };
    });
  return [...differing, ...equal];
}

/** List items are named by their keys here, `[name="web"]` or `[name=web]`. */
function isSamePath(a: string, b: string): boolean {
  return a.replaceAll('"', '') === b.replaceAll('"', '');
}
