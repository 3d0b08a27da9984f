import { isLabelKey, isLabelValue, type LabelRequirement } from './label-selector.ts';

/**
 * Parses a label selector in API syntax: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by
 * commas. Requirements are sorted and deduplicated, so that equal selectors give equal results. An empty text selects
 * all.
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

/** The reverse of {@link parseLabelSelector}, in canonical form. */
export function formatLabelSelector(requirements: readonly LabelRequirement[]): string {
  return requirements.map(formatRequirement).join(',');
}

/** Splits at the commas outside of parentheses, in linear time: users write selectors, too. */
function splitRequirements(text: string): readonly string[] {
  if (text.trim() === '') return [];
  const parts: string[] = [];
  let start = 0;
  let isInside = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '(') isInside = true;
    else if (character === ')') isInside = false;
    else if (character === ',' && !isInside) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...parts, text.slice(start)];
}

const existence = /^(!?)\s*([^\s!=(),]+)$/;
const equality = /^([^\s!=(),]+)\s*(==|=|!=)\s*([^\s!=(),]*)$/;
const membership = /^([^\s!=(),]+)\s+(in|notin)\s*\(([^()]*)\)$/;

/** @throws RangeError for a requirement that the server would reject. */
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
