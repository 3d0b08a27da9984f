import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '#util/kube-object.ts';
import type { PlaneClient } from './control-plane/index.ts';

/** What the webhook says to one request. */
export type Verdict =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly message: string; readonly status?: number }
  /** A JSON patch. */
  | { readonly kind: 'rewrite'; readonly patch: readonly unknown[] };

export interface WebhookOptions {
  readonly client: PlaneClient;
  /** Only what is written there is asked about. */
  readonly namespace: string;
  readonly type: 'Mutating' | 'Validating';
  /** Plural, of the core group. */
  readonly resource: string;
  readonly judge: (object: KubeObject, calls: number) => Verdict;
}

export interface AdmissionWebhook {
  /** How often the server has asked, trials aside. */
  readonly calls: number;
  /** Resolves when the server does not ask any more. May be called again. */
  stop(): Promise<void>;
}

interface Review {
  readonly request: {
    readonly uid: string;
    readonly object: KubeObject;
    readonly dryRun?: boolean;
  };
}

/** A webhook on loopback, in force when this resolves. */
export async function startAdmissionWebhook(options: WebhookOptions): Promise<AdmissionWebhook> {
  const { client, judge } = options;
  let calls = 0;
  let trials = 0;
  const tls = { key: fixture('first-server.key'), cert: fixture('first-server.crt') };
  const server = createServer(tls, async (request, response) => {
    const { request: asked }: Review = JSON.parse(await text(request));
    if (asked.dryRun === true) trials += 1;
    else calls += 1;
    const verdict = asked.dryRun === true ? allowed : judge(asked.object, calls);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answerOf(asked.uid, verdict)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const configuration = configurationOf(options, `https://127.0.0.1:${port}/`);
  await client.apply(configuration);
  // The server learns of its webhooks a little later.
  while (trials === 0) await tryOut(options);
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    await client.delete(await client.pathOf(configuration));
    // The server forgets its webhooks a little later, too: until then it would reject what this one does not answer.
    for (let before = -1; before < trials; ) {
      before = trials;
      await tryOut(options);
    }
    server.close();
    server.closeAllConnections();
  };
  return {
    get calls() {
      return calls;
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

const allowed: Verdict = { kind: 'allow' };

/** Nothing is stored: the server asks its webhooks for a dry run too. */
async function tryOut({ client, namespace, resource }: WebhookOptions): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/${resource}?dryRun=All`;
  await client.create(path, { metadata: { name: 'tried-out' } });
}

function configurationOf({ namespace, type, resource }: WebhookOptions, url: string): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${type}WebhookConfiguration`,
    metadata: { name: namespace },
    webhooks: [
      {
        name: 'judge.webhook.example.com',
        clientConfig: { url, caBundle: Buffer.from(fixture('first-ca.crt')).toString('base64') },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        rules: [
          {
            operations: ['CREATE', 'UPDATE'],
            apiGroups: [''],
            apiVersions: ['v1'],
            resources: [resource],
          },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 10,
      },
    ],
  };
}

function answerOf(uid: string, verdict: Verdict): unknown {
  const response = { uid, allowed: verdict.kind !== 'deny', ...detailsOf(verdict) };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

function detailsOf(verdict: Verdict): object {
  switch (verdict.kind) {
    case 'allow':
      return {};
    case 'deny':
      return { status: { message: verdict.message, code: verdict.status ?? 400 } };
    case 'rewrite': {
      const patch = Buffer.from(JSON.stringify(verdict.patch)).toString('base64');
      return { patchType: 'JSONPatch', patch };
    }
  }
}

function fixture(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url)), 'utf8');
}
