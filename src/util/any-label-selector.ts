import { isJsonObject, type JsonObject } from './json.ts';
import { isLabelKey, isLabelValue, type LabelRequirement } from './label-selector.ts';
import { parseLabelSelector } from './label-selector-text.ts';

/** What a selector is, for messages. */
export const labelSelectorForms =
  'a label selector: "matchLabels" and "matchExpressions", or a string such as "a=b,c in (d,e),!f"';

/**
 * The requirements of a selector in one of the forms of the API: an object with `matchLabels` and `matchExpressions`, or a text. Undefined:
 * the server would reject it. No requirements select everything.
 */
export function requirementsOfAny(selector: unknown): readonly LabelRequirement[] | undefined {
  if (typeof selector === 'string') return requirementsOfText(selector);
  return isJsonObject(selector) ? requirementsOfObject(selector) : undefined;
}

/** As {@link requirementsOfAny}, of a text. */
export function requirementsOfText(text: string): readonly LabelRequirement[] | undefined {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Other fields are an error: without them, the selector could match everything. */
function requirementsOfObject({
  matchLabels,
  matchExpressions,
  ...others
}: JsonObject): readonly LabelRequirement[] | undefined {
  if (Object.keys(others).length > 0) return undefined;
  if (matchLabels !== undefined && matchLabels !== null && !isJsonObject(matchLabels))
    return undefined;
  const expressions = matchExpressions ?? [];
  if (!Array.isArray(expressions)) return undefined;
  const requirements = [
    ...Object.entries(matchLabels ?? {}).map(([key, value]) =>
      requirementOf({ key, operator: 'In', values: [value] }),
    ),
    ...expressions.map(requirementOf),
  ];
  const valid = requirements.filter((each) => each !== undefined);
  return valid.length === requirements.length ? valid : undefined;
}

/** Undefined: the server would reject it. */
function requirementOf(expression: unknown): LabelRequirement | undefined {
  if (!isJsonObject(expression)) return undefined;
  const { key, operator } = expression;
  const values = expression.values ?? [];
  if (typeof key !== 'string' || !isLabelKey(key) || !Array.isArray(values)) return undefined;
  if (!values.every((value) => typeof value === 'string' && isLabelValue(value))) return undefined;
  const needsValues = operator === 'In' || operator === 'NotIn';
  const isKnown = needsValues || operator === 'Exists' || operator === 'DoesNotExist';
  if (!isKnown || needsValues !== values.length > 0) return undefined;
  return { key, operator, values: values as readonly string[] };
}
