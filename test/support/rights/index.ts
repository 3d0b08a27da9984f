export { DeployedRuntime, examplesPath } from './deployed-runtime.ts';
export { type GrantedRight, isUsedBy, rightText } from './granted-rule.ts';
export { grantExactly, type Rule, runtimeRules } from './granted-user.ts';
