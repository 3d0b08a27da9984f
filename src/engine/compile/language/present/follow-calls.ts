import { again, type FollowedCall } from './follow-again.ts';
import { followPart } from './follow-part.ts';
import { followLayout, followPicture } from './follow-texts.ts';
import { earlierEnd, type TimeFlips } from './time-flips.ts';

type Follow = (flips: TimeFlips, call: FollowedCall) => void;
type FollowCall = (flips: TimeFlips, call: Omit<FollowedCall, 'name'>) => void;

const followers: readonly (readonly [name: string, follow: Follow])[] = [
  ['now', (flips, { result }) => flips.note(result, flips.present)],
  ['millis', (flips, { result }) => flips.note(result, flips.presentMs)],
  ...['toMillis', 'addDuration', 'time', 'number', 'min', 'max', 'sum'].map(
    (name) => [name, followAgain] as const,
  ),
  ...['floor', 'ceil', 'round'].map((name) => [name, followSteps] as const),
  ['abs', followDistance],
  ['fromMillis', followPicture],
  ['substring', followPart],
  ['formatTime', followLayout],
  ['nextTime', followSchedule],
];

/** The functions whose result follows a time among their arguments. Of others the result does not count as depending on the present. */
const followed: ReadonlyMap<string, FollowCall> = new Map(
  followers.map(([name, follow]) => [name, (flips, call) => follow(flips, { ...call, name })]),
);

/** Those of a time that is an argument. */
export const followedFunctions: readonly string[] = [...followed.keys()].filter(
  (name) => !['now', 'millis', 'nextTime'].includes(name),
);

/** How the result of a function is followed. Undefined: it is not. */
export function followerOf(name: string): FollowCall | undefined {
  return followed.get(name);
}

function followAgain(flips: TimeFlips, call: FollowedCall): void {
  for (const { timed } of again(flips, call)) flips.note(call.result, timed);
}

function followSteps(flips: TimeFlips, call: FollowedCall): void {
  for (const { timed } of again(flips, call)) flips.note(call.result, { ...timed, hasSteps: true });
}

/** A distance falls until its time, and grows after it. */
function followDistance(flips: TimeFlips, call: FollowedCall): void {
  for (const { timed, argument } of again(flips, call)) {
    const isBefore = (ms: number) => Number(argument.at(ms)) < 0;
    const sign = (ms: number) => flips.changeAfter(isBefore, ms, argument.until);
    flips.note(call.result, { ...timed, until: earlierEnd(timed.until, sign) });
  }
}

/** The next time is another one as soon as it has come. */
function followSchedule(flips: TimeFlips, { args, result }: FollowedCall): void {
  const after = args.length > 2 ? flips.of(args[2]) : [flips.present];
  if (typeof result !== 'string') return;
  for (const { key, at, until } of after) {
    const watched = { key: flips.keyOf(['nextTime', key, result]), until };
    flips.watch((ms) => String(at(ms)) < result, watched);
  }
}
