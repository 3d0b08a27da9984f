import type { Json } from '#util/json.ts';
import { type JsonLimits, mostServerLevels } from '#util/json-scan.ts';
import { JsonLimitError, parseWithin } from '#util/limited-json.ts';
import { KubeError } from '../kube-error.ts';

/**
 * Limits of a trusted API server. Short texts are not scanned: they cannot cost much.
 */
export const trustedJson: JsonLimits = {
  fromLength: 4_194_304,
  maxCost: 268_435_456,
  maxDepth: mostServerLevels,
};

/** Parses JSON of a server if it costs less than the limits. @throws KubeError `too-large`, SyntaxError */
export function parseLimited(text: string, limits: JsonLimits): Json {
  try {
    return parseWithin(text, limits);
  } catch (error) {
    if (!(error instanceof JsonLimitError)) throw error;
    throw new KubeError('too-large', error.message, { status: 0 });
  }
}
