export { type BoxFiles, openBox } from './box-files.ts';
export { CrashGuard, type CrashGuardOptions, type Suspension } from './crash-guard.ts';
export type { Crash } from './crash-history.ts';
export { type CrashFindings, crashesOf, withSuspensions } from './with-suspensions.ts';
