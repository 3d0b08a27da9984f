import { isJsonObject } from '../../util/json.ts';
import { badRequest } from '../status/index.ts';

/** Where the next page of a list begins. */
export interface ContinueToken {
  /** The version that all pages show. */
  readonly version: number;
  /** The key after which it begins. */
  readonly after: string;
}

export function writeToken({ version, after }: ContinueToken): string {
  const text = JSON.stringify({ v: 'meta.k8s.io/v1', rv: version, start: after });
  const bytes = new TextEncoder().encode(text);
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** @throws StatusError 400 for what is no token. */
export function readToken(text: string): ContinueToken {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const token: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (isJsonObject(token) && typeof token.rv === 'number' && typeof token.start === 'string')
      return { version: token.rv, after: token.start };
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof DOMException)) throw error;
  }
  throw badRequest('continue key is not valid: illegal base64 data at input byte 0');
}
