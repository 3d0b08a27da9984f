import type { KubeObject } from '../../util/kube-object.ts';
import { type Fields, isFields } from './fields.ts';

/** Bytes per call: arguments of a call are limited. */
const chunkBytes = 8192;

/**
 * A Secret with the texts of `stringData` in `data`, where they win. Applied as they are, a key that leaves `stringData` stays in `data` for ever.
 * What is no text stays, and the server refuses it.
 */
export function withFoldedStringData(secret: KubeObject): KubeObject {
  const { stringData, ...rest } = secret;
  if (!isFields(stringData) || !Object.values(stringData).every(isText)) return secret;
  const data: Record<string, unknown> = { ...(isFields(rest.data) ? rest.data : {}) };
  for (const [key, text] of Object.entries(stringData)) data[key] = encodeBase64(String(text));
  return { ...rest, data } as unknown as KubeObject & { readonly data: Fields };
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/** Base64 of the UTF-8 text. */
function encodeBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = '';
  for (let start = 0; start < bytes.length; start += chunkBytes)
    binary += String.fromCharCode(...bytes.subarray(start, start + chunkBytes));
  return btoa(binary);
}
