import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { get, post } from './requests.ts';

const authorization = '/apis/authorization.k8s.io/v1';
const reason = { 'status.reason': 'the sandbox says that it enforces nothing' };

function review(kind: string, spec: JsonObject | undefined): Json {
  const head = { apiVersion: 'authorization.k8s.io/v1', kind };
  return spec === undefined ? head : { ...head, spec };
}

const attributes = { namespace: 'default', verb: 'create', resource: 'pods' };

/** What `kubectl auth` asks. */
export const reviews: readonly ContractCase[] = [
  {
    name: 'may I?',
    steps: [
      post(
        `${authorization}/selfsubjectaccessreviews`,
        review('SelfSubjectAccessReview', { resourceAttributes: attributes }),
        { status: 201, body: { status: { allowed: true } }, differs: reason },
      ),
      get(`${authorization}/selfsubjectaccessreviews`, { status: 405 }),
      get(`${authorization}/selfsubjectaccessreviews/x`, { status: 404 }),
    ],
  },
  {
    name: 'may another user?',
    steps: [
      post(
        `${authorization}/subjectaccessreviews`,
        review('SubjectAccessReview', {
          user: 'jane',
          groups: ['system:masters'],
          resourceAttributes: attributes,
        }),
        { status: 201, body: { status: { allowed: true } }, differs: reason },
      ),
      post(
        `${authorization}/namespaces/$(ns)/localsubjectaccessreviews`,
        review('LocalSubjectAccessReview', {
          user: 'jane',
          groups: ['system:masters'],
          resourceAttributes: { ...attributes, namespace: '$(ns)' },
        }),
        { status: 201, body: { status: { allowed: true } }, differs: reason },
      ),
    ],
  },
  {
    name: 'what may I?',
    steps: [
      post(
        `${authorization}/selfsubjectrulesreviews`,
        review('SelfSubjectRulesReview', { namespace: 'default' }),
        {
          status: 201,
          differs: {
            'status.resourceRules': 'the sandbox has one rule for all',
            'status.nonResourceRules': 'the sandbox has one rule for all',
          },
        },
      ),
    ],
  },
  {
    name: 'who am I?',
    steps: [
      post(
        '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
        { status: 201, differs: { 'status.userInfo': 'the sandbox knows one user' } },
      ),
    ],
  },
];
