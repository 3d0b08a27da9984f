const longestQuoted = 60;

/** What was found, for messages: short scalars as they are, everything else (and every value of a Secret) by its type. */
export function describeFound(value: unknown, quotes: boolean): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const text = String(value);
  if (quotes && text.length <= longestQuoted && !/[\r\n]/.test(text)) return `"${text}"`;
  return { string: 'a text', boolean: 'a boolean' }[typeof value as string] ?? 'a number';
}
