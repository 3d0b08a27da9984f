import { parseJson } from './exact-json.ts';
import type { Json } from './json.ts';
import { excessOf, type JsonLimits } from './json-scan.ts';

/** A text would cost more than its limits, and was not parsed. */
export class JsonLimitError extends Error {
  readonly excess: 'cost' | 'depth';

  constructor(text: string, limits: JsonLimits, excess: 'cost' | 'depth') {
    const what = excess === 'depth' ? `nested deeper than ${limits.maxDepth} levels` : 'too large';
    super(`The value of ${text.length} characters is ${what} and was not parsed`);
    this.excess = excess;
  }
}

/**
 * Parses JSON that costs no more than the limits, see `excessOf`.
 * @throws JsonLimitError, SyntaxError
 */
export function parseWithin(text: string, limits: JsonLimits): Json {
  const excess = excessOf(text, limits);
  if (excess !== undefined) throw new JsonLimitError(text, limits, excess);
  return parseJson(text);
}
