import type { Finding } from '#definition';
import { pointerTo } from '#util/json.ts';
import { type NameLimit, nameLimitOf } from '#util/name-limits.ts';
import type { CheckContext } from '../check-context.ts';
import { writtenText } from './typed-nodes.ts';

/** The default of `$name`. */
const defaultLength = 63;
const maxLengthOption = /\{\s*["']maxLength["']\s*:\s*(\d+)\s*\}\s*\)\s*\}$/;

/**
 * Reports names that are longer than the kind can have, and warns about those that may be: results of `$name` with a larger maximum. Of
 * other expressions no bound is known, only that of their literal parts.
 */
export function checkLongNames({ parts: { objects: children }, diagnostics }: CheckContext): void {
  for (const { definition, template } of children) {
    const limit = nameLimitOf(definition.gvk);
    const text = writtenText(template, ['metadata', 'name']);
    const problem = limit && text !== undefined && problemOf(text, definition.gvk.kind, limit);
    if (!problem) continue;
    const path = ['metadata', 'name'].reduce<string>(pointerTo, template.pointer);
    diagnostics.report({ ...problem, path });
  }
}

function problemOf(
  text: string,
  kind: string,
  { max, accepted }: NameLimit,
): Omit<Finding, 'path'> | undefined {
  const length = lengthOfLiterals(text);
  const atMost = `the name of a ${kind} may have ${max}`;
  const count = `${length === text.length ? '' : 'more than '}${length}`;
  if (length > accepted)
    return {
      code: 'invalid-value',
      message: `The API server rejects a name of ${count} characters: ${atMost}`,
      hint: 'Shorten the name',
    };
  const warning = { severity: 'warning', code: 'suspicious-expression' } as const;
  if (length > max)
    return {
      ...warning,
      message: `With a name of ${count} characters, a server may create no Pod: ${atMost}`,
      hint: 'Shorten the name',
    };
  const bound = boundOfName(text);
  if (bound === undefined || bound <= max) return undefined;
  return {
    ...warning,
    message: `The name may have ${bound} characters: ${atMost}`,
    hint: `Write { "maxLength": ${max} } as the last argument of "$name"; longer names of existing objects change`,
  };
}

/** The maximum length of a name that is one call of `$name`. */
function boundOfName(text: string): number | undefined {
  if (!/^\$\{\s*\$name\(/.test(text) || !/\)\s*\}$/.test(text)) return undefined;
  const [, maxLength] = maxLengthOption.exec(text) ?? [];
  return maxLength === undefined ? defaultLength : Number(maxLength);
}

/** The length of what is outside of expressions. */
function lengthOfLiterals(text: string): number {
  if (text.includes('{{')) return 0;
  return text.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '').length;
}
