import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import {
  binding,
  control,
  dry,
  enforced,
  map,
  maps,
  notBad,
  policies,
  policy,
} from './policies.ts';
import { apply, get, merge, post, put, remove, thing, things } from './requests.ts';

const deployments = '/apis/apps/v1/namespaces/$(ns)/deployments';

function deployment(replicas: number, name = 'x'): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'busybox' }] },
      },
    },
  };
}

function ofDeployments(resource: string, more: JsonObject = {}): JsonObject {
  return { apiGroups: ['apps'], resources: [resource], ...more };
}

const until = (data: JsonObject, metadata: JsonObject = {}) => ({
  until: { untilAnswer: post(dry(maps), map(data, metadata), { status: 422 }) },
});

/** Which requests a policy selects. */
const selection: readonly ContractCase[] = [
  enforced(
    'an object selector selects by the labels of the new or the old object',
    policy([notBad], { constraints: { objectSelector: { matchLabels: { strict: 'yes' } } } }),
    [
      post(maps, map({ a: 'bad' }), { status: 201 }),
      post(maps, map({ a: 'good' }, { name: 'y', labels: { strict: 'yes' } }), { status: 201 }),
      merge(
        `${maps}/y`,
        { metadata: { labels: { strict: null } }, data: { a: 'bad' } },
        { status: 422 },
      ),
      merge(`${maps}/x`, { metadata: { labels: { strict: 'yes' } } }, { status: 422 }),
    ],
    until({ a: 'bad' }, { labels: { strict: 'yes' } }),
  ),
  {
    name: 'a namespace selector leaves other namespaces out',
    steps: [
      post(policies, policy([notBad]), { status: 201 }),
      post(
        '/api/v1/namespaces',
        { metadata: { name: '$(ns)-other', labels: { strict: 'yes' } } },
        { status: 201 },
      ),
      post(
        '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
        binding({
          matchResources: {
            namespaceSelector: {
              matchExpressions: [
                { key: 'strict', operator: 'In', values: ['yes'] },
                {
                  key: 'kubernetes.io/metadata.name',
                  operator: 'In',
                  values: ['$(ns)', '$(ns)-other'],
                },
              ],
            },
          },
        }),
        { status: 201 },
      ),
      {
        untilAnswer: post(dry('/api/v1/namespaces/$(ns)-other/configmaps'), map({ a: 'bad' }), {
          status: 422,
        }),
      },
      post(maps, map({ a: 'bad' }), { status: 201 }),
    ],
  },
  enforced(
    'a rule can name objects, and exclude them',
    policy([notBad], {
      rule: { resourceNames: ['x', 'y'] },
      constraints: {
        excludeResourceRules: [
          {
            apiGroups: ['*'],
            apiVersions: ['*'],
            operations: ['*'],
            resources: ['configmaps'],
            resourceNames: ['y'],
          },
        ],
      },
    }),
    [
      post(maps, map({ a: 'bad' }), { status: 422 }),
      post(maps, map({ a: 'bad' }, { name: 'y' }), { status: 201 }),
      post(maps, map({ a: 'bad' }, { name: 'z' }), { status: 201 }),
    ],
  ),
  enforced(
    'a policy selects operations',
    policy([notBad], { rule: { operations: ['UPDATE'] } }),
    [
      post(maps, map({ a: 'bad' }), { status: 201 }),
      put(`${maps}/kept`, map({ a: 'bad' }, { name: 'kept' }), { status: 422 }),
    ],
    {
      until: { untilAnswer: merge(dry(`${maps}/kept`), { data: { a: 'bad' } }, { status: 422 }) },
    },
  ),
  enforced(
    'a rule for cluster-scoped objects selects none in a namespace',
    policy([notBad], {
      constraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['*'],
            resources: ['*'],
            scope: 'Cluster',
          },
        ],
      },
    }),
    [...control(), post(maps, map({ a: 'bad' }), { status: 201 })],
    { until: get(maps, { status: 200 }) },
  ),
  enforced(
    'with generateName, the name is not known yet where rules select, and the error has the prefix',
    policy([notBad]),
    [
      post(
        maps,
        { ...map({ a: 'bad' }), metadata: { generateName: 'made-' } },
        {
          status: 422,
          generated: { 'details.name': /^made-/ },
        },
      ),
    ],
  ),
];

