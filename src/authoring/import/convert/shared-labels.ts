import { canonicalJson } from '#util/canonical-json.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';

const labelFields: ReadonlySet<string> = new Set(['labels', 'matchLabels', 'selector']);

/** The map of labels that occurs most often. Undefined: none occurs twice. Pure. */
export function repeatedLabels(templates: readonly JsonObject[]): JsonObject | undefined {
  const counts = new Map<string, { readonly map: JsonObject; count: number }>();
  const visit = (value: unknown, field: string): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, '');
    if (!isJsonObject(value)) return;
    const isLabels = labelFields.has(field) && isMapOfStrings(value);
    if (isLabels) {
      const key = canonicalJson(value);
      const entry = counts.get(key) ?? { map: value, count: 0 };
      entry.count += 1;
      counts.set(key, entry);
    } else for (const [name, each] of Object.entries(value)) visit(each, name);
  };
  for (const template of templates) visit(template, '');
  const [most] = [...counts.values()].sort((a, b) => b.count - a.count);
  return most !== undefined && most.count > 1 ? most.map : undefined;
}

function isMapOfStrings(value: JsonObject): boolean {
  const values = Object.values(value);
  return values.length > 0 && values.every((each) => typeof each === 'string');
}

/** The template with a reference to the variable in place of these labels. Pure. */
export function withLabels(value: unknown, labels: JsonObject, field = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withLabels(item, labels));
  if (!isJsonObject(value)) return value;
  if (labelFields.has(field) && canonicalJson(value) === canonicalJson(labels))
    return '${ vars.labels }';
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withLabels(each, labels, name)]),
  );
}
