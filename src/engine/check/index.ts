export {
  type CheckedDefinition,
  type CheckOptions,
  type CheckResult,
  checkDefinitions,
} from './check-definitions.ts';
export {
  type CheckedDocument,
  type CheckedManifest,
  checkedOnce,
  createCheckCache,
  createManifestCheck,
  type DefinitionManifest,
  diagnosticByPath,
  diagnosticLines,
  diagnosticText,
  type ManifestCheck,
} from './check-manifest.ts';
export { crdDiagnostics } from './crd-causes.ts';
export type { BreakingChange } from './crd-change/breaking-change.ts';
export { breakingChanges } from './crd-change/compare-crds.ts';
export { findingOf } from './http-objects/check-http-objects.ts';
export { conflictKeysOf } from './resolve-conflicts.ts';
export type { MergedRule, RightPurpose } from './rights/access-rule.ts';
export { definitionRights } from './rights/definition-rights.ts';
export { rolesYaml, rulesYaml } from './rights/roles-yaml.ts';
export { runtimeRights } from './rights/runtime-rights.ts';
export { type Cause, causesOf, rejectionFinding } from './server-rejection.ts';
