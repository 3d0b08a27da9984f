/**
 * The cost of traversing a value, in steps: one for each list, object and element, and more for long strings. Stops
 * above `most`, so that the measurement never exceeds the limit. Iterative, because values may be nested deeply.
 */
export function walkSteps(value: unknown, most: number): number {
  if (typeof value === 'string') return textSteps(value);
  if (typeof value !== 'object' || value === null) return 1;
  let steps = 0;
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined && steps <= most; next = open.pop()) {
    if (typeof next === 'string') steps += textSteps(next);
    else if (typeof next !== 'object' || next === null) steps += 1;
    else if (Array.isArray(next)) {
      steps += 1 + next.length;
      for (const item of next) if (isWalked(item)) open.push(item);
    } else {
      for (const key of Object.keys(next)) {
        steps += 2;
        const field = (next as Readonly<Record<string, unknown>>)[key];
        if (isWalked(field)) open.push(field);
      }
      steps += 1;
    }
  }
  return steps;
}

function isWalked(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'string';
}

/** Cost of copying, comparing or searching a string natively: at most about one nanosecond per character. */
export function textSteps(text: string): number {
  return 1 + (text.length >> 8);
}

/** Cost of processing a string character by character. */
export function characterSteps(text: string): number {
  return 1 + (text.length >> 4);
}

/** Cost of reading each element or field of a value once, without nested values. */
export function shallowSteps(value: unknown): number {
  if (typeof value === 'string') return textSteps(value);
  if (Array.isArray(value)) return 1 + (value.length >> 3);
  if (typeof value !== 'object' || value === null) return 1;
  return 1 + Object.keys(value).length;
}

/** Cost of reading each element of a list and of nested lists. */
export function elementSteps(list: readonly unknown[]): number {
  let steps = 1;
  const open: (readonly unknown[])[] = [list];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    steps += next.length;
    for (const each of next) if (Array.isArray(each)) open.push(each);
  }
  return steps >> 2;
}

/** Cost of a substring search. In the worst case every character is compared with the whole pattern. */
export function searchSteps(text: unknown, pattern: unknown): number {
  if (typeof text !== 'string') return 1;
  if (typeof pattern !== 'string') return textSteps(text);
  return textSteps(text) + (text.length * pattern.length) / 512;
}

/** Bytes of a list or map with this number of entries. */
export function entriesBytes(count: number): number {
  return 16 + 16 * count;
}
