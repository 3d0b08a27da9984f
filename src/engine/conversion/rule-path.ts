/** One step of the path of a rule: a field, or each item of a list (each value of a map). */
export type RuleStep = string | typeof eachItem;

/** The step `[]`. */
export const eachItem = Symbol('each item');

const stepPattern = /^(?:\.([^.[\]"\s]+)|\[("(?:[^"\\]|\\.)*")\]|\[\])/;

/**
 * Parses `spec.rules[].port`, `spec.labels["a.b"]`. Undefined: it is no path of a rule. The last step may be `[]`: the items themselves.
 * Pure.
 */
export function parseRulePath(text: string): readonly RuleStep[] | undefined {
  const steps: RuleStep[] = [];
  for (let rest = `.${text}`; rest !== ''; ) {
    const [found, name, quoted] = stepPattern.exec(rest) ?? [];
    if (found === undefined) return undefined;
    const step = name ?? (quoted === undefined ? eachItem : unquoted(quoted));
    if (step === undefined) return undefined;
    steps.push(step);
    rest = rest.slice(found.length);
  }
  return steps[0] === eachItem ? undefined : steps;
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A path as other tools write it, as text of this one: `$.spec.size`, `/spec/size`, `spec.rules[0].port`. Undefined: it is none either. */
export function inOwnNotation(text: string): string | undefined {
  const names = text.replace(/^[$./]+/, '').replaceAll('/', '.');
  const path = names.replaceAll(/\[(?:\d+|\*)\]/g, '[]');
  return parseRulePath(path) === undefined || path === text ? undefined : path;
}

/** The path as text. The reverse of {@link parseRulePath}. */
export function rulePathText(steps: readonly RuleStep[]): string {
  const text = steps.map((step) => {
    if (step === eachItem) return '[]';
    return /^[^.[\]"\s]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
  });
  return text.join('').replace(/^\./, '');
}
