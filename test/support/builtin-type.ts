import { bundledSchemas, createSchemaCompiler, type SchemaType } from '#compile';
import { gvkOf } from '#util/gvk.ts';

const compiler = createSchemaCompiler();
const schemas = bundledSchemas();

/** The type of a built-in kind. */
export function builtInType(apiVersion: string, kind: string): SchemaType {
  const schema = schemas.schemaFor(gvkOf(apiVersion, kind));
  if (schema === undefined) throw new Error(`Expected a built-in kind, found "${kind}"`);
  return compiler.compile(schema);
}
