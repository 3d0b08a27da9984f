export { type Conversion, convertManifests } from './convert/convert-manifests.ts';
export { ownObjects } from './convert/own-objects.ts';
export {
  missingStep,
  type Parameter,
  parseParameter,
  targetOf,
  valueAt,
} from './convert/parameter.ts';
export {
  type ImportedFiles,
  type ImportResult,
  importedFormats,
  importFiles,
} from './import-files.ts';
export type { Construct } from './import-report.ts';
export type { SourceDocument } from './importer.ts';
export type { Overlap } from './side-by-side/find-overlaps.ts';
export { renderSideBySide } from './side-by-side/render-side-by-side.ts';
export { clusterFor } from './side-by-side/simulated-kinds.ts';
export { UnknownKinds } from './unknown-kinds.ts';
