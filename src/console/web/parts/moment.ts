import { ageText, clockText, momentText } from '../model/format.ts';
import { h, type VNode } from '../preact.ts';

/** The age of something; pointing at it shows the time. */
export function age(time: string | undefined, nowMs: number): VNode {
  return moment(time, ageText(time, nowMs));
}

/** The time of day of something, with its date if it is not today; pointing at it shows the time zone. */
export function clock(time: string, nowMs: number): VNode {
  return moment(time, clockText(time, nowMs));
}

function moment(time: string | undefined, text: string): VNode {
  const title = momentText(time ?? '');
  return h('time', title === '' ? null : { dateTime: time, title }, text);
}
