import { found } from '../describe-value.ts';
import { valueAt } from '../tree.ts';
import { isDnsLabel } from './dns-name.ts';
import type { Rule } from './rule.ts';

/** The definition's name is a DNS label. */
export const checkMetadataName: Rule = function* (document) {
  const name = valueAt(document, '/metadata/name');
  if (typeof name !== 'string' || isDnsLabel(name)) return;
  const better = name.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
  yield {
    code: 'invalid-name',
    path: '/metadata/name',
    message: `Expected lower-case letters, digits and "-" (at most 63), found ${found(name)}`,
    hint: isDnsLabel(better) ? `Write "${better}"` : undefined,
  };
};
