import type { CallFocus } from './runtime-scope.ts';

type Implementation = (this: CallFocus, ...args: unknown[]) => unknown;

/**
 * A function for JSONata with exactly so many declared parameters: it reads their number to decide what `$map` passes,
 * and their names out of the source text for a partial application.
 */
export function nativeFunction(
  arity: number,
  run: (focus: CallFocus, args: readonly unknown[]) => unknown,
): Implementation {
  switch (arity) {
    case 0:
      return function native(this: CallFocus) {
        return run(this, []);
      };
    case 1:
      return function native(this: CallFocus, a?: unknown) {
        return run(this, [a]);
      };
    case 2:
      return function native(this: CallFocus, a?: unknown, b?: unknown) {
        return run(this, [a, b]);
      };
    case 3:
      return function native(this: CallFocus, a?: unknown, b?: unknown, c?: unknown) {
        return run(this, [a, b, c]);
      };
    case 4:
      return function native(this: CallFocus, a?: unknown, b?: unknown, c?: unknown, d?: unknown) {
        return run(this, [a, b, c, d]);
      };
    default:
      return function native(this: CallFocus, ...args: unknown[]) {
        return run(this, args);
      };
  }
}
