import { standardStatusSchemas } from '../../../definition/index.ts';
import { deepEqual } from '../../../util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../../util/json.ts';

interface Schemas {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/**
 * Both schemas without the status fields that the runtime adds by itself: it writes them anew in every pass, and another version of it
 * may have others. A field that the author has written is the author's; one that a CRD of others (`isOurs: false`) has is theirs.
 */
export function withoutOurStatus({ before, after }: Schemas, isOurs: boolean): Schemas {
  const theirs = isOurs ? {} : statusFieldsOf(before);
  const ours = Object.entries(statusFieldsOf(after))
    .filter(([name, schema]) => deepEqual(standardSchemaOf(name), schema))
    .map(([name]) => name)
    .filter((name) => !Object.hasOwn(theirs, name));
  return { before: withoutStatus(before, ours), after: withoutStatus(after, ours) };
}

function standardSchemaOf(name: string): JsonObject | undefined {
  return new Map(Object.entries(standardStatusSchemas)).get(name);
}

function withoutStatus(root: JsonObject, names: readonly string[]): JsonObject {
  const { properties } = root;
  if (!isJsonObject(properties) || !isJsonObject(properties.status)) return root;
  const left = Object.entries(statusFieldsOf(root)).filter(([name]) => !names.includes(name));
  const status = { ...properties.status, properties: Object.fromEntries(left) };
  return { ...root, properties: { ...properties, status } };
}

function statusFieldsOf({ properties }: JsonObject): JsonObject {
  const { status } = isJsonObject(properties) ? properties : {};
  const fields = isJsonObject(status) ? status.properties : undefined;
  return isJsonObject(fields) ? fields : {};
}
