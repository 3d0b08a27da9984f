/** One requirement of a label selector. Every value of an object's label is tested by all of them. */
export type LabelRequirement =
  | { readonly kind: 'in'; readonly key: string; readonly values: readonly string[] }
  | { readonly kind: 'not-in'; readonly key: string; readonly values: readonly string[] }
  | { readonly kind: 'exists'; readonly key: string }
  | { readonly kind: 'not-exists'; readonly key: string };

type Labels = Readonly<Record<string, string>>;

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

/** Does the selector select an object with these labels? As on the server, `!=` and `notin` hold for an absent label. */
export function matchesLabels(
  requirements: readonly LabelRequirement[],
  labels: Labels | undefined,
): boolean {
  return requirements.every((requirement) => holds(requirement, labels ?? {}));
}

function holds(requirement: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.kind) {
    case 'in':
      return value !== undefined && requirement.values.includes(value);
    case 'not-in':
      return value === undefined || !requirement.values.includes(value);
    case 'exists':
      return value !== undefined;
    case 'not-exists':
      return value === undefined;
  }
}

/** Splits at the commas outside of parentheses. */
function splitRequirements(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(/,(?![^(]*\))/);
}

const keyPattern = '(?:[A-Za-z0-9][-A-Za-z0-9.]*/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?';
const valuePattern = '(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?';
const existence = new RegExp(`^(!?)\\s*(${keyPattern})$`);
const equality = new RegExp(`^(${keyPattern})\\s*(==|=|!=)\\s*(${valuePattern})$`);
const membership = new RegExp(`^(${keyPattern})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const wholeValue = new RegExp(`^${valuePattern}$`);

function parseRequirement(text: string): LabelRequirement {
  const part = text.trim();
  const [, not, bareKey] = existence.exec(part) ?? [];
  if (bareKey !== undefined) return { kind: not === '!' ? 'not-exists' : 'exists', key: bareKey };
  const [, equalKey, operator, value] = equality.exec(part) ?? [];
  if (equalKey !== undefined && value !== undefined) {
    return { kind: operator === '!=' ? 'not-in' : 'in', key: equalKey, values: [value] };
  }
  const [, setKey, setOperator, list] = membership.exec(part) ?? [];
  if (setKey === undefined || list === undefined) throw broken(part);
  const values = [...new Set(list.split(',').map((one) => one.trim()))].sort();
  if (!values.every((one) => wholeValue.test(one))) throw broken(part);
  return { kind: setOperator === 'in' ? 'in' : 'not-in', key: setKey, values };
}

function formatRequirement(requirement: LabelRequirement): string {
  switch (requirement.kind) {
    case 'exists':
      return requirement.key;
    case 'not-exists':
      return `!${requirement.key}`;
    case 'in':
    case 'not-in':
      return formatValues(requirement.key, requirement.values, requirement.kind === 'in');
  }
}

function formatValues(key: string, values: readonly string[], isIn: boolean): string {
  if (values.length === 1) return `${key}${isIn ? '=' : '!='}${values[0]}`;
  return `${key} ${isIn ? 'in' : 'notin'} (${values.join(',')})`;
}

function broken(text: string): RangeError {
  return new RangeError(`Expected a label selector such as "a=b,c in (d,e),!f", found "${text}"`);
}
