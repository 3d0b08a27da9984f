import type { OperatorDefinition, ServedKind } from '../definition/index.ts';
import { type Gvk, gvkKey } from '../util/gvk.ts';
import { createSchemaCompiler, customResourceSchema } from './schema/index.ts';
import type { SchemaType, StructType } from './schema/schema-type.ts';
import type { KindSchema, SchemaSource } from './schema-source.ts';

/** The types of the kinds that a definition speaks of. */
export interface KindTypes {
  readonly resource: SchemaType;
  /** Undefined: the status may hold anything. */
  readonly statusFields: StructType | undefined;
  /** Undefined: not known, so nothing is checked. */
  typeOf(gvk: Gvk): SchemaType | undefined;
}

const openSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Of a kind of our own what the definition says; of another what the server documents: anything, when it is not known. */
function resourceSchema(kind: ServedKind, schemas: SchemaSource | undefined): KindSchema {
  if (kind.source === 'for') {
    return schemas?.schemaFor(kind.gvk) ?? customResourceSchema(openSchema, kind.gvk);
  }
  // A draft whose schema was not understood: everything would be unknown, which helps nobody.
  return customResourceSchema(kind.schema.type === undefined ? openSchema : kind.schema, kind.gvk);
}

/** Compiles types on demand. */
export function createKindTypes(
  { kind }: OperatorDefinition,
  schemas: SchemaSource | undefined,
): KindTypes {
  const compiler = createSchemaCompiler();
  const resource = compiler.compile(resourceSchema(kind, schemas));
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
