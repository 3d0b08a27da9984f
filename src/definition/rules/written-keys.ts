import type { JsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import type { Finding } from '../finding.ts';
import { holdsExpression } from './expression-text.ts';

/**
 * The fields at the top of a manifest and of its metadata are written out: a computed one could be any of those that are checked before
 * anything runs (`kind`, `namespace`, `labels`).
 */
export function* checkWrittenKeys(map: JsonObject, path: string): Iterable<Finding> {
  for (const key of Object.keys(map)) {
    if (key !== '$literal' && !holdsExpression(key)) continue;
    yield {
      code: 'forbidden-expression',
      path: pointerTo(path, key),
      at: 'key',
      message: `A field beside "metadata", or directly in it, cannot be computed, found "${key}"`,
      hint: 'Write the name of the field; its value may be an expression',
    };
  }
}
