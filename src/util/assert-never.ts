/** Closes an exhaustive switch over a discriminated union. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value "${JSON.stringify(value)}"`);
}
