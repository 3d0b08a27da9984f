export { ensureHelm, findHelm, helmVersion } from './ensure-helm.ts';
export { createHelm, Helm, type HelmOutcome, objectsOf } from './helm.ts';
