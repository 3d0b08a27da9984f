export {
  type AccessRule,
  type KnownPlurals,
  type MergedRule,
  mergeRules,
  type RightPurpose,
} from './access-rule.ts';
export { type DefinitionRights, definitionRights } from './definition-rights.ts';
export {
  type RolesOptions,
  type RulesYamlOptions,
  rolesYaml,
  rulesYaml,
  type ServiceAccountRef,
} from './roles-yaml.ts';
export { type RuntimeRights, type RuntimeRightsOptions, runtimeRights } from './runtime-rights.ts';
