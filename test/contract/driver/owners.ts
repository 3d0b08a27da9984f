import { isJsonObject, type Json } from '#util/json.ts';

/** What managedFields say, as paths by owner; see `Expectation.owners`. */
export function ownersOf(object: Json): Readonly<Record<string, readonly string[]>> {
  const metadata = isJsonObject(object) ? object.metadata : undefined;
  const entries = isJsonObject(metadata) ? metadata.managedFields : undefined;
  const owners: Record<string, readonly string[]> = {};
  for (const entry of Array.isArray(entries) ? entries : []) {
    if (!isJsonObject(entry)) continue;
    const { manager, operation, subresource, fieldsV1 = null } = entry;
    const part = subresource === undefined ? '' : ` of ${subresource}`;
    const how = operation === 'Apply' && part === '' ? '' : ` (${operation}${part})`;
    owners[`${manager}${how}`] = pathsOf(fieldsV1).sort();
  }
  return owners;
}

function pathsOf(fields: Json, at = ''): string[] {
  if (!isJsonObject(fields)) return [];
  const names = Object.keys(fields);
  if (names.length === 0) return [at];
  return names.flatMap((name) =>
    name === '.' ? [`${at}/`] : pathsOf(fields[name] ?? null, `${at}${step(name)}`),
  );
}

/** `f:name`, `k:{"port":1}`, `v:"x"` */
function step(element: string): string {
  const rest = element.slice(2);
  return element.startsWith('f:') ? `.${rest}` : `[${rest}]`;
}
