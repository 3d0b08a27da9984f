/** One requirement of a label selector, as the API writes it in `matchExpressions`. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly LabelRequirement[];
}

type Labels = Readonly<Record<string, string>>;

/** Whether the labels match the selector, by the rules of the API server. */
export function matchesSelector(selector: LabelSelector, labels: Labels = {}): boolean {
  return (
    Object.entries(selector.matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
    matchesRequirements(selector.matchExpressions, labels)
  );
}

/** A selector in the API's syntax: `a=b,c in (d,e),!f`. */
export function formatSelector({ matchLabels, matchExpressions }: LabelSelector): string {
  const pairs = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...pairs, ...matchExpressions.map(formatRequirement)].join(',');
}

/** A requirement in the API's syntax. */
export function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(',')})`;
    case 'NotIn':
      return `${key} notin (${values.join(',')})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
  }
}

/** Whether the labels meet every requirement. As on the server, `NotIn` matches an absent label. */
export function matchesRequirements(
  requirements: readonly LabelRequirement[],
  labels: Labels = {},
): boolean {
  return requirements.every((requirement) => matchesRequirement(requirement, labels));
}

function matchesRequirement({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = labelOf(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/** `constructor` is a valid label key: ignore inherited properties. */
function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** Whether this is a valid label value. */
export function isLabelValue(text: string): boolean {
  return text.length <= 63 && /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(text);
}

/** Whether this is a valid label key, with or without a prefix. */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  const prefix = text.slice(0, Math.max(slash, 0));
  const name = text.slice(slash + 1);
  const isPrefix =
    slash < 0 || (prefix.length <= 253 && /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(prefix));
  return isPrefix && name !== '' && isLabelValue(name);
}
