import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { badRequest, type StatusError } from '../status/index.ts';

/** Where the next page of a list begins. */
export interface ContinueToken {
  /** The version that all pages show; below zero = whatever is newest. */
  readonly version: number;
  /** The first key of it, within the scope of the list. */
  readonly start: string;
}

/** Of the page after the one whose last key, within the scope of the list, is this. */
export function tokenAfter(version: number, last: string): string {
  return writeToken({ version, start: `${last}\0` });
}

export function writeToken({ version, start }: ContinueToken): string {
  const text = JSON.stringify({ v: tokenVersion, rv: version, start: `/${start}` });
  const bytes = new TextEncoder().encode(text);
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** @throws StatusError 400 for what is no token. */
export function readToken(text: string): ContinueToken {
  const { v = '', rv = 0, start = '' } = parseToken(decodeBase64(text));
  if (v !== tokenVersion) throw invalidToken(`server does not recognize this encoded version ${v}`);
  if (rv === 0)
    throw invalidToken(`incorrect encoded start resourceVersion (version ${tokenVersion})`);
  if (start === '') throw invalidToken(`encoded start key empty (version ${tokenVersion})`);
  if (typeof rv !== 'number') throw invalidToken(wrongType(rv, 'rv of type int64'));
  if (typeof start !== 'string') throw invalidToken(wrongType(start, 'start of type string'));
  // It would lead out of the collection in the server's store.
  if (start.split('/').some((part) => part === '..' || part === '.')) throw invalidToken(start);
  return { version: rv, start: start.replace(/^\//, '') };
}

const tokenVersion = 'meta.k8s.io/v1';

function decodeBase64(text: string): string {
  const wrong = /[^-\w]/.exec(text)?.index ?? (text.length % 4 === 1 ? text.length - 1 : undefined);
  if (wrong !== undefined) throw invalidToken(`illegal base64 data at input byte ${wrong}`);
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

function parseToken(text: string): JsonObject {
  try {
    const token: unknown = JSON.parse(text);
    if (isJsonObject(token)) return token;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw invalidToken(`invalid character '${text.charAt(0)}' looking for beginning of value`);
}

function wrongType(value: Json, field: string): string {
  return `json: cannot unmarshal ${typeof value} into Go struct field continueToken.${field}`;
}

function invalidToken(problem: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${problem}`);
}
