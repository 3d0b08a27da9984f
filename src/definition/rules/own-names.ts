import type { JsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { isOwnName } from '../../util/own-name.ts';
import type { Finding } from '../finding.ts';
import { mapAt } from '../tree.ts';

/** Labels and annotations of ours are written by us alone. What expressions make of them is looked at when it is rendered. */
export function* checkOwnNames(metadata: JsonObject, path: string): Iterable<Finding> {
  for (const field of ['labels', 'annotations', 'labels/$literal', 'annotations/$literal']) {
    for (const key of Object.keys(mapAt(metadata, `/${field}`))) {
      if (!isOwnName(key)) continue;
      yield {
        code: 'invalid-value',
        path: pointerTo(`${path}/${field}`, key),
        at: 'key',
        message: `Names under "homeostat.dev/" are written by Homeostat alone, found "${key}"`,
      };
    }
  }
}
