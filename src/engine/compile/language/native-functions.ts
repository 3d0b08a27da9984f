import jsonata from 'jsonata';
import { guards, replacements } from './bounded-functions.ts';
import { chargeCall, chargeResult, readsOf } from './builtin-functions.ts';
import { bigIntegerError } from './evaluation-error.ts';
import { presentValue, withoutNullFields, withoutNulls } from './nulls.ts';
import { followerOf } from './present/follow-calls.ts';
import { type CallFocus, meterOf, scopeOf } from './runtime-scope.ts';

/** A function of JSONata as its frames hold it. */
interface NativeFunction {
  readonly _jsonata_function: true;
  readonly implementation: Implementation;
  readonly signature?: Signature;
}

/** Checks the arguments of a call, and fills in the context. */
interface Signature {
  validate(args: readonly unknown[], context: unknown): readonly unknown[];
}

/** Returns JSONata's built-in functions with metering and limits; undefined for unknown names. */
export function createNativeFunctions(): (name: string) => NativeFunction | undefined {
  const original = findOriginals();
  const made = new Map<string, NativeFunction>();
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const found = original(name);
    if (found?._jsonata_function !== true) return undefined;
    const implementation = metered(name, found.implementation);
    const { signature } = found;
    const native = {
      ...found,
      implementation,
      ...(signature && { signature: signatureWithoutNulls(name, signature) }),
    };
    made.set(name, native);
    return native;
  };
}

/**
 * Gets JSONata's functions from a frame. Frames are only available during an evaluation; its first step runs
 * synchronously.
 */
function findOriginals(): (name: string) => NativeFunction | undefined {
  let lookup: ((name: string) => NativeFunction | undefined) | undefined;
  const expression = jsonata('1');
  const note = (_: unknown, __: unknown, frame: { lookup: NonNullable<typeof lookup> }) => {
    lookup = frame.lookup;
  };
  expression.assign(Symbol.for('jsonata.__evaluate_entry') as unknown as string, note);
  void expression.evaluate(undefined);
  return (name) => lookup?.(name);
}

/** The arguments of a function as it must see them: `null` is a missing value. */
function argumentsOf(name: string): (value: unknown) => unknown {
  const reads = readsOf(name);
  if (reads === undefined) return presentValue;
  return reads === 'fields' ? withoutNullFields : withoutNulls;
}

function signatureWithoutNulls(name: string, signature: Signature): Signature {
  const present = argumentsOf(name);
  return {
    ...signature,
    validate: (args, context) => {
      assertNoBigInteger(name, args);
      return signature.validate(args.map(present), presentValue(context));
    },
  };
}

/** The functions that take an integer beyond 2^53: they do not compute with it. */
const copying: ReadonlySet<string> = new Set(['append', 'exists', 'string', 'type']);

/** JSONata takes a `bigint` for a missing argument. @throws ExpressionError */
function assertNoBigInteger(name: string, args: readonly unknown[]): void {
  if (copying.has(name)) return;
  for (const arg of args) if (typeof arg === 'bigint') throw bigIntegerError();
}

/** Adds metering. Keeps the parameter list, which JSONata inspects. */
function metered(name: string, original: Implementation): Implementation {
  const guard = guards[name];
  const replacement = replacements[name];
  const present = argumentsOf(name);
  const follow = followerOf(name);
  return nativeFunction(original, (focus, all) => {
    // Functions without a signature, and partial applications, are called with the arguments as they are.
    const args = all.map(present);
    assertNoBigInteger(name, args);
    const meter = meterOf(focus);
    chargeCall(meter, name, args);
    guard?.(args);
    const call = (given: readonly unknown[]) =>
      replacement ? replacement(focus, given) : original.apply(focus, [...given]);
    const result = call(args);
    chargeResult(meter, result);
    const flips = follow && scopeOf(focus).flips;
    if (flips !== undefined) follow?.(flips, { args, result, call });
    return presentValue(result);
  });
}

type Implementation = (this: CallFocus, ...args: unknown[]) => unknown;

/**
 * Creates a function for JSONata with the parameters of another one. JSONata uses their number to decide what `$map`
 * passes, and reads their names from the source for partial application.
 */
export function nativeFunction(
  parameters: { readonly length: number; toString(): string },
  run: (focus: CallFocus, args: readonly unknown[]) => unknown,
): Implementation {
  function native(this: CallFocus, ...args: unknown[]): unknown {
    return run(this, args);
  }
  native.toString = () => parameters.toString();
  return Object.defineProperty(native, 'length', { value: parameters.length });
}
