import type { LabelRequirement } from '../../util/label-selector.ts';
import { isLabelKey, isLabelValue } from '../../util/label-syntax.ts';

/**
 * Parses a label selector as the API writes it: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by
 * commas. Requirements come sorted and without duplicates, so that equal selectors parse alike. The empty text selects all.
 * @throws RangeError for anything else.
 */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  const byText = new Map<string, LabelRequirement>();
  for (const part of splitRequirements(text)) {
    const requirement = parseRequirement(part);
    byText.set(formatRequirement(requirement), requirement);
  }
  return [...byText.keys()].sort().flatMap((key) => byText.get(key) ?? []);
}

/** The reverse of {@link parseLabelSelector}: one text for all ways to write a selector. */
export function formatLabelSelector(requirements: readonly LabelRequirement[]): string {
  return requirements.map(formatRequirement).join(',');
}

/** Splits at the commas outside of parentheses. */
function splitRequirements(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(/,(?![^(]*\))/);
}

const existence = /^(!?)\s*([^\s!=(),]+)$/;
const equality = /^([^\s!=(),]+)\s*(==|=|!=)\s*([^\s!=(),]*)$/;
const membership = /^([^\s!=(),]+)\s+(in|notin)\s*\(([^()]*)\)$/;

/** @throws RangeError for what the server would refuse. */
function parseRequirement(text: string): LabelRequirement {
  const part = text.trim();
  const requirement = readRequirement(part);
  if (
    requirement !== undefined &&
    isLabelKey(requirement.key) &&
    requirement.values.every(isLabelValue)
  )
    return requirement;
  throw new RangeError(`Expected a label selector such as "a=b,c in (d,e),!f", found "${part}"`);
}

function readRequirement(part: string): LabelRequirement | undefined {
  const [, not, bareKey] = existence.exec(part) ?? [];
  if (bareKey !== undefined) {
    return { key: bareKey, operator: not === '!' ? 'DoesNotExist' : 'Exists', values: [] };
  }
  const [, equalKey, sign, value] = equality.exec(part) ?? [];
  if (equalKey !== undefined && value !== undefined) {
    return { key: equalKey, operator: sign === '!=' ? 'NotIn' : 'In', values: [value] };
  }
  const [, setKey, word, list] = membership.exec(part) ?? [];
  if (setKey === undefined || list === undefined) return undefined;
  const values = [...new Set(list.split(',').map((one) => one.trim()))].sort();
  return { key: setKey, operator: word === 'in' ? 'In' : 'NotIn', values };
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'In':
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(',')})`;
    case 'NotIn':
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(',')})`;
  }
}
