import type { Json } from '../../util/json.ts';
import { badRequest, notModelled } from '../status/index.ts';

/** So deep the server reads values within values. */
const deepest = 10_000;
/** So deep the sandbox follows them: it would run out of stack a little later. */
const modelled = 1_000;

/** Values within values beyond what the server reads. */
export class NestingError extends SyntaxError {}

/**
 * Reads JSON as the server does.
 * @throws SyntaxError for what is none, {@link NestingError} for what is too deep; StatusError 501 for what is too deep for us.
 */
export function parseJson(text: string): Json {
  assertNesting(text);
  return JSON.parse(text);
}

/** The body of a patch. @throws StatusError 400 or 501 */
export function parsePatch(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`error decoding patch: ${error.message}`);
  }
}

/** @throws NestingError or StatusError 501; YAML in flow style counts, too. */
export function assertNesting(text: string): void {
  // Each level takes two characters.
  if (text.length < 2 * modelled) return;
  const { depth, character } = measureNesting(text);
  if (depth > deepest)
    throw new NestingError(`invalid character '${character}' exceeded max depth`);
  if (depth > modelled) throw notModelled(`values that are nested deeper than ${modelled}`);
}

/** The depth of the deepest value, and the bracket that begins it; no further than is needed. */
function measureNesting(text: string): { readonly depth: number; readonly character: string } {
  let [depth, greatest] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        break;
      case '{':
      case '[':
        depth++;
        if (depth > deepest) return { depth, character: text.charAt(at) };
        greatest = Math.max(greatest, depth);
        break;
      case '}':
      case ']':
        depth--;
    }
  }
  return { depth: greatest, character: '' };
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
