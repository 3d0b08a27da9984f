export { type AuditedRequest, auditedRequests } from './audited-request.ts';
export { type GrantedRight, isUsedBy, rightsOfRoles, rightText } from './granted-rule.ts';
export { tokenOf } from './service-account.ts';
