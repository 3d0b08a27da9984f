export {
  type AggregatedVersion,
  aggregatedDiscovery,
  coreVersions,
  groupDocument,
  groupList,
  resourceList,
} from './group-list.ts';
export { type ComponentDescription, type Descriptions, OpenApiDocuments } from './openapi.ts';
