export { createConfigMapSource } from './configmap-source.ts';
export { loadDirectory } from './definition-files.ts';
export {
  createStaticSource,
  type DefinitionSource,
  type SourceListener,
  type SourceManifest,
} from './definition-source.ts';
export { createDirectorySource } from './directory-source.ts';
export { fileReason, watchFolders } from './folder-scan.ts';
