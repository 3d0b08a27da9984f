import { isDnsLabel } from '#definition';
import { isJsonObject, type JsonObject } from '#util/json.ts';
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
