import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase, RequestStep } from '../driver/index.ts';
import { get, post } from './requests.ts';

const deployments = '/apis/apps/v1/namespaces/$(ns)/deployments';
const labels = { app: 'web' };

const deployment: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'x', finalizers: ['demo.io/a', 'demo.io/b'] },
  spec: {
    replicas: 0,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        tolerations: [{ key: 'k1', operator: 'Exists' }],
        containers: [
          {
            name: 'c',
            image: 'web',
            args: ['1', '2'],
            env: ['A', 'B', 'C'].map((name) => ({ name, value: name.toLowerCase() })),
            ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }],
          },
          { name: 'd', image: 'side' },
        ],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
    },
  },
};

function strategic(path: string, body: Json, expect: RequestStep['expect']): RequestStep {
  const headers = { 'content-type': 'application/strategic-merge-patch+json' };
  return { method: 'PATCH', path, body, headers, expect };
}

const podSpec = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } });
const container = (fields: JsonObject): JsonObject =>
  podSpec({ containers: [{ name: 'c', ...fields }] });

const patches: Readonly<Record<string, readonly [patch: Json, status?: number]>> = {
  'new items of a list come first': [container({ env: [{ name: 'D', value: 'd' }] })],
  'items that change keep their place': [
    container({
      env: [
        { name: 'B', value: 'x' },
        { name: 'D', value: 'd' },
      ],
    }),
  ],
  'an order puts items where it says': [
    container({
      '$setElementOrder/env': ['C', 'D', 'A', 'B'].map((name) => ({ name })),
      env: [{ name: 'D', value: 'd' }],
    }),
  ],
  'an order alone moves what is there': [
    container({ '$setElementOrder/env': [{ name: 'C' }, { name: 'B' }, { name: 'A' }] }),
  ],
  'an order of some leaves the others where they are': [
    container({ '$setElementOrder/env': [{ name: 'C' }, { name: 'A' }] }),
  ],
  'an order that the patch does not keep is rejected': [
    container({
      '$setElementOrder/env': [{ name: 'A' }, { name: 'B' }],
      env: [
        { name: 'B', value: 'x' },
        { name: 'A', value: 'y' },
      ],
    }),
    500,
  ],
  'an item is deleted by its key': [container({ env: [{ name: 'B', $patch: 'delete' }] })],
  'an item that is not there is not deleted': [
    container({ env: [{ name: 'Z', $patch: 'delete' }] }),
  ],
  'a list is replaced as a whole': [
    container({ env: [{ $patch: 'replace' }, { name: 'Z', value: 'z' }] }),
  ],
  'an atomic list is replaced': [container({ args: ['9'] })],
  'a new container is merged into the list by its name': [
    podSpec({ containers: [{ name: 'e', image: 'third' }] }),
  ],
  'tolerations are replaced': [podSpec({ tolerations: [{ key: 'k2', operator: 'Exists' }] })],
  'a map is replaced': [{ spec: { strategy: { $patch: 'replace', type: 'Recreate' } } }],
  'only the named keys stay': [{ spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }],
  'keys that are not named may not be spoken of': [
    { spec: { strategy: { $retainKeys: ['rollingUpdate'], type: 'Recreate' } } },
    400,
  ],
  'a volume changes its source': [
    podSpec({
      volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'm' } }],
    }),
  ],
  'plain values are united, new ones first': [{ metadata: { finalizers: ['demo.io/c'] } }],
  'plain values are deleted': [
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['demo.io/a'] } },
  ],
  'plain values are ordered': [
    {
      metadata: {
        '$setElementOrder/finalizers': ['demo.io/b', 'demo.io/c', 'demo.io/a'],
        finalizers: ['demo.io/c'],
      },
    },
  ],
  'null deletes a field': [container({ args: null, env: null })],
  'a map is emptied': [{ metadata: { labels: { $patch: 'delete' } }, spec: { replicas: 3 } }],
  'a container without its key is rejected': [podSpec({ containers: [{ image: 'x' }] }), 500],
  'an unknown directive is rejected': [
    container({ env: [{ name: 'A', $patch: 'nonsense' }] }),
    500,
  ],
  'an unknown directive of a map is rejected': [{ spec: { strategy: { $patch: 'x' } } }, 500],
  'ports that share their number are distinguished by it alone': [
    container({ ports: [{ containerPort: 80, name: 'web' }] }),
  ],
  'what kubectl sends to set an image': [
    podSpec({
      '$setElementOrder/containers': [{ name: 'c' }, { name: 'd' }],
      containers: [{ name: 'c', image: 'web:2' }],
    }),
  ],
  'what kubectl sends to restart': [
    {
      spec: {
        template: {
          metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } },
        },
      },
    },
  ],
  'unknown fields are warned of': [{ spec: { nonsense: 1 } }],
  'no object at all': [[], 400],
};

/** The patch that kubectl sends for built-in kinds. */
export const strategics: readonly ContractCase[] = [
  ...Object.entries(patches).map(
    ([name, [patch, status = 200]]): ContractCase => ({
      name,
      ranked: [57],
      steps: [
        post(deployments, deployment, { status: 201 }),
        strategic(`${deployments}/x`, patch, { status }),
        get(`${deployments}/x`, { status: 200 }),
      ],
    }),
  ),
  {
    name: 'status is patched, too',
    steps: [
      post(deployments, deployment, { status: 201 }),
      strategic(
        `${deployments}/x/status`,
        {
          status: {
            conditions: [{ type: 'Available', status: 'False', reason: 'R', message: 'm' }],
          },
        },
        { status: 200 },
      ),
      strategic(
        `${deployments}/x/status`,
        {
          status: {
            replicas: 1,
            conditions: [{ type: 'Available', status: 'True' }],
          },
        },
        { status: 200 },
      ),
    ],
  },
  {
    name: 'a list where an object is cannot be read',
    steps: [
      post(deployments, deployment, { status: 201 }),
      strategic(
        `${deployments}/x`,
        { spec: { strategy: [] } },
        {
          status: 422,
          differs: {
            message: 'the server reads a merged object differently from a request body',
            'details.causes': 'the server reads a merged object differently from a request body',
          },
        },
      ),
    ],
  },
];
