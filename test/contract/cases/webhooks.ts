import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { apply, get, merge, post, put, remove } from './requests.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const validating = `${group}/validatingwebhookconfigurations`;
const mutating = `${group}/mutatingwebhookconfigurations`;
const name = 'hook-$(ns)';
const differs = { warning: 'the sandbox calls no webhook, of which it warns' };

/** Of a kind that no server has, so that it is never called. */
const rule = {
  apiGroups: ['none.example.org'],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['nothings'],
};

function webhook(fields: JsonObject = {}): JsonObject {
  return {
    name: 'check.hooks.example.org',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: { url: 'https://hooks.example.org/check' },
    rules: [rule],
    ...fields,
  };
}

function configuration(webhooks: Json, kind = 'Validating', more: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name, ...more },
    webhooks,
  };
}

function rejected(what: string, ...webhooks: readonly JsonObject[]): ContractCase {
  return {
    name: `a configuration of webhooks with ${what} is rejected`,
    ranked: [42],
    steps: [post(validating, configuration(webhooks), { status: 422 })],
  };
}

function ruleWith(what: string, fields: JsonObject): ContractCase {
  return rejected(`a rule with ${what}`, webhook({ rules: [{ ...rule, ...fields }] }));
}

function service(what: string, fields: JsonObject): ContractCase {
  const own = { name: 'hook', namespace: 'default', ...fields };
  return rejected(`a service with ${what}`, webhook({ clientConfig: { service: own } }));
}

function url(what: string, text: string): ContractCase {
  return rejected(`a URL ${what}`, webhook({ clientConfig: { url: text } }));
}

/** Configurations of admission webhooks. */
export const webhooks: readonly ContractCase[] = [
  {
    name: 'a configuration of webhooks is completed, changed and deleted; only a change of a webhook is a new generation',
    steps: [
      post(
        validating,
        configuration([
          webhook({ clientConfig: { service: { name: 'hook', namespace: 'default' } } }),
        ]),
        {
          status: 201,
          differs,
          body: {
            metadata: { generation: 1 },
            webhooks: [
              {
                failurePolicy: 'Fail',
                matchPolicy: 'Equivalent',
                timeoutSeconds: 10,
                namespaceSelector: {},
                objectSelector: {},
                clientConfig: { service: { port: 443 } },
                rules: [{ scope: '*' }],
              },
            ],
          },
        },
      ),
      merge(
        `${validating}/${name}`,
        { metadata: { labels: { a: 'b' } } },
        { status: 200, body: { metadata: { generation: 1 } }, differs },
      ),
      merge(
        `${validating}/${name}`,
        { webhooks: [webhook({ timeoutSeconds: 3 })] },
        { status: 200, body: { metadata: { generation: 2 } }, differs },
      ),
      put(`${validating}/${name}`, configuration([webhook()]), { status: 422 }),
      get(`${validating}/${name}`, { status: 200 }),
      remove(`${validating}/${name}`, undefined, { status: 200 }),
      get(`${validating}/${name}`, { status: 404 }),
    ],
  },
  {
    name: 'webhooks are merged by name when they are applied, also mutating ones',
    steps: [
      apply({
        to: `${mutating}/${name}`,
        by: 'a',
        body: configuration([webhook()], 'Mutating'),
        expect: { status: 201, body: { webhooks: [{ reinvocationPolicy: 'Never' }] }, differs },
      }),
      apply({
        to: `${mutating}/${name}`,
        by: 'b',
        body: configuration([webhook({ name: 'other.hooks.example.org' })], 'Mutating'),
        expect: {
          status: 200,
          differs,
          body: {
            webhooks: [{ name: 'check.hooks.example.org' }, { name: 'other.hooks.example.org' }],
          },
        },
      }),
      remove(`${mutating}/${name}`, undefined, { status: 200 }),
    ],
  },
  {
    name: 'a configuration without webhooks is accepted',
    steps: [
      post(validating, configuration([]), { status: 201 }),
      remove(`${validating}/${name}`, undefined, { status: 200 }),
    ],
  },
  rejected('a name of two segments', webhook({ name: 'check.example' })),
  rejected('a name that is no domain', webhook({ name: 'Check_it.example.org' })),
  rejected('an empty name', webhook({ name: '' })),
  rejected('a name twice', webhook(), webhook()),
  rejected('no side effects named', { ...webhook(), sideEffects: null }),
  rejected('side effects', webhook({ sideEffects: 'Some' })),
  rejected('no versions', webhook({ admissionReviewVersions: [] })),
  rejected('unknown versions', webhook({ admissionReviewVersions: ['v7', 'v7', 'V8'] })),
  rejected('a long timeout', webhook({ timeoutSeconds: 31 })),
  rejected('no timeout', webhook({ timeoutSeconds: 0 })),
  rejected('unknown policies', webhook({ failurePolicy: 'Wait', matchPolicy: 'Loose' })),
  rejected('selectors that are none', {
    ...webhook({ namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } }),
    objectSelector: { matchLabels: { 'a b': 'c' } },
  }),
  rejected('no client', webhook({ clientConfig: {} })),
  rejected(
    'two clients',
    webhook({
      clientConfig: { url: 'https://a.example.org', service: { name: 'a', namespace: 'b' } },
    }),
  ),
  rejected(
    'a condition without expression',
    webhook({ matchConditions: [{ name: 'a', expression: '' }] }),
  ),
  rejected(
    'conditions with names that are none',
    webhook({
      matchConditions: [
        { name: '', expression: 'true' },
        { name: 'a b', expression: 'true' },
      ],
    }),
  ),
  rejected(
    'a condition twice',
    webhook({
      matchConditions: [
        { name: 'a', expression: 'true' },
        { name: 'a', expression: 'false' },
      ],
    }),
  ),
  {
    name: 'a mutating webhook with an unknown policy of reinvocation is rejected',
    ranked: [42],
    steps: [
      post(mutating, configuration([webhook({ reinvocationPolicy: 'Always' })], 'Mutating'), {
        status: 422,
      }),
    ],
  },
  ruleWith('no operations', { operations: [] }),
  ruleWith('all operations and another one', { operations: ['*', 'CREATE'] }),
  ruleWith('an unknown operation', { operations: ['PATCH'] }),
  ruleWith('no groups, versions and resources', {
    apiGroups: [],
    apiVersions: [],
    resources: [],
  }),
  ruleWith('all groups and another one', { apiGroups: ['*', 'apps'] }),
  ruleWith('an empty version and resource', { apiVersions: [''], resources: [''] }),
  ruleWith('all resources and another one', { resources: ['*', 'pods'] }),
  ruleWith('all resources and subresources, and another one', { resources: ['*/*', 'pods'] }),
  ruleWith('all subresources and one of them', { resources: ['pods/*', 'pods/status'] }),
  ruleWith('a subresource of all resources and of one', { resources: ['*/scale', 'pods/scale'] }),
  ruleWith('an unknown scope', { scope: 'Galaxy' }),
  service('no name and namespace', { name: '', namespace: '' }),
  service('a port that is none', { port: 70_000 }),
  service('a relative path', { path: 'check' }),
  service('an empty segment', { path: '/a//b' }),
  service('two slashes', { path: '//' }),
  service('a segment that is no name', { path: '/A_b/c' }),
  url('of http', 'http://hooks.example.org/check'),
  url('without a host', 'https:///check'),
  url('without a scheme', 'hooks.example.org'),
  url('with a user', 'https://me@hooks.example.org/'),
  url('with a query and a fragment', 'https://hooks.example.org/?a=b#c'),
];
