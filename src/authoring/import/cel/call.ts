import type { CelNode } from '#sandbox';
import { type CelContext, NoEquivalentError } from './cel-context.ts';
import type { Jsonata } from './jsonata.ts';

/** A call with converted arguments. */
export interface Call {
  readonly name: string;
  /** Of a method: the first one is the receiver. */
  readonly args: readonly Jsonata[];
  readonly node: CelNode;
  readonly context: CelContext;
}

/** How a function is converted, by name. Undefined: not with these arguments. */
export type CallRules = Readonly<Record<string, (call: Call) => Jsonata | undefined>>;

/** An argument. @throws NoEquivalentError if it is missing */
export function argument({ name, args, node }: Call, index: number): Jsonata {
  const found = args[index];
  if (found === undefined) throw new NoEquivalentError(`"${name}" lacks an argument`, node.start);
  return found;
}

/** A literal text. @throws NoEquivalentError if it is computed */
export function literalText(call: Call, index: number): string {
  const { literal } = argument(call, index);
  if (typeof literal === 'string') return literal;
  throw new NoEquivalentError(
    `"${call.name}" with a computed argument has no equivalent`,
    call.node.start,
  );
}
