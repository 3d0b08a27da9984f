/** A field such as `spec`, or a key of a map such as `['example.com/tier']`. */
const step = /^(?:([A-Za-z_][\w-]*)|\[(?:'([^'\\\p{Cc}]+)'|"([^"\\\p{Cc}]+)")\])/u;

/**
 * The steps of the path of a default: `spec.image`, `metadata.labels['example.com/tier']`. Undefined: it is no such path, as it leads into a
 * list or has another mistake.
 */
export function defaultPathSteps(path: string): readonly string[] | undefined {
  const steps: string[] = [];
  for (let rest = path.trim(); rest !== ''; ) {
    const isSelection = steps.length > 0 && rest.startsWith('.');
    const text = isSelection ? rest.slice(1) : rest;
    const found = step.exec(text);
    const [whole = '', field, quoted, doubleQuoted] = found ?? [];
    const isField = field !== undefined;
    // `a.b` and `a['b']`, but neither `.a` nor `a.['b']`.
    if (found === null || isField !== (isSelection || steps.length === 0)) return undefined;
    steps.push(field ?? quoted ?? doubleQuoted ?? '');
    rest = text.slice(whole.length);
  }
  return steps.length === 0 ? undefined : steps;
}

/** The path of these steps, as an author writes it. */
export function defaultPathText(steps: readonly string[]): string {
  return steps.reduce((path, each) => {
    if (!/^[A-Za-z_][\w-]*$/.test(each)) return `${path}['${each}']`;
    return path === '' ? each : `${path}.${each}`;
  }, '');
}

/** What an author can write in place of a default in a list. */
export const listDefaultHint =
  'Write a default for the whole list, or "default" at the field of its items in the schema';
