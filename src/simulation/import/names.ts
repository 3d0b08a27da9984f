import { isDnsLabel } from '../../definition/index.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { ImportReport } from './import-report.ts';

/** The name of a document as a DNS label: names of other tools may contain dots. */
export function definitionName({ metadata }: JsonObject, report: ImportReport): string {
  const place = { name: 'metadata.name', pointer: '/metadata/name' };
  const written = isJsonObject(metadata) ? String(metadata.name ?? '') : '';
  const name = written
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .slice(0, 63);
  const label = isDnsLabel(name) ? name : 'imported';
  report.converted(
    place,
    label === written ? [] : [`the name of a definition is a DNS label: "${label}"`],
  );
  return label;
}

/** Labels and annotations of a document. What `kubectl apply` has written is not the user's. */
export function userMetadata({ metadata }: JsonObject): JsonObject {
  if (!isJsonObject(metadata)) return {};
  const fields = ['labels', 'annotations'].flatMap((field) => {
    const value = metadata[field];
    if (!isJsonObject(value)) return [];
    const own = Object.entries(value).filter(([key]) => !key.startsWith('kubectl.kubernetes.io/'));
    return own.length === 0 ? [] : [[field, Object.fromEntries(own)] as const];
  });
  return Object.fromEntries(fields);
}

/** The plural that Kubernetes itself would use. */
export function pluralOf(singular: string): string {
  if (/(?:s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

/** `my-web_app` as the id of a child, different from those that are taken. */
export function childId(text: string, taken: ReadonlySet<string>): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  const letters = joined.replace(/^[^A-Za-z]+/, '');
  // PodDisruptionBudget, HTTPRoute: leading capitals become small, but for that of the next word.
  const camel = letters.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+$|^[A-Z]/, (start) =>
    start.toLowerCase(),
  );
  const base = camel.slice(0, 36) || 'child';
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}${number}`;
  return id;
}
