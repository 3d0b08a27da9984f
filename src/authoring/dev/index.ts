export { applySample } from './apply-sample.ts';
export { definitionChanges } from './definition-changes.ts';
export { DevSession, type DevSessionOptions } from './dev-session.ts';
export {
  type FileLock,
  FileLockedError,
  lockFile,
} from './file-lock.ts';
export { loadSamples, parseObjects, sampleNames } from './samples.ts';
export {
  isDevKubeconfig,
  kubeconfigText,
  maxSnapshotMebibytes,
  type SandboxCluster,
  type SandboxClusterOptions,
  SnapshotFileError,
  startSandboxCluster,
} from './sandbox-cluster.ts';
export { Screen, type Terminal } from './screen.ts';
export {
  makeFolder,
  type SaveFailure,
  writeFileAtomically,
} from './snapshot-saver.ts';
export { createTextLogger, type TextLoggerOptions } from './text-logger.ts';
export {
  type PrintedTree,
  treeChanges,
  treeLines,
} from './tree/tree-lines.ts';
