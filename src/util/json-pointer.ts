/** Appends one step to an RFC 6901 pointer: `/spec` + `a/b` -> `/spec/a~1b`. */
export function pointerTo(pointer: string, step: string | number): string {
  return `${pointer}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The steps of an RFC 6901 pointer, unescaped. */
export function pointerSteps(pointer: string): readonly string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
