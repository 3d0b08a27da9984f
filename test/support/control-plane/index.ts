export { type AuditCounts, type AuditEntry, AuditLog, tallyOf } from './audit-log.ts';
export { allBinaries, ensureBinaries, searchBinaries } from './binaries.ts';
export { goBuild } from './build-binaries.ts';
export {
  ControlPlane,
  type ControlPlaneOptions,
  clockOf,
  type Plane,
  startControlPlane,
} from './control-plane.ts';
export { isEstablished } from './established.ts';
export { isAlive, withFolderLock } from './folder-lock.ts';
export { InstantKubelet, type PodSelection } from './instant-kubelet.ts';
export { InstantVolumes } from './instant-volumes.ts';
export { startMemberPlane } from './member-plane.ts';
export {
  type PlaneAnswer,
  PlaneClient,
  type PlaneRequest,
  PlaneRequestError,
} from './plane-client.ts';
export { endedStatus, runningStatus } from './pod-status.ts';
export { type RuntimeDoor, SandboxPlane, startSandboxPlane } from './sandbox-plane.ts';
export { launchNow, type ProcessEnd, type SupervisedProcess } from './supervised-process.ts';
export { type SharedControlPlane, useControlPlane } from './use-control-plane.ts';
export { newestMinor, skipBefore } from './versions.ts';
