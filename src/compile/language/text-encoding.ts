import { ExpressionError } from './expression-error.ts';

/** Base64 of the UTF-8 bytes of a text. */
export function encodeBase64(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/**
 * The text whose UTF-8 bytes are given in base64.
 * @throws ExpressionError when it is not base64, or not the base64 of a text.
 */
export function decodeBase64(base64: string): string {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The cause is left out: it could quote a Secret.
    throw new ExpressionError('evaluation-failed', 'Expected the base64 of a UTF-8 text');
  }
}