/** Subresources, and custom resources. */
const kinds: readonly ContractCase[] = [
  enforced(
    'a policy for an object does not see its status or scale, one for these does',
    policy(
      [
        {
          expression: '!has(object.spec.replicas) || object.spec.replicas < 5',
          messageExpression:
            "request.subResource + ' ' + object.kind + ' ' + string(object.spec.replicas) + ' after ' + string(oldObject.spec.replicas) + ' ' + request.kind.kind + ' ' + request.resource.resource",
        },
      ],
      { rule: ofDeployments('deployments/scale') },
    ),
    [
      post(deployments, deployment(7), { status: 201 }),
      merge(`${deployments}/kept/scale`, { spec: { replicas: 6 } }, { status: 422 }),
      merge(`${deployments}/kept/scale`, { spec: { replicas: 3 } }, { status: 200 }),
      merge(`${deployments}/kept`, { spec: { replicas: 9 } }, { status: 200 }),
      merge(`${deployments}/kept/status`, { status: { replicas: 9 } }, { status: 200 }),
    ],
    {
      until: {
        untilAnswer: merge(
          dry(`${deployments}/kept/scale`),
          { spec: { replicas: 6 } },
          { status: 422 },
        ),
      },
    },
  ),
  enforced(
    'a policy for a status sees the whole object',
    policy(
      [
        {
          expression: 'object.?status.?replicas.orValue(0) < 5',
          messageExpression:
            "request.subResource + ' ' + object.kind + ' ' + string(object.spec.replicas)",
        },
      ],
      { rule: ofDeployments('deployments/status') },
    ),
    [
      merge(`${deployments}/kept/status`, { status: { replicas: 6 } }, { status: 422 }),
      merge(`${deployments}/kept/status`, { status: { replicas: 4 } }, { status: 200 }),
      merge(`${deployments}/kept`, { spec: { replicas: 9 } }, { status: 200 }),
    ],
    {
      until: {
        untilAnswer: merge(
          dry(`${deployments}/kept/status`),
          { status: { replicas: 6 } },
          { status: 422 },
        ),
      },
    },
  ),
  enforced(
    'a policy sees the defaults of an object',
    policy(
      [{ expression: 'object.spec.replicas != 1 || object.spec.strategy.type != "RollingUpdate"' }],
      { rule: ofDeployments('*') },
    ),
    [
      post(deployments, { ...deployment(2, 'y') }, { status: 201 }),
      post(deployments, deployment(1), { status: 422 }),
    ],
    { until: { untilAnswer: post(dry(deployments), deployment(1), { status: 422 }) } },
  ),
  enforced(
    'a policy holds for custom resources, also when they are applied',
    policy([{ expression: 'object.spec.?level.orValue(0) != 99' }], {
      rule: { apiGroups: ['$(group)'], resources: ['things'] },
    }),
    [
      post(things, thing({ level: 99 }), { status: 422 }),
      apply({ to: `${things}/x`, by: 'a', body: thing({ level: 99 }), expect: { status: 422 } }),
      post(things, thing({ level: 1 }), { status: 201 }),
      apply({
        to: `${things}/x?force=true`,
        by: 'a',
        body: thing({ level: 99 }),
        expect: { status: 422 },
      }),
    ],
    { until: { untilAnswer: post(dry(things), thing({ level: 99 }), { status: 422 }) } },
  ),
  enforced('an invalid object is rejected before policies see it', policy([notBad]), [
    post(maps, map({ a: 'bad', 'not a key!': '' }), { status: 422, message: /Invalid value/ }),
    post(maps, map({ a: 'bad' }, { name: 'kept' }), { status: 422, message: /denied request/ }),
    remove(`${maps}/kept`, undefined, { status: 200 }),
  ]),
];

const kept = post(maps, map({ a: 'good' }, { name: 'kept' }), { status: 201 });
const keptDeployment = post(deployments, deployment(2, 'kept'), { status: 201 });

export const policyRequestCases: readonly ContractCase[] = [...selection, ...kinds].map((each) => ({
  ...each,
  steps: [kept, keptDeployment, ...each.steps],
}));
