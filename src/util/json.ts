/** A JSON value as it travels over the wire. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;

/** A JSON object; readonly all the way down. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Is this a JSON object (not null, not a list)? */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object in a field. Undefined: the value is no object, or has none there. */
export function objectAt(value: unknown, field: string): JsonObject | undefined {
  const found = isJsonObject(value) ? value[field] : undefined;
  return isJsonObject(found) ? found : undefined;
}

/**
 * Approximate length of a value as JSON, rarely too low. Does not count escape sequences in strings. Iterative, because values can
 * be nested deeper than the stack.
 * @param containerSize Added for each map and list. @default 2, their brackets
 */
export function jsonLength(value: unknown, containerSize = 2): number {
  let size = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') size += next.length + 3;
    else if (typeof next !== 'object' || next === null) size += 24;
    else {
      size += containerSize;
      if (Array.isArray(next)) for (const item of next) open.push(item);
      else {
        for (const key in next) {
          size += key.length + 4;
          open.push((next as Readonly<Record<string, unknown>>)[key]);
        }
      }
    }
  }
  return size;
}

/** Whether lists and maps are nested deeper than some levels, few enough for the stack. Looks no deeper. Pure. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeperThan(item, levels - 1)) return true;
    return false;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name in fields) if (isDeeperThan(fields[name], levels - 1)) return true;
  return false;
}

/**
 * Total length of the paths of all lists and maps inside a value: a value nested n levels deep has about n² / 2. Iterative, because values
 * can be nested deeper than the stack.
 */
export function pathLength(value: unknown): number {
  let length = 0;
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    length += depth * level.length;
    level = level.flatMap(nestedValues);
  }
  return length;
}

function nestedValues(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).filter((item) => typeof item === 'object' && item !== null);
}

/** Appends one step to an RFC 6901 pointer: `/spec` + `a/b` -> `/spec/a~1b`. */
export function pointerTo(pointer: string, step: string | number): string {
  const text = String(step);
  // Almost no step needs an escape, and this runs for each value of each document.
  const isPlain = !text.includes('/') && !text.includes('~');
  return `${pointer}/${isPlain ? text : text.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The steps of an RFC 6901 pointer, unescaped. */
export function pointerSteps(pointer: string): readonly string[] {
  if (pointer === '') return [];
  const steps = pointer.slice(1).split('/');
  // Almost no pointer has an escape, and rules read many of each document.
  if (!pointer.includes('~')) return steps;
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Freezes a JSON tree in place and returns it. Iterative, because values can be nested deeper than the stack. */
export function freezeDeep<T>(value: T): T {
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const field of Object.values(next)) if (typeof field === 'object') open.push(field);
  }
  return value;
}
