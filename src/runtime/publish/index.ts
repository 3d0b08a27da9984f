export type { Manifests, SourceState } from './manifest-reader.ts';
export { FindingsTracker, type ManifestFindings } from './parsed-manifest.ts';
export { Confirmations } from './publication.ts';
export type { RejectedClaim } from './publish-plan.ts';
export { Publisher } from './publisher.ts';
