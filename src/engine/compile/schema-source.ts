import { hasUnknownKeyword, type OperatorDefinition, type ServedKind } from '#definition';
import { type Gvk, gvkKey } from '#util/gvk.ts';
import { customResourceSchema } from './schema/custom-resource-schema.ts';
import { withHistory } from './schema/history-type.ts';
import { createSchemaCompiler, type SchemaCompiler } from './schema/schema-compiler.ts';
import type { SchemaType, StructType } from './schema/schema-type.ts';

/** JSON schemas of one kind: the root's name and every component it reaches (OpenAPI v3 `components.schemas`). */
export interface KindSchema {
  readonly root: string;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The only information about a cluster that compile uses. */
export interface SchemaSource {
  /** Undefined: the kind is unknown (values are neither checked nor coerced). */
  schemaFor(gvk: Gvk): KindSchema | undefined;
  /** Undefined: unknown. */
  isNamespaced(gvk: Gvk): boolean | undefined;
  /** Compiles the schemas of this source once for all definitions. @default a new compiler for each definition */
  readonly compiler?: SchemaCompiler;
}

/** The types of the kinds in a definition. */
export interface KindTypes {
  readonly resource: SchemaType;
  /** The root of expressions: the resource, with `history` if the definition keeps versions. */
  readonly root: SchemaType;
  /** Undefined: the status may have any fields. */
  readonly statusFields: StructType | undefined;
  /** Undefined: unknown, so nothing is checked. */
  typeOf(gvk: Gvk): SchemaType | undefined;
}

const openSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** The schema of the definition for a CRD kind; the schema of the server for a `for` kind, or an open schema if unknown. */
export function resourceSchema(kind: ServedKind, schemas: SchemaSource | undefined): KindSchema {
  if (kind.source === 'for') {
    return schemas?.schemaFor(kind.gvk) ?? customResourceSchema(openSchema, kind.gvk);
  }
  // For an invalid schema every field would be reported as unknown.
  const isReadable = kind.schema.type !== undefined && !hasUnknownKeyword(kind.schema);
  return customResourceSchema(isReadable ? kind.schema : openSchema, kind.gvk);
}

/** Compiles types on demand. */
export function createKindTypes(
  { kind, reads }: OperatorDefinition,
  schemas: SchemaSource | undefined,
): KindTypes {
  const compiler = schemas?.compiler ?? createSchemaCompiler();
  const resource = compiler.compile(resourceSchema(kind, schemas));
  const status = resource.kind === 'struct' ? resource.fields.get('status')?.type : undefined;
  return {
    resource,
    root: reads.some(({ history }) => history !== undefined)
      ? withHistory(resource, compiler)
      : resource,
    statusFields: status?.kind === 'struct' ? status : undefined,
    typeOf(gvk) {
      if (gvkKey(gvk) === gvkKey(kind.gvk)) return resource;
      const schema = schemas?.schemaFor(gvk);
      return schema && compiler.compile(schema);
    },
  };
}
