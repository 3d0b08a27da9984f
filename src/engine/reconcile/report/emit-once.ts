import { emitEvent, type Pass } from '../pass/pass.ts';

/** Events of one resource that are remembered. */
const maxKnown = 50;

/** What an Event on the resource reports. */
interface Reported {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

/**
 * Emits an Event on a resource of a kind of `for`. Such a resource has no condition that shows what an earlier process reported, so the name
 * of the Event does: the first one of this process with this text cannot be created twice. Another one is about another time.
 */
export function emitOnce(pass: Pass, event: Reported): void {
  const { emitted } = pass.state;
  const text = `${event.reason} ${event.note}`;
  // What is no longer remembered counts as repeated: an Event twice is better than none.
  const isRepeated = emitted.has(text) || emitted.size >= maxKnown;
  if (emitted.size < maxKnown) emitted.add(text);
  emitEvent(pass, { ...event, ...(isRepeated ? {} : { isLasting: true }) });
}
