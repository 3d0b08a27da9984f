export type { Manifests, SourceState } from './manifest-reader.ts';
export { FindingsTracker, type ParsedManifest } from './parsed-manifest.ts';
export { Confirmations } from './publication.ts';
export type { RejectedClaim } from './publish-plan.ts';
export { Publisher } from './publisher.ts';
