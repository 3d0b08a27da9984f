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

/** Does an object with these labels match? As the API server decides it. */
export function selects(selector: LabelSelector, labels: Labels = {}): boolean {
  return (
    Object.entries(selector.matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
    meetsAll(selector.matchExpressions, labels)
  );
}

/** A selector in the API's syntax: `a=b,c in (d,e),!f`. */
export function selectorText({ matchLabels, matchExpressions }: LabelSelector): string {
  const pairs = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...pairs, ...matchExpressions.map(requirementText)].join(',');
}

/** A requirement in the API's syntax. */
export function requirementText({ key, operator, values }: LabelRequirement): string {
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

/** Do these labels meet every requirement? As on the server, `NotIn` holds for an absent label. */
export function meetsAll(requirements: readonly LabelRequirement[], labels: Labels = {}): boolean {
  return requirements.every((requirement) => meets(requirement, labels));
}

function meets({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
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

/** `constructor` is a legal key: what every object inherits is no label. */
function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
