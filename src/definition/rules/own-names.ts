import type { JsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import type { Finding } from '../finding.ts';
import { mapAt } from '../tree.ts';

/** Labels and annotations of ours are written by us alone. */
export function* checkOwnNames(metadata: JsonObject, path: string): Iterable<Finding> {
  for (const field of ['labels', 'annotations']) {
    for (const key of Object.keys(mapAt(metadata, `/${field}`))) {
      if (!/^(?:[a-z0-9.-]+\.)?homeostat\.dev\//.test(key)) continue;
      yield {
        code: 'invalid-value',
        path: pointerTo(pointerTo(path, field), key),
        at: 'key',
        message: `Names under "homeostat.dev/" are written by Homeostat alone, found "${key}"`,
      };
    }
  }
}
