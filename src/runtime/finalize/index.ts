export type { FinalizeOptions } from './finalize-kind.ts';
export { abandonResources, finalizeKinds } from './finalize-kinds.ts';
export { uninstall } from './uninstall.ts';
