import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { apply, get, merge, post, remove } from './requests.ts';
import { podTemplate } from './workload-bodies.ts';

const controllers = '/api/v1/namespaces/$(ns)/replicationcontrollers';
const templates = '/api/v1/namespaces/$(ns)/podtemplates';
const tables = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } };

function controller(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'x', ...metadata },
    spec,
  };
}

function rejected(name: string, spec: JsonObject): ContractCase {
  return {
    name: `a ReplicationController with ${name} is rejected`,
    steps: [post(controllers, controller(spec), { status: 422 })],
  };
}

const template = podTemplate('web:1');

/** ReplicationControllers and PodTemplates, which old tools ask for. */
export const replications: readonly ContractCase[] = [
  {
    name: 'a ReplicationController selects by the labels of its template, and has them itself',
    steps: [
      post(controllers, controller({ template }), {
        status: 201,
        body: {
          metadata: { generation: 1, labels: { app: 'x' } },
          spec: { replicas: 1, selector: { app: 'x' } },
          status: { replicas: 0 },
        },
      }),
      get(controllers, { status: 200 }, tables),
      merge(
        `${controllers}/x`,
        { spec: { replicas: 3 } },
        { status: 200, body: { metadata: { generation: 2 } } },
      ),
      get(`${controllers}/x/scale`, {
        status: 200,
        body: { spec: { replicas: 3 }, status: { selector: 'app=x' } },
      }),
      merge(`${controllers}/x/scale`, { spec: { replicas: 5 } }, { status: 200 }),
      get(`${controllers}?fieldSelector=status.replicas=0`, { status: 200 }),
      merge(`${controllers}/x/status`, { status: { replicas: 2 } }, { status: 200 }),
      get(controllers, { status: 200 }, tables),
      remove(`${controllers}/x`, undefined, { status: 200 }),
    ],
  },
  {
    name: 'labels and selector of a ReplicationController may be its own',
    steps: [
      post(
        controllers,
        controller(
          {
            replicas: 2,
            selector: { app: 'x' },
            template: {
              metadata: { labels: { app: 'x', tier: 'web' } },
              spec: { containers: [{ name: 'c', image: 'web:1' }] },
            },
          },
          { labels: { own: 'yes' } },
        ),
        { status: 201, body: { metadata: { labels: { own: 'yes' } } } },
      ),
      get(controllers, { status: 200 }, tables),
    ],
  },
  {
    name: 'a ReplicationController is applied',
    steps: [
      apply({
        to: `${controllers}/x`,
        by: 'me',
        body: controller({ replicas: 2, selector: { app: 'x' }, template }),
        expect: { status: 201 },
      }),
      apply({
        to: `${controllers}/x`,
        by: 'me',
        body: controller({ selector: { app: 'x' }, template }),
        expect: { status: 200, body: { spec: { replicas: 1 } } },
      }),
    ],
  },
  {
    name: 'what a ReplicationController owns is left, unless its deletion says otherwise',
    steps: [
      post(controllers, controller({ template }), { status: 201 }),
      remove(`${controllers}/x?propagationPolicy=Background&dryRun=All`, undefined, {
        status: 200,
        body: { kind: 'Status' },
      }),
      remove(`${controllers}/x?propagationPolicy=Foreground&dryRun=All`, undefined, {
        status: 200,
        body: { metadata: { finalizers: ['foregroundDeletion'] } },
      }),
      remove(`${controllers}/x`, undefined, {
        status: 200,
        body: { metadata: { finalizers: ['orphan'] } },
      }),
    ],
  },
  rejected('no template', { selector: { app: 'x' } }),
  rejected('a template without labels', {
    template: { spec: { containers: [{ name: 'c', image: 'web:1' }] } },
  }),
  rejected('a selector of others', { selector: { app: 'y' }, template }),
  rejected('less than no pods', { replicas: -1, minReadySeconds: -1, template }),
  rejected('pods that end', { template: podTemplate('web:1', { restartPolicy: 'Never' }) }),
  rejected('pods with a deadline', {
    template: podTemplate('web:1', { activeDeadlineSeconds: 5 }),
  }),
  {
    name: 'a PodTemplate is stored with the defaults of a pod',
    steps: [
      post(
        templates,
        { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'x' }, template },
        { status: 201, body: { template: { spec: { restartPolicy: 'Always' } } } },
      ),
      merge(
        `${templates}/x`,
        { template: { metadata: { labels: { more: 'yes' } } } },
        { status: 200 },
      ),
      get(templates, { status: 200 }, tables),
      post(
        templates,
        { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'y' }, template: {} },
        { status: 422 },
      ),
    ],
  },
];
