export type { BuiltinRules } from './builtin-kind.ts';
export { type BuiltinSchemas, builtinKinds } from './builtin-kinds.ts';
export { type CustomVersion, customKind } from './custom-kind.ts';
export { publishedSchema } from './custom-openapi.ts';
export { validateEmbedded } from './embedded-resources.ts';
export { withMetadata } from './generation.ts';
export { KindRegistry } from './kind-registry.ts';
export { objectMetaComponent } from './object-meta.ts';
export { resourceNames } from './resource-names.ts';
export {
  type Admission,
  applyPatchType,
  type Conversion,
  type CustomColumn,
  jsonPatchType,
  mergePatchType,
  type ObjectWorld,
  type Readable,
  type ResourceNames,
  type ScalePaths,
  type ServedKind,
  type Subresource,
  strategicPatchType,
} from './served-kind.ts';
export { ServedLife } from './served-life.ts';
