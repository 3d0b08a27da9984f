export type { BuiltinRules } from './builtin-kind.ts';
export { type BuiltinSchemas, builtinKinds, modelledNames } from './builtin-kinds.ts';
export { type CustomVersion, customKind } from './custom-kind.ts';
export { objectMetaComponent, publishedSchema } from './custom-openapi.ts';
export { validateEmbedded } from './embedded-resources.ts';
export { ServingPeriod, withMetadata } from './generation.ts';
export { KindRegistry } from './kind-registry.ts';
export { resourceNames } from './resource-names.ts';
export {
  type Admission,
  applyPatchType,
  type Conversion,
  type CustomColumn,
  jsonPatchType,
  mergePatchType,
  type ObjectLister,
  type ResourceNames,
  type ScalePaths,
  type ServedKind,
  type Subresource,
  strategicPatchType,
  type VersionedObject,
} from './served-kind.ts';
