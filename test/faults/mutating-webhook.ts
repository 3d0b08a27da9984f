import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '../../src/util/kube-object.ts';
import type { PlaneClient } from '../support/control-plane/index.ts';

export interface MutatingWebhook {
  /** Resolves when the server has asked so often. */
  untilCalls(count: number): Promise<void>;
  /** The server asks no more. */
  stop(): Promise<void>;
}

interface Review {
  readonly request: { readonly uid: string; readonly object: KubeObject };
}

const registration = 'admissionregistration.k8s.io';

/**
 * A webhook on loopback that rewrites what is written in a namespace: `data.greeting` in capitals, and an annotation that
 * counts, so that each answer differs from the one before. In force when this resolves.
 */
export async function startMutatingWebhook(
  client: PlaneClient,
  namespace: string,
): Promise<MutatingWebhook> {
  let calls = 0;
  const listeners = new Set<() => void>();
  const tls = { key: fixture('first-server.key'), cert: fixture('first-server.crt') };
  const server = createServer(tls, async (request, response) => {
    const { request: asked }: Review = JSON.parse(await text(request));
    calls += 1;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(reviewOf(asked, calls)));
    for (const listener of listeners) listener();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const configuration = configurationOf(namespace, `https://127.0.0.1:${port}/`);
  await client.apply(configuration);
  while (calls === 0) await tryOut(client, namespace);
  calls = 0;
  return {
    untilCalls: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (calls < count) return;
          listeners.delete(check);
          resolve();
        };
        listeners.add(check);
        check();
      }),
    async stop() {
      await client.delete(await client.pathOf(configuration));
      server.close();
      server.closeAllConnections();
    },
  };
}

function configurationOf(namespace: string, url: string): KubeObject {
  return {
    apiVersion: `${registration}/v1`,
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: namespace },
    webhooks: [
      {
        name: 'rewrite.webhook.example.com',
        clientConfig: { url, caBundle: Buffer.from(fixture('first-ca.crt')).toString('base64') },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        rules: [
          {
            operations: ['CREATE', 'UPDATE'],
            apiGroups: ['', 'apps'],
            apiVersions: ['v1'],
            resources: ['configmaps', 'deployments'],
          },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 10,
      },
    ],
  };
}

/** Nothing is stored: the server asks its webhooks for a dry run too. */
async function tryOut(client: PlaneClient, namespace: string): Promise<void> {
  const metadata = { name: 'tried-out', annotations: {} };
  await client.create(`/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, { metadata });
}

function reviewOf({ uid, object }: Review['request'], calls: number) {
  const { data } = object as { readonly data?: { readonly greeting?: string } };
  const { annotations = {} } = object.metadata;
  const counted = { ...annotations, 'webhook.example.com/calls': String(calls) };
  const patch = [{ op: 'add', path: '/metadata/annotations', value: counted }];
  const greeting = data?.greeting?.toUpperCase();
  const rewritten = [{ op: 'replace', path: '/data/greeting', value: greeting }];
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(
        JSON.stringify([...patch, ...(greeting === undefined ? [] : rewritten)]),
      ).toString('base64'),
    },
  };
}

function fixture(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url)), 'utf8');
}
