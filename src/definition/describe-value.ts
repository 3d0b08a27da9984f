const longestShown = 60;

/** A found value for a message, in quotes: scalars as they are, collections by their type. */
export function found(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return Object.keys(value).length === 0 ? 'an empty map' : 'a map';
  const text = String(value).replaceAll(/\s+/g, ' ');
  return text.length > longestShown ? `"${text.slice(0, longestShown)}..."` : `"${text}"`;
}

/** `"a"`, `"a" or "b"`, `"a", "b" or "c"`. */
export function oneOf(values: readonly unknown[]): string {
  const quoted = values.map((value) => `"${String(value)}"`);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}
