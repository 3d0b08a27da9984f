import { fileURLToPath } from 'node:url';
import { digestOf, writeRules } from '#conversion';
import { caBundleOf, conversionPath } from '#conversion-webhook';
import { encodeBase64 } from '#util/base64.ts';
import type { JsonObject } from '#util/json.ts';
import { conversionsAnnotation, webhookSecretName } from '#util/stored-names.ts';
import {
  type ControlPlane,
  launchNow,
  type PlaneClient,
  startControlPlane,
} from '../../test/support/control-plane/index.ts';
import { ConvertProcess } from '../../test/support/conversion/convert-process.ts';
import { readPair } from '../../test/support/conversion-pairs.ts';
import { parseExposition } from '../../test/support/exposition.ts';
import { valueOfSamples } from '../../test/support/scrape.ts';

const namespace = 'homeostat-system';
const group = 'bench.example.com';
const name = `samples.${group}`;
const pair = readPair('renamed-and-remapped.yaml');

/** The path of the objects in a version. */
export function samplesIn(version: string): string {
  return `/apis/${group}/${version}/namespaces/default/samples`;
}

/** The path of the webhook that converts them. */
export const webhookPath = conversionPath(name, digestOf(pair.rules));

/** A control plane, a process of `homeostat convert`, and a kind with two versions that it converts; `v1` is stored. */
export interface Stage {
  readonly plane: ControlPlane;
  readonly client: PlaneClient;
  readonly converter: ConvertProcess;
  /** A webhook in a process of its own that does nothing. */
  readonly bare: WebhookPeer;
  /** Changes the schema of the kind, so that the API server makes its caches anew. @param peer who converts */
  touch(peer: PeerName): Promise<void>;
  stop(): Promise<void>;
}

export type PeerName = 'homeostat' | 'bare';

export interface WebhookPeer {
  readonly url: string;
  readonly caBundle: string;
}

export async function startStage(): Promise<Stage> {
  const plane = await startControlPlane({ controllerManager: false });
  const client = plane.client();
  let converter: ConvertProcess | undefined;
  try {
    await client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    converter = await ConvertProcess.start({
      namespace,
      kubeconfig: plane.kubeconfigPath(),
      url: 'https://127.0.0.1',
    });
    const { port } = converter;
    const path = `/api/v1/namespaces/${namespace}/secrets/${webhookSecretName}`;
    const secret = await client.untilObject(path, (found) => found !== undefined);
    const bare = await startBare();
    const peers: Readonly<Record<PeerName, WebhookPeer>> = {
      bare,
      homeostat: {
        url: `https://127.0.0.1:${port}${webhookPath}`,
        caBundle: encodeBase64((secret && caBundleOf(secret)) ?? ''),
      },
    };
    await client.installCrd(crdOf(peers.homeostat, 0));
    let touched = 0;
    return {
      ...{ plane, client, converter, bare },
      async touch(peer) {
        touched += 1;
        await client.apply(crdOf(peers[peer], touched));
        // The API server follows a change of a CRD within a second.
        await client.sleep(2_000);
      },
      async stop() {
        await converter?.kill();
        await plane.stop();
      },
    };
  } catch (error) {
    await converter?.kill();
    await plane.stop();
    throw error;
  }
}

/** It ends with this process. */
async function startBare(): Promise<WebhookPeer> {
  const file = fileURLToPath(new URL('bare-webhook.ts', import.meta.url));
  const printed = Promise.withResolvers<string>();
  launchNow({ command: process.execPath, args: [file], onOutput: printed.resolve });
  return JSON.parse(await printed.promise);
}

function crdOf(clientConfig: WebhookPeer, touched: number) {
  const versions = ['v1alpha1', 'v1'].map((version) => {
    const schema = { ...pair.schemas.get(version), description: `Schema ${touched}` };
    return {
      ...{ name: version, served: true, storage: version === 'v1', subresources: { status: {} } },
      schema: { openAPIV3Schema: schema },
    };
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      ...{ name, labels: { 'homeostat.dev/definition': 'bench' } },
      annotations: { [conversionsAnnotation]: writeRules(pair.rules) },
    },
    spec: {
      group,
      ...{ scope: 'Namespaced', versions },
      names: { kind: 'Sample', plural: 'samples', singular: 'sample', listKind: 'SampleList' },
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig,
        },
      },
    },
  };
}

/** `/metrics` may be this old, in ms. */
const scrapedMs = 1_100;

/** How many requests the webhook process has had. */
export async function callsOf({ client, converter }: Pick<Stage, 'client' | 'converter'>) {
  await client.sleep(scrapedMs);
  const response = await fetch(`${converter.healthUrl}/metrics`);
  const families = parseExposition(await response.text());
  return valueOfSamples(families, 'homeostat_conversion_request_duration_seconds_count');
}

/** An object. @param rules items of its list: 12 make 1 KiB, 150 make 8 KiB */
export function sampleOf(version: 'v1alpha1' | 'v1', sample: string, rules: number): JsonObject {
  const items = Array.from({ length: rules }, (_, index) => {
    const port = 8_000 + index;
    const where = version === 'v1' ? { target: { port } } : { port };
    return { name: `rule-number-${index}`, ...where };
  });
  const spec =
    version === 'v1'
      ? { replicas: 3, strategy: { type: 'Parallel' }, timeoutSeconds: 90 }
      : { size: 3, mode: 'fast', timeout: '1m30s' };
  return {
    ...{ apiVersion: `${group}/${version}`, kind: 'Sample' },
    metadata: { name: sample, namespace: 'default' },
    spec: { ...spec, image: 'registry.example.com/team/web:1', rules: items },
  };
}
