import { canonicalJson } from '#util/canonical-json.ts';
import { isJsonObject } from '#util/json.ts';

/** By what an element is found among those of another child: its item, and of a map with the text `name` this name. */
export function elementKey(item: unknown): string {
  const name = isJsonObject(item) ? item.name : undefined;
  return canonicalJson(typeof name === 'string' ? name : item);
}
