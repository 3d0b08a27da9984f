/** The cache of a cluster: the only way into this sub-room. */
export { createInformerSet, type InformerSet, type InformerSetOptions } from './informer-set.ts';
export type { InformerSettings } from './informer-settings.ts';
export { compareVersions } from './resource-version.ts';
export type { WriteThrough, WriteTicket } from './write-through.ts';
