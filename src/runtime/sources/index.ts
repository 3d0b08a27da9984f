export { createConfigMapSource } from './configmap-source.ts';
export type { DefinitionSource, SourceListener, SourceText } from './definition-source.ts';
export { createDirectorySource } from './directory-source.ts';
export { fileReason } from './folder-look.ts';
export { watchFolders } from './folder-watch.ts';
export { loadDirectory } from './load-directory.ts';
export { createObjectSource } from './object-source.ts';
export { createTextSource } from './text-source.ts';
