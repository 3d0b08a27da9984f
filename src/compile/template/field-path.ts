/** A field within a manifest, for people: `spec.containers[0].image`, `metadata.labels["example.com/app"]`. */
export function fieldBelow(field: string, step: string | number): string {
  if (typeof step === 'number') return `${field}[${step}]`;
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)) return `${field}["${step}"]`;
  return field === '' ? step : `${field}.${step}`;
}

/** The same below a key that an expression gave: it may be quoted only where values may. */
export function fieldBelowKey(field: string, key: string, quotes: boolean): string {
  return quotes ? fieldBelow(field, key) : `${field}[*]`;
}
