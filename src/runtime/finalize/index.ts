export type { FinalizeOptions } from './finalize-kind.ts';
export { abandonResources, type FinalizeKindsOptions, finalizeKinds } from './finalize-kinds.ts';
export { type UninstallOptions, uninstall } from './uninstall.ts';
