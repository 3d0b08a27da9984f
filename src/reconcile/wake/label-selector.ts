import type { LabelRequirement, LabelSelector } from '../../compile/index.ts';

type Labels = Readonly<Record<string, string>>;

/** Does an object with these labels match? As the API server decides it. */
export function selects(selector: LabelSelector, labels: Labels = {}): boolean {
  return (
    Object.entries(selector.matchLabels).every(([key, value]) => labels[key] === value) &&
    selector.matchExpressions.every((requirement) => meets(requirement, labels))
  );
}

function meets({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = labels[key];
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
