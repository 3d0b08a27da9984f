import { isJsonObject } from '#util/json.ts';

/** At most this many characters and names. */
const longest = { text: 1_000, path: 50 };

/** A path such as `` metadata.labels.`a.b/c` ``: names that are not words are in backquotes. Undefined: invalid. */
export function parseFieldPath(text: string): readonly string[] | undefined {
  if (text.length > longest.text) return undefined;
  const names: string[] = [];
  const name = /(?:`([^`]+)`|([^.`]+))(\.|$)/y;
  while (name.lastIndex < text.length || names.length === 0) {
    const [, quoted, plain, dot] = name.exec(text) ?? [];
    const found = quoted ?? plain;
    if (found === undefined || names.length >= longest.path) return undefined;
    names.push(found);
    if (dot === '') return names;
  }
  return undefined;
}

/** The field of a map at a path, without those of its prototype. */
export function fieldAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (!isJsonObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}
