import { parseJson } from '../../util/exact-json.ts';
import type { Json } from '../../util/json.ts';
import { excessOf, type JsonLimits } from '../../util/json-scan.ts';
import { KubeError } from '../kube-error.ts';

/**
 * Limits of a trusted API server. Short texts are not scanned: they cannot cost much. Its own limit of nesting is the same.
 */
export const trustedJson: JsonLimits = {
  fromLength: 4_194_304,
  maxCost: 268_435_456,
  maxDepth: 10_000,
};

/** Parses JSON of a server if it costs less than the limits. @throws KubeError `too-large`, SyntaxError */
export function parseLimited(text: string, limits: JsonLimits): Json {
  const excess = excessOf(text, limits);
  if (excess === undefined) return parseJson(text);
  const what = excess === 'depth' ? `nested deeper than ${limits.maxDepth} levels` : 'too large';
  const message = `The value of ${text.length} characters is ${what} and was not parsed`;
  throw new KubeError('too-large', message, { status: 0 });
}
