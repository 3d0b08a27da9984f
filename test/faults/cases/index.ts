export { clusterCases } from './cluster.ts';
export { processCases } from './process.ts';
export { requestCases } from './requests.ts';
export { watchCases } from './watches.ts';
