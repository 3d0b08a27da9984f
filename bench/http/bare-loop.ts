/**
 * A loop without Homeostat, as a process of its own: for each object the requests that Homeostat sends to the API, and with a server also
 * the writes that it sends to Kubernetes. Prints its time in ms.
 */
import { readFileSync } from 'node:fs';
import { PlaneClient } from '../../test/support/control-plane/plane-client.ts';
import type { BareLoop } from './loop-options.ts';
import { namesOf, namespace, objectsPath, pathOf } from './objects.ts';

/** About the size of the record of Homeostat. */
const record = 'x'.repeat(500);

const eventsPath = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;

function eventAbout(name: string) {
  return {
    metadata: { name: `${name}.loop`, namespace },
    eventTime: '2026-01-01T00:00:00.000000Z',
    ...{ type: 'Normal', reason: 'Created', action: 'Reconcile', note: 'The object was created' },
    ...{ reportingController: 'bench', reportingInstance: 'bench' },
    regarding: { apiVersion: 'homeostat.dev/v1alpha1', kind: 'HttpObject', name, namespace },
  };
}

function createObject(loop: BareLoop): (name: string) => Promise<void> {
  const { url, kubeconfig } = loop;
  const client = kubeconfig === undefined ? undefined : clientOf(kubeconfig);
  const annotate = (name: string, turn: string) =>
    client?.patch(`${objectsPath}/${name}`, {
      metadata: { annotations: { record: `${turn}${record}` } },
    });
  return async (name) => {
    const at = `${url}${pathOf(name)}`;
    await annotate(name, 'identity');
    await (await fetch(at)).text();
    await annotate(name, 'pending');
    const body = JSON.stringify({ value: 'a' });
    const headers = { 'content-type': 'application/json' };
    await (await fetch(at, { method: 'PUT', body, headers })).text();
    await annotate(name, 'owned');
    await client?.patch(`${objectsPath}/${name}/status`, { status: { code: 200 } });
    await client?.create(eventsPath, eventAbout(name));
  };
}

function clientOf(kubeconfig: string): PlaneClient {
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
    readonly clusters: readonly [
      { readonly cluster: { readonly server: string; 'certificate-authority-data': string } },
    ];
    readonly users: readonly [{ readonly user: { readonly token: string } }];
  };
  const [{ cluster }] = clusters;
  const caCertificate = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
  return new PlaneClient({ server: cluster.server, token: users[0].user.token, caCertificate });
}

const loop = JSON.parse(process.argv[2] ?? '') as BareLoop;
const queue = [...namesOf('made', loop.count)];
const create = createObject(loop);
const worker = async () => {
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) await create(name);
};
const startMs = performance.now();
await Promise.all(Array.from({ length: loop.concurrency }, worker));
console.log(String(performance.now() - startMs));
process.exit(0);
