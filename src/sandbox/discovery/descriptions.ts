import type { Json, JsonObject } from '../../util/json.ts';
import { fieldOf, objectField } from '../json-fields.ts';

/** What a real server says of a component and of its fields. */
export interface ComponentDescription {
  readonly description?: string;
  /** By the names of fields. */
  readonly properties?: Readonly<Record<string, string>>;
}

/** By the names of components. */
export type Descriptions = Readonly<Record<string, ComponentDescription>>;

/** The text of a document with the descriptions of its components, in one piece. */
export async function* describedDocument(
  text: string,
  load: () => Promise<Descriptions>,
): AsyncGenerator<string> {
  const descriptions = await load();
  const document: JsonObject = JSON.parse(text);
  const components = objectField(document, 'components') ?? {};
  const schemas = Object.entries(objectField(components, 'schemas') ?? {}).map(
    ([name, schema]): [string, Json] => {
      const told = Object.hasOwn(descriptions, name) ? descriptions[name] : undefined;
      return [name, told === undefined ? (schema ?? null) : withTexts(schema as JsonObject, told)];
    },
  );
  yield JSON.stringify({ ...document, components: { schemas: Object.fromEntries(schemas) } });
}

function withTexts(schema: JsonObject, { description, properties = {} }: ComponentDescription) {
  const own = description === undefined ? schema : { description, ...schema };
  const fields = objectField(schema, 'properties');
  if (fields === undefined) return own;
  const told = Object.entries(fields).map(([name, field]): [string, Json] => {
    const text = fieldOf(properties, name);
    return [
      name,
      text === undefined ? (field ?? null) : { description: text, ...(field as JsonObject) },
    ];
  });
  return { ...own, properties: Object.fromEntries(told) };
}
