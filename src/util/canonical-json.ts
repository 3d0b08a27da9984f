/** Compact JSON with sorted keys: equal values give equal text. Undefined fields are left out. */
export function canonicalJson(value: unknown): string {
  const sorted = withSortedKeys(value);
  // `JSON.stringify` is ten times as fast as our own printer.
  return (sorted === unsortable ? print(value) : JSON.stringify(sorted)) ?? 'null';
}

/** Marks a value with an object whose key order cannot be changed. */
const unsortable = Symbol('unsortable');

/** The value with sorted fields; the same value if they are sorted already. */
function withSortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? withSortedItems(value) : withSortedFields(value);
}

function withSortedItems(list: readonly unknown[]): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = list[index];
    const sorted = withSortedKeys(item);
    if (sorted === unsortable) return unsortable;
    if (sorted === item) continue;
    copy ??= [...list];
    copy[index] = sorted;
  }
  return copy ?? list;
}

function withSortedFields(value: object): unknown {
  const source = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(source);
  let isSame = true;
  let last = '';
  for (const key of keys) {
    if (hasFixedPosition(key)) return unsortable;
    if (key < last) isSame = false;
    last = key;
  }
  if (!isSame) keys.sort();
  const copy: Record<string, unknown> = {};
  for (const key of keys) {
    const field = source[key];
    const sorted = withSortedKeys(field);
    if (sorted === unsortable) return unsortable;
    if (sorted !== field) isSame = false;
    copy[key] = sorted;
  }
  return isSame ? value : copy;
}

/** Objects list index-like keys first, and assigning `__proto__` creates no field. */
function hasFixedPosition(key: string): boolean {
  const first = key.charCodeAt(0);
  return (first >= 48 && first <= 57) || key === '__proto__';
}

function print(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => print(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${print(field)}`);
  return `{${fields.join(',')}}`;
}
