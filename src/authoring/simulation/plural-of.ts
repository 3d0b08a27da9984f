/** The plural that Kubernetes itself would use. */
export function pluralOf(singular: string): string {
  if (/(?:s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
