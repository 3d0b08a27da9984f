export { insideOf } from './file-tree.ts';
export {
  fileReason,
  maxDefinitionMebibytes,
  maxNamedMebibytes,
  readRegularFile,
  UnreadableFileError,
  unreadableReason,
} from './regular-file.ts';
export { readStream } from './stream-text.ts';
