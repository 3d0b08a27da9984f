import { constantKey, earlierEnd, type TimedValue, type TimeFlips } from './time-flips.ts';

/** A call of a function, and its result. */
export interface FollowedCall {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly result: unknown;
  /** Calls the function with other arguments. */
  readonly call: (args: readonly unknown[]) => unknown;
}

/** A result at other times. */
interface Again {
  readonly timed: TimedValue;
  /** The argument that depends on the present. */
  readonly argument: TimedValue;
}

/** Elements of a list that are followed. */
export const mostElements = 100;
/** Of longer lists, so many elements are looked up: the result is looked at again if one is a time. */
export const mostLookedUp = 1_000;

/** The result of the same call at another time, in all ways that are possible. */
export function* again(
  flips: TimeFlips,
  { name, args, result, call }: FollowedCall,
): Generator<Again> {
  const all = args.map((arg) => timedArgument(flips, arg));
  if (all.every((each) => each.length === 0)) return;
  if (args.some((arg) => flips.waysOf(arg).isCut)) flips.noteCut(result);
  const keys = args.map(constantKey);
  for (const [index, alternatives] of all.entries()) {
    for (const argument of alternatives) {
      const { key, at, until, staysUntil, hasSteps } = argument;
      const timed = {
        key: flips.keyOf([name, ...keys.map((own, other) => (other === index ? key : own))]),
        at: (ms: number) =>
          resultOf(() => call(args.map((arg, other) => (other === index ? at(ms) : arg)))),
        until,
        staysUntil,
        ...(hasSteps === true && { hasSteps }),
      };
      yield { timed, argument };
    }
  }
}

/** Of a list, the list at another time. */
function timedArgument(flips: TimeFlips, arg: unknown): readonly TimedValue[] {
  if (!Array.isArray(arg)) return flips.of(arg);
  if (arg.length > mostElements) {
    if (hasTime(flips, arg.slice(0, mostLookedUp))) flips.changesLater();
    return [];
  }
  const elements = arg.map((element) => flips.of(element)[0]);
  if (elements.every((element) => element === undefined)) return [];
  return [
    {
      key: flips.keyOf(elements.map((element, index) => element?.key ?? constantKey(arg[index]))),
      at: (ms: number) =>
        elements.map((element, index) => (element === undefined ? arg[index] : element.at(ms))),
      until: elements.map((element) => element?.until).reduce(earlierEnd, undefined),
    },
  ];
}

/** Whether one of these values depends on the present. */
export function hasTime(flips: TimeFlips, values: readonly unknown[]): boolean {
  return values.some((value) => flips.of(value).length > 0);
}

/** A call may fail for another time, for example beyond the year 9999. */
function resultOf(call: () => unknown): unknown {
  try {
    return call();
  } catch {
    return undefined;
  }
}
