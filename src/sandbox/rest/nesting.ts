import type { JsonObject } from '../../util/json.ts';
import { notModelled, type StatusError } from '../status/index.ts';

/** So deep the server reads values within values. */
export const deepestRead = 10_000;
/** So deep the sandbox follows them: it would run out of stack a little later. */
export const deepestFollowed = 1_000;

/** Stands for what was cut off. It is looked for only where something was. */
const cutMark = '(deeper than the sandbox follows)';

/** The depth of the deepest value, and the bracket that begins it; no further than the server reads. */
export function measureNesting(text: string): {
  readonly depth: number;
  readonly character: string;
} {
  // Each level takes two characters.
  if (text.length < 2 * deepestFollowed) return { depth: 0, character: '' };
  let greatest = 0;
  for (const { at, depth, begins } of brackets(text)) {
    if (begins && depth > deepestRead) return { depth, character: text.charAt(at) };
    greatest = Math.max(greatest, depth);
  }
  return { depth: greatest, character: '' };
}

/**
 * A body in which a mark stands for what is nested deeper than the sandbox follows. Most such values are
 * in fields that nobody knows: what becomes of the rest is what the server makes of it.
 * Returns the same text when nothing is so deep, or when it is deeper than the server reads.
 */
export function withoutDeepValues(text: string): string {
  const { depth } = measureNesting(text);
  const isJson = /^\s*[{[]/.test(text);
  return isJson && depth > deepestFollowed && depth <= deepestRead ? cutDeepValues(text) : text;
}

function cutDeepValues(text: string): string {
  const mark = JSON.stringify(cutMark);
  const parts: string[] = [];
  let kept = 0;
  for (const { at, depth, begins } of brackets(text)) {
    if (depth !== deepestFollowed + 1) continue;
    if (begins) parts.push(text.slice(kept, at), mark);
    else kept = at + 1;
  }
  return parts.join('') + text.slice(kept);
}

/** @throws StatusError 501 when something that was cut off would be stored */
export function assertNothingCut(object: JsonObject): void {
  if (JSON.stringify(object).includes(cutMark)) throw tooDeep();
}

export function tooDeep(): StatusError {
  return notModelled(`values that are nested deeper than ${deepestFollowed}`);
}

/** Where values begin and end, and how deep each of them is. */
function* brackets(
  text: string,
): Generator<{ readonly at: number; readonly depth: number; readonly begins: boolean }> {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        break;
      case '{':
      case '[':
        yield { at, depth: ++depth, begins: true };
        break;
      case '}':
      case ']':
        yield { at, depth: depth--, begins: false };
    }
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
