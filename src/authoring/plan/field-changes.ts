import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject } from '#util/json.ts';
import { fieldPath, itemPath } from './field-path.ts';

/** A field that a write changes. */
export interface FieldChange {
  /** `spec.template.spec.containers[name=web].image`, for people. */
  readonly path: string;
  /** Undefined: the field is added. */
  readonly before?: unknown;
  /** Undefined: the field is removed. */
  readonly after?: unknown;
}

/** Fields that identify items of lists, in this order. */
const itemKeys = ['name', 'containerPort', 'port', 'mountPath', 'ip', 'topologyKey', 'type'];

/** The smallest fields that differ, in the order of the later value, removed ones last. Pure. */
export function fieldChanges(before: unknown, after: unknown, path = ''): readonly FieldChange[] {
  if (deepEqual(before, after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) {
    const names = new Set([...Object.keys(after), ...Object.keys(before)]);
    return [...names].flatMap((name) =>
      fieldChanges(before[name], after[name], fieldPath(path, name)),
    );
  }
  if (Array.isArray(before) && Array.isArray(after)) return itemChanges(before, after, path);
  return [
    {
      path,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    },
  ];
}

function itemChanges(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): readonly FieldChange[] {
  const key = itemKeys.find((each) => isKey(each, before) && isKey(each, after));
  if (key === undefined) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) => index).flatMap((index) =>
      fieldChanges(before[index], after[index], itemPath(path, index)),
    );
  }
  const byKey = (items: readonly unknown[]) =>
    new Map(items.map((item) => [String((item as Record<string, unknown>)[key]), item]));
  const [old, now] = [byKey(before), byKey(after)];
  const changes = [...new Set([...now.keys(), ...old.keys()])].flatMap((value) =>
    fieldChanges(old.get(value), now.get(value), itemPath(path, [[key, value]])),
  );
  // Only their order differs.
  return changes.length > 0 ? changes : [{ path, before, after }];
}

/** Has every item a value of its own for the key? */
function isKey(key: string, items: readonly unknown[]): boolean {
  const values = items.map((item) => (isJsonObject(item) ? item[key] : undefined));
  return (
    values.every((value) => typeof value === 'string' || typeof value === 'number') &&
    new Set(values.map(String)).size === values.length
  );
}
