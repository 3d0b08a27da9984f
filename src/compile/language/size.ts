/**
 * What a value costs to walk through, in steps: one for each list, object and element, and more for long texts. Stops where it is more
 * than `most`, so that measuring is never dearer than what may be done. Iterative: values may be nested as deep as JSON can be.
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

/** To copy, compare or search a text as the platform does it: about a nanosecond a character and less. */
export function textSteps(text: string): number {
  return 1 + (text.length >> 8);
}

/** To look at the characters of a text one by one. */
export function characterSteps(text: string): number {
  return 1 + (text.length >> 4);
}

/** To touch each element or field of a value once, and not what is in them. */
export function shallowSteps(value: unknown): number {
  if (typeof value === 'string') return textSteps(value);
  if (Array.isArray(value)) return 1 + (value.length >> 3);
  if (typeof value !== 'object' || value === null) return 1;
  return 1 + Object.keys(value).length;
}

/** To touch each element of a list, and of the lists within it. */
export function elementSteps(list: readonly unknown[]): number {
  let steps = 1;
  const open: (readonly unknown[])[] = [list];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    steps += next.length;
    for (const each of next) if (Array.isArray(each)) open.push(each);
  }
  return steps >> 2;
}

/** To search for a text in another one: at worst every character is compared with all of the pattern. */
export function searchSteps(text: unknown, pattern: unknown): number {
  if (typeof text !== 'string') return 1;
  if (typeof pattern !== 'string') return textSteps(text);
  return textSteps(text) + (text.length * pattern.length) / 512;
}

/** Bytes of a list or map with so many entries. */
export function entriesBytes(count: number): number {
  return 16 + 16 * count;
}
