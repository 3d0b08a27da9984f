import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { statusOf } from '../support/definitions.ts';
import { at, isReady, operatorSuite } from '../support/operator-suite.ts';

const shared = useControlPlane({ audit: true });
const config = at('/api/v1', 'configmaps');
const deployment = at('/apis/apps/v1', 'deployments');
const service = at('/api/v1', 'services');
const ingress = at('/apis/networking.k8s.io/v1', 'ingresses');
const autoscaler = at('/apis/autoscaling/v2', 'horizontalpodautoscalers');
const self = at('/apis/web.example.com/v1', 'webapps');

interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: {
        readonly containers: readonly {
          readonly image: string;
          readonly ports: readonly { readonly containerPort: number }[];
        }[];
      };
    };
  };
}

const specOf = (object: KubeObject | undefined) => (object as Deployment | undefined)?.spec;
const containerOf = (object: KubeObject | undefined) => specOf(object)?.template.spec.containers[0];
const fileOf = (object: KubeObject | undefined, name: string) =>
  (object?.data as Readonly<Record<string, string>> | undefined)?.[name] ?? '';
const asText = (object: KubeObject | undefined) => JSON.stringify(object?.spec ?? {});

const autoscaling = { minReplicas: 2, maxReplicas: 5, cpuPercent: 60 };

shared.describe('integration/operator-web-app', () => {
  const { stage } = operatorSuite(shared, {
    name: 'web-app',
    converts: true,
    resource: {
      apiVersion: 'web.example.com/v1',
      kind: 'WebApp',
      metadata: { name: 'site' },
      spec: { title: 'Hello & welcome', replicas: 2 },
    },
    children: [config, deployment, service],
    edits: [
      {
        what: 'the title is in the file, as it was written',
        change: { spec: { title: 'News <b>' } },
        path: config,
        isDone: (object) => fileOf(object, 'index.html').includes('<h1>News <b></h1>'),
      },
      {
        what: 'links are in the file',
        change: { spec: { links: [{ name: 'Docs', url: 'https://docs.example.com' }] } },
        path: config,
        isDone: (object) =>
          fileOf(object, 'index.html').includes('<a href="https://docs.example.com">Docs</a>'),
      },
      {
        what: 'the port is in the file',
        change: { spec: { port: 9090 } },
        path: config,
        isDone: (object) => fileOf(object, 'default.conf').includes('listen 9090;'),
      },
      {
        what: 'the port is that of the container',
        change: { spec: { port: 9090 } },
        path: deployment,
        isDone: (object) => containerOf(object)?.ports[0]?.containerPort === 9090,
      },
      {
        what: 'the image is that of the container',
        change: { spec: { image: 'httpd' } },
        path: deployment,
        isDone: (object) => containerOf(object)?.image === 'httpd',
      },
      {
        what: 'replicas are those of the Deployment',
        change: { spec: { replicas: 3 } },
        path: deployment,
        isDone: (object) => specOf(object)?.replicas === 3,
      },
      {
        what: 'a host makes an Ingress',
        change: { spec: { ingress: { host: 'site.example.com' } } },
        path: ingress,
        isDone: (object) => asText(object).includes('site.example.com'),
      },
      {
        what: 'a host is in the address',
        change: { spec: { ingress: { host: 'site.example.com' } } },
        path: self,
        isDone: (object) => statusOf(object).url === 'http://site.example.com/',
      },
      {
        what: 'autoscaling makes an autoscaler',
        change: { spec: { autoscaling } },
        path: autoscaler,
        isDone: (object) => asText(object).includes('"maxReplicas":5'),
      },
    ],
    drifts: [
      {
        what: 'replicas that a user changes',
        path: deployment,
        change: { spec: { replicas: 7 } },
        isBack: (object) => specOf(object)?.replicas === 2,
      },
      {
        what: 'a file that a user changes',
        path: config,
        change: { data: { 'index.html': 'hacked' } },
        isBack: (object) => fileOf(object, 'index.html').includes('Hello & welcome'),
      },
      {
        what: 'a port that a user changes',
        path: service,
        change: { spec: { ports: [{ name: 'http', port: 80, targetPort: 1234 }] } },
        isBack: (object) => asText(object).includes('"targetPort":"http"'),
      },
    ],
  });

  test('another file rolls the Pods', async () => {
    const app = await stage();
    const hashOf = (object: KubeObject | undefined) =>
      specOf(object)?.template.metadata.annotations['web.example.com/config'];
    const before = hashOf(await app.client.get(deployment(app)));
    await app.client.patch(app.path, { spec: { title: 'Other' } });
    await app.client.untilObject(deployment(app), (object) => hashOf(object) !== before);
  });

  test('without a host the Ingress is deleted', async () => {
    const app = await stage({ spec: { ingress: { host: 'site.example.com' } } });
    assert.ok(await app.client.get(ingress(app)));
    await app.client.patch(app.path, { spec: { ingress: null } });
    await app.client.untilGone(ingress(app));
  });

  test('the autoscaler owns the replicas while it is on, without a conflict, and gives them back', async () => {
    const app = await stage();
    const { client, path } = app;
    await client.patch(path, { spec: { autoscaling } });
    await client.untilObject(autoscaler(app), (object) => object !== undefined);
    await shared.audit.quiet(1_000);
    // Switched on, nothing changes by itself.
    assert.equal(specOf(await client.get(deployment(app)))?.replicas, 2);

    const mark = shared.audit.mark();
    // As an autoscaler does it.
    for (const replicas of [4, 5, 3]) {
      await client.patch(`${deployment(app)}/scale`, { spec: { replicas } });
      await client.untilObject(path, (object) => statusOf(object).readyReplicas === replicas);
    }
    await shared.audit.quiet(1_000);
    assert.equal(specOf(await client.get(deployment(app)))?.replicas, 3);
    const { by } = shared.audit.count({ since: mark });
    assert.equal(by['patch deployments'] ?? 0, 0, JSON.stringify(by));

    // Another edit leaves the number alone.
    await client.patch(path, { spec: { image: 'httpd' } });
    await client.untilObject(deployment(app), (object) => containerOf(object)?.image === 'httpd');
    assert.equal(specOf(await client.get(deployment(app)))?.replicas, 3);

    await client.patch(path, { spec: { autoscaling: null } });
    await client.untilGone(autoscaler(app));
    await client.untilObject(deployment(app), (object) => specOf(object)?.replicas === 2);
    await client.untilObject(path, isReady);
  });
});
