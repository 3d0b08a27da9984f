/** What is nested deeper nobody has written by hand, and it would take the stack of whoever walks through it. */
export const mostNested = 500;

/** Are there more lists and maps inside each other than that? Walks through a value of any depth. */
export function isNestedTooDeep(value: unknown): boolean {
  let level = containersOf([value]);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > mostNested) return true;
    level = containersOf(level.flatMap((each) => Object.values(each)));
  }
  return false;
}

function containersOf(values: readonly unknown[]): readonly object[] {
  return values.filter((value) => typeof value === 'object' && value !== null);
}
