export { type AggregatedVersion, aggregatedDiscovery } from './aggregated.ts';
export { coreVersions, groupDocument, groupList, resourceList } from './legacy.ts';
export { OpenApiDocuments } from './openapi.ts';
