import { md5, sha1 } from '@noble/hashes/legacy.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** SHA-1 of a UTF-8 text as lower-case hex: for formats that ask for it, not for security. */
export function sha1Hex(text: string): string {
  return bytesToHex(sha1(utf8ToBytes(text)));
}

/** MD5 of a UTF-8 text as lower-case hex: for formats that ask for it, not for security. */
export function md5Hex(text: string): string {
  return bytesToHex(md5(utf8ToBytes(text)));
}
