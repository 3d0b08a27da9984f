import { deepEqual } from '../../../util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../../util/json.ts';
import { type BreakingChange, quoted } from './breaking-change.ts';

interface Subresources {
  /** Of a version. */
  readonly before: JsonObject;
  readonly after: JsonObject;
  /** Of the version. */
  readonly path: string;
  readonly name: string;
}

/** One that is there must stay as it is; a new one is safe. */
export function* compareSubresources({
  before,
  after,
  path,
  name,
}: Subresources): Iterable<BreakingChange> {
  const was = isJsonObject(before.subresources) ? before.subresources : {};
  const is = isJsonObject(after.subresources) ? after.subresources : {};
  for (const [subresource, value] of Object.entries(was)) {
    if (value === null || deepEqual(value, is[subresource])) continue;
    const at = `${path}/subresources/${subresource}`;
    const what = `The subresource "${subresource}" of version "${name}"`;
    if (is[subresource] === undefined)
      yield { path: at, message: `${what} is removed: whoever writes through it is refused` };
    else {
      const message = `${what} changes from ${quoted(value)} to ${quoted(is[subresource])}: whoever uses it would see other fields`;
      yield { path: at, message };
    }
  }
}
