import { md5Hex, sha1Hex } from '#util/legacy-digests.ts';
import { sha256Hex } from '#util/sha256.ts';
import { characterSteps } from '../step-costs.ts';
import { longTextArgument } from './arguments.ts';
import type { LanguageFunction } from './language-function.ts';

/**
 * Digests in hex. Unlike `$hash` they do not count as a reduced value: a digest of a password can be one itself, and in
 * full length it can be searched offline.
 */
export const digestFunctions: readonly LanguageFunction[] = [
  digest('sha256', 'The SHA-256 digest of the string in UTF-8, as 64 hexadecimal digits', {
    of: sha256Hex,
    gives: '5be1ecc7935f1dd85635d4feedaf660594030253cc97c9e9ca3819ffeac36b65',
  }),
  digest('sha1', 'The SHA-1 digest of the string in UTF-8, as 40 hexadecimal digits', {
    of: sha1Hex,
    gives: '58a3ed6f2965252c6ac4957d95f7a3bdfca47101',
  }),
  digest('md5', 'The MD5 digest of the string in UTF-8, as 32 hexadecimal digits', {
    of: md5Hex,
    gives: 'ee434023cf89d7dfb21f63d64f0f9d74',
  }),
];

function digest(
  name: string,
  doc: string,
  { of, gives }: { readonly of: (text: string) => string; readonly gives: string },
): LanguageFunction {
  return {
    name,
    params: ['text'],
    returns: 'string',
    doc,
    example: { source: `$${name}(spec.image)`, gives },
    run: ([value], { meter }) => {
      const text = longTextArgument(name, value);
      meter.spend(characterSteps(text));
      return of(text);
    },
  };
}
