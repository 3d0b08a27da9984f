/** The cache of a cluster: the only way into this sub-room. */

export { createInformerSet, type InformerSet, type InformerSetOptions } from './informer-set.ts';
export type { InformerSettings } from './reflector-context.ts';
export type { WriteThrough, WriteTicket } from './response-delivery.ts';
