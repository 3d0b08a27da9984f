/** At most this many arguments of one call. */
const chunkBytes = 32_768;

/** Base64 of the UTF-8 bytes of a text. */
export function encodeBase64(text: string): string {
  return encodeBase64Bytes(new TextEncoder().encode(text));
}

export function encodeBase64Bytes(bytes: Uint8Array): string {
  let binary = '';
  for (let start = 0; start < bytes.length; start += chunkBytes)
    binary += String.fromCharCode(...bytes.subarray(start, start + chunkBytes));
  return btoa(binary);
}

/** The text of base64 of UTF-8. Undefined: it is not. */
export function decodeBase64(base64: string): string | undefined {
  try {
    const bytes = decodeBase64Bytes(base64);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** @throws Error for a text that is no base64 */
export function decodeBase64Bytes(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
