import { decodeBase64 as decode } from '#util/base64.ts';
import { canonicalJson } from '#util/canonical-json.ts';
import { sha256Hex } from '#util/sha256.ts';
import { ExpressionError } from './evaluation-error.ts';

/**
 * Decodes base64 of a UTF-8 string.
 * @throws ExpressionError if the input is not base64 or not UTF-8.
 */
export function decodeBase64(base64: string): string {
  const text = decode(base64);
  // The cause could quote a Secret.
  if (text === undefined)
    throw new ExpressionError('evaluation-failed', 'Expected base64 of a UTF-8 string');
  return text;
}

// The alphabet of Kubernetes for generated names: without vowels, to avoid words.
const letters = 'bcdfghjklmnpqrstvwxz';
const lettersAndDigits = `${letters}2456789`;
const hashLength = 10;
/** The default never changes: it would rename existing objects. */
const nameLength = 63;

/** A hash of ten lower-case letters and digits that starts with a letter. Depends only on the value. */
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

/** Joins the parts with `-`. A name that is too long is truncated and ends with a hash of the whole name. */
export function joinName(parts: readonly string[], maxLength: number = nameLength): string {
  const name = parts.join('-');
  if (name.length <= maxLength) return name;
  const kept = name.slice(0, maxLength - hashLength - 1).replace(/[-.]+$/, '');
  return `${kept}-${stableHash(name)}`;
}
