/** Freezes a JSON tree in place and returns it. Iterative: what a server takes may be nested deeper than the stack is. */
export function freezeDeep<T>(value: T): T {
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const field of Object.values(next)) if (typeof field === 'object') open.push(field);
  }
  return value;
}
