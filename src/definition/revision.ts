import { canonicalJson } from '../util/canonical-json.ts';
import { sha256Hex } from '../util/sha256.ts';

/** The revision of a definition: the first 10 hex digits of the SHA-256 of its canonical spec, defaults filled in. */
export function revisionOf(spec: unknown): string {
  return sha256Hex(canonicalJson(spec)).slice(0, 10);
}
