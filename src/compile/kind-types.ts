import type { OperatorDefinition } from '../definition/index.ts';
import { type Gvk, gvkKey } from '../util/gvk.ts';
import { createSchemaCompiler, customResourceSchema } from './schema/index.ts';
import type { SchemaType, StructType } from './schema/schema-type.ts';
import type { SchemaSource } from './schema-source.ts';

/** The types of the kinds that a definition speaks of. */
export interface KindTypes {
  readonly resource: SchemaType;
  /** Undefined: the status may hold anything. */
  readonly statusFields: StructType | undefined;
  /** Undefined: not known, so nothing is checked. */
  typeOf(gvk: Gvk): SchemaType | undefined;
}

const openSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Compiles types on demand. */
export function createKindTypes(
  { kind }: OperatorDefinition,
  schemas: SchemaSource | undefined,
): KindTypes {
  const compiler = createSchemaCompiler();
  // A draft whose schema was not understood: everything would be unknown, which helps nobody.
  const schemaOfKind = kind.schema.type === undefined ? openSchema : kind.schema;
  const resource = compiler.compile(customResourceSchema(schemaOfKind, kind.gvk));
  const status = resource.kind === 'struct' ? resource.fields.get('status')?.type : undefined;
  return {
    resource,
    statusFields: status?.kind === 'struct' ? status : undefined,
    typeOf(gvk) {
      if (gvkKey(gvk) === gvkKey(kind.gvk)) return resource;
      const schema = schemas?.schemaFor(gvk);
      return schema && compiler.compile(schema);
    },
  };
}
