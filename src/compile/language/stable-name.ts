import { canonicalJson } from '../../util/canonical-json.ts';
import { sha256Hex } from '../../util/sha256.ts';

// Kubernetes' own alphabet for generated names: without vowels, so that no words appear.
const letters = 'bcdfghjklmnpqrstvwxz';
const lettersAndDigits = `${letters}2456789`;
const hashLength = 10;
const nameLength = 63;

/** Ten lower-case letters and digits, the first a letter, that depend on the value alone. */
export function stableHash(value: unknown): string {
  let number = BigInt(`0x${sha256Hex(canonicalJson(value)).slice(0, 32)}`);
  let text = '';
  for (let index = 0; index < hashLength; index++) {
    const alphabet = index === 0 ? letters : lettersAndDigits;
    const base = BigInt(alphabet.length);
    text += alphabet.charAt(Number(number % base));
    number /= base;
  }
  return text;
}

/** The parts joined by `-`; a name that is too long is cut and ends in a hash of the whole. */
export function joinName(parts: readonly string[]): string {
  const name = parts.join('-');
  if (name.length <= nameLength) return name;
  const kept = name.slice(0, nameLength - hashLength - 1).replace(/[-.]+$/, '');
  return `${kept}-${stableHash(name)}`;
}
