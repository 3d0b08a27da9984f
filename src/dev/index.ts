export { makeFolder, writeFileAtomically } from './atomic-file.ts';
export { DevSession, type DevSessionOptions } from './dev-session.ts';
export { claimFile, type FileClaim, FileClaimedError } from './file-claim.ts';
export { isDevKubeconfig, kubeconfigText } from './kubeconfig-text.ts';
export { readObjects } from './samples.ts';
export {
  type SandboxWorld,
  type SandboxWorldOptions,
  startSandboxWorld,
  WorldFileError,
} from './sandbox-world.ts';
export { Screen, type Terminal } from './screen.ts';
export { createTextLogger, type TextLoggerOptions } from './text-logger.ts';
export { objectState } from './tree/object-state.ts';
export { buildTree, type TreeNode } from './tree/object-tree.ts';
export { type ToldTree, treeChanges } from './tree/tree-changes.ts';
export { treeLines } from './tree/tree-lines.ts';
export type { SaveTrouble } from './world-keeper.ts';
