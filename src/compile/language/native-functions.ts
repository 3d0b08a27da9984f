import jsonata from 'jsonata';
import { chargeCall, chargeResult } from './function-costs.ts';
import { type CallFocus, meterOf } from './runtime-scope.ts';

/** A function of JSONata as its frames hold it. */
export interface NativeFunction {
  readonly _jsonata_function: true;
  readonly implementation: (this: CallFocus, ...args: unknown[]) => unknown;
  readonly signature?: unknown;
}

/** Gives JSONata's own functions, charged by the size of their arguments; undefined for names that it does not have. */
export function createNativeFunctions(): (name: string) => NativeFunction | undefined {
  const original = findOriginals();
  const charged = new Map<string, NativeFunction>();
  return (name) => {
    const known = charged.get(name);
    if (known !== undefined) return known;
    const found = original(name);
    if (found?._jsonata_function !== true) return undefined;
    const made = { ...found, implementation: chargedBy(name, found.implementation) };
    charged.set(name, made);
    return made;
  };
}

/** JSONata hands out its frames only while it evaluates; before its first step nothing is waited for. */
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

/** It keeps the number of parameters and their names, by which JSONata decides what to pass. */
function chargedBy(
  name: string,
  run: NativeFunction['implementation'],
): NativeFunction['implementation'] {
  function charge(this: CallFocus, ...args: unknown[]): unknown {
    const meter = meterOf(this);
    chargeCall(meter, name, args);
    const result = run.apply(this, args);
    chargeResult(meter, result);
    return result;
  }
  charge.toString = () => run.toString();
  Object.defineProperty(charge, 'length', { value: run.length });
  return charge;
}
