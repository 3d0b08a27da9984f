import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, valueAt } from '../tree.ts';
import { isDnsLabel, type Rule } from './rule.ts';

/**
 * Strings must be well-formed Unicode. An API server replaces a lone surrogate, so the stored object would always
 * differ.
 */
export function* checkWellFormed(document: JsonObject): Iterable<Finding> {
  const open: (readonly [path: string, value: unknown])[] = [['', document]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, value] = next;
    if (typeof value === 'string' && !value.isWellFormed()) yield loneSurrogate(path);
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) open.push([pointerTo(path, index), item]);
    else if (isJsonObject(value))
      for (const [key, item] of Object.entries(value)) {
        if (!key.isWellFormed()) yield { ...loneSurrogate(pointerTo(path, key)), at: 'key' };
        open.push([pointerTo(path, key), item]);
      }
  }
}

function loneSurrogate(path: string): Finding {
  return {
    code: 'invalid-value',
    path,
    message: 'Expected valid Unicode, found a lone surrogate',
    hint: 'Write the character itself, or both surrogates of its escape sequence',
  };
}

/** The name of the definition is a DNS label. */
export const checkMetadataName: Rule = function* (document) {
  const name = valueAt(document, '/metadata/name');
  if (typeof name !== 'string' || isDnsLabel(name)) return;
  const better = name.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
  yield {
    code: 'invalid-name',
    path: '/metadata/name',
    message: `Expected lower-case letters, digits and "-" (at most 63), found ${describeFound(name)}`,
    hint: isDnsLabel(better) ? `Write "${better}"` : undefined,
  };
};

/** Maximum size of `spec` as JSON, in bytes. */
const maxBytes = 262_144;

/**
 * Limits the size of `spec`: the status of a definition stores up to three revisions, and the size of an object is
 * limited.
 */
export function* checkSize({ spec }: JsonObject): Iterable<Finding> {
  const bytes = new TextEncoder().encode(JSON.stringify(spec ?? null)).length;
  if (bytes <= maxBytes) return;
  yield {
    code: 'invalid-value',
    path: '/spec',
    message: `Expected at most ${maxBytes / 1024} KiB, found ${Math.ceil(bytes / 1024)} KiB`,
    hint: 'Split the definition, or move large strings to ConfigMaps and read them with "reads"',
  };
}
