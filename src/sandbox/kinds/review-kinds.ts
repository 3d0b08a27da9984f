import type { JsonObject } from '#util/json.ts';
import { objectField } from '../json-fields.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { withMetadata } from './generation.ts';
import { resourceNames } from './served-kind.ts';

const authorization = 'authorization.k8s.io/v1';

function reviewRules(
  names: { readonly apiVersion: string; readonly kind: string; readonly namespaced?: boolean },
  status: JsonObject,
): BuiltinRules {
  const { apiVersion, kind, namespaced = false } = names;
  const plural = `${kind.toLowerCase()}s`;
  return {
    names: resourceNames({ apiVersion, kind, plural, namespaced }),
    review: (object) => ({ ...object, spec: objectField(object, 'spec') ?? {}, status }),
  };
}

const allowed = { allowed: true, reason: 'The sandbox does not enforce RBAC' };
const allRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};
/** The user of all requests. */
export const sandboxUser = {
  username: 'sandbox',
  groups: ['system:masters', 'system:authenticated'],
};
const userInfoStatus = { userInfo: sandboxUser };

/** Authorization reviews: every request is allowed. */
export const reviewKinds: readonly BuiltinRules[] = [
  reviewRules({ apiVersion: authorization, kind: 'SelfSubjectAccessReview' }, allowed),
  reviewRules({ apiVersion: authorization, kind: 'SubjectAccessReview' }, allowed),
  reviewRules(
    { apiVersion: authorization, kind: 'LocalSubjectAccessReview', namespaced: true },
    allowed,
  ),
  {
    ...reviewRules({ apiVersion: authorization, kind: 'SelfSubjectRulesReview' }, allRules),
    // The server does not return the spec of this review.
    review: ({ apiVersion, kind }) => ({
      apiVersion,
      kind,
      metadata: {},
      spec: {},
      status: allRules,
    }),
  },
  {
    ...reviewRules(
      { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      userInfoStatus,
    ),
    review: (object, now) => ({
      ...withMetadata(object, 'creationTimestamp', now),
      status: userInfoStatus,
    }),
  },
];
