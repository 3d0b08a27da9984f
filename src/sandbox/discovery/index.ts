export { type AggregatedVersion, aggregatedDiscovery } from './aggregated.ts';
export type { ComponentDescription, Descriptions } from './descriptions.ts';
export { coreVersions, groupDocument, groupList, resourceList } from './legacy.ts';
export { OpenApiDocuments } from './openapi.ts';
