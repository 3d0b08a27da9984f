import { canonicalJson } from '../../util/canonical-json.ts';
import type { JsonObject } from '../../util/json.ts';

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A short name of a template: FNV-1a in the alphabet of generated names. */
export function templateHash(template: JsonObject): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(canonicalJson(template)))
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  let text = '';
  for (let index = 0; index < 10; index++) {
    text += alphabet.charAt(hash % alphabet.length);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
  }
  return text;
}
