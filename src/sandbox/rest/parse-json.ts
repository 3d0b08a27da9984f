import type { Json } from '../../util/json.ts';
import { badRequest } from '../status/index.ts';
import { deepestFollowed, deepestRead, measureNesting, tooDeep } from './nesting.ts';

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

/** The same of a strategic patch. @throws StatusError 400 or 501 */
export function parseStrategicPatch(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Only what is too deep is refused in the words of the reader alone.
    const before = error instanceof NestingError ? '' : 'error decoding patch: ';
    throw badRequest(before.concat(error.message));
  }
}

/** @throws NestingError or StatusError 501; YAML in flow style counts, too. */
export function assertNesting(text: string): void {
  const { depth, character } = measureNesting(text);
  if (depth > deepestRead)
    throw new NestingError(`invalid character '${character}' exceeded max depth`);
  if (depth > deepestFollowed) throw tooDeep();
}
