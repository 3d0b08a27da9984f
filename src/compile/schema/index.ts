export { type ComponentDescription, loadBuiltinDescriptions } from './builtin-descriptions.ts';
export { type BuiltinTables, builtinTables } from './builtin-tables.ts';
export {
  type BuiltinDocuments,
  builtinDocuments,
  bundledKinds,
  bundledPlural,
  bundledSchemas,
  type SchemaBundle,
} from './bundled-schemas.ts';
export { customResourceSchema, schemaOfCustomResource } from './custom-resource-schema.ts';
export { anyType, createSchemaCompiler, type SchemaCompiler } from './schema-compiler.ts';
export type {
  AnyType,
  BranchType,
  ListType,
  MapType,
  ScalarName,
  ScalarType,
  SchemaType,
  StructField,
  StructType,
} from './schema-type.ts';
