import type { JsonObject } from '#util/json.ts';
import { notModelled } from '../status/api-errors.ts';
import type { StatusError } from '../status/status-error.ts';

/** The maximum nesting that the server reads. */
export const maxServerNesting = 10_000;
/** The maximum nesting that the sandbox processes: its recursion would overflow the stack soon after. */
export const maxSandboxNesting = 1_000;

/** Replaces a truncated value. Checked only when something was truncated. */
const truncationMark = '(nested deeper than the sandbox supports)';

/** The maximum depth, and the bracket at which it begins. Stops at the server's limit. */
export function measureNesting(text: string): {
  readonly depth: number;
  readonly character: string;
} {
  // Each level needs two characters.
  if (text.length < 2 * maxSandboxNesting) return { depth: 0, character: '' };
  let maxDepth = 0;
  let beyond: number | undefined;
  visitBrackets(text, ({ at, depth }) => {
    maxDepth = Math.max(maxDepth, depth);
    if (depth > maxServerNesting) beyond = at;
    return beyond !== undefined;
  });
  return { depth: maxDepth, character: beyond === undefined ? '' : text.charAt(beyond) };
}

/**
 * Replaces values that are nested deeper than the sandbox supports by a mark. Most of them are in unknown fields, which are
 * removed later. Returns the same text when no value is that deep, or when a value is deeper than the server reads.
 */
export function withTruncatedValues(text: string): string {
  const { depth } = measureNesting(text);
  if (depth <= maxSandboxNesting || depth > maxServerNesting) return text;
  return /^\s*[{[]/.test(text) ? truncateDeepValues(text) : text;
}

function truncateDeepValues(text: string): string {
  const mark = JSON.stringify(truncationMark);
  const parts: string[] = [];
  let copied = 0;
  visitBrackets(text, ({ at, depth, begins }) => {
    if (depth !== maxSandboxNesting + 1) return false;
    if (begins) parts.push(text.slice(copied, at), mark);
    else copied = at + 1;
    return false;
  });
  return parts.join('') + text.slice(copied);
}

/** @throws StatusError 501 when a truncated value would be stored */
export function assertNotTruncated(object: JsonObject): void {
  if (JSON.stringify(object).includes(truncationMark)) throw tooDeep();
}

export function tooDeep(): StatusError {
  return notModelled(`values that are nested deeper than ${maxSandboxNesting}`);
}

/** A position at which a value begins or ends, with its depth. */
interface Bracket {
  readonly at: number;
  readonly depth: number;
  readonly begins: boolean;
}

/** Visits all brackets, until `visit` returns true. */
function visitBrackets(text: string, visit: (bracket: Bracket) => boolean): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        break;
      case '{':
      case '[':
        if (visit({ at, depth: ++depth, begins: true })) return;
        break;
      case '}':
      case ']':
        if (visit({ at, depth: depth--, begins: false })) return;
    }
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
