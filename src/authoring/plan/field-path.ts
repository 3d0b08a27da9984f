/** The path of a field, for people: `spec.replicas`, `metadata.labels["example.com/a"]`. Pure. */
export function fieldPath(parent: string, name: string): string {
  if (parent === '') return name;
  return /^[A-Za-z_][\w-]*$/.test(name)
    ? `${parent}.${name}`
    : `${parent}[${JSON.stringify(name)}]`;
}

/**
 * The path of an item of a list, for people: `containers[name=web]`, `args[0]`. Pure.
 * @param item its position, or the fields and values that identify it.
 */
export function itemPath(
  list: string,
  item: number | readonly (readonly [string, unknown])[],
): string {
  if (typeof item === 'number') return `${list}[${item}]`;
  return `${list}[${item.map(([key, value]) => `${key}=${String(value)}`).join(',')}]`;
}
