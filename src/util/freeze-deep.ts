/** Freezes a JSON tree in place and returns it. */
export function freezeDeep<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const field of Object.values(value)) freezeDeep(field);
  }
  return value;
}
