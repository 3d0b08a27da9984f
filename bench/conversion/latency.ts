import { fileURLToPath } from 'node:url';
import { launchNow } from '../../test/support/control-plane/index.ts';
import { HomeostatProcess } from '../../test/support/homeostat-process.ts';
import { bodyOf, collectionOf, goodKinds, namespace } from '../isolation/definitions.ts';
import { inParallel } from '../isolation/neighbours.ts';
import { type Stage, webhookPath } from './stage.ts';

const client = fileURLToPath(new URL('latency-client.ts', import.meta.url));

export interface LatencyResult {
  readonly beside: string;
  /** Of one object, in bytes. */
  readonly bytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of a webhook that does nothing, whose requests are between these. */
  readonly bare: { readonly p50Ms: number; readonly p99Ms: number };
  /** Edits of resources a second meanwhile. */
  readonly editsPerSecond: number;
}

/** Latencies of one conversion over HTTPS: alone, and beside a runtime whose resources are all edited again and again. */
export async function benchLatency(
  stage: Stage,
  { requests, resources }: { readonly requests: number; readonly resources: number },
): Promise<readonly LatencyResult[]> {
  const alone = await latencies(stage, requests);
  const [kind] = goodKinds(1);
  if (kind === undefined) return [];
  await stage.client.create('/api/v1/namespaces', { metadata: { name: namespace } });
  const runtime = new HomeostatProcess({
    kubeconfig: stage.plane.kubeconfigPath('operator'),
    definitions: { 'good.yaml': kind.text },
  });
  const stopper = new AbortController();
  try {
    await runtime.whenReady();
    const names = Array.from({ length: resources }, (_, index) => `thing-${index}`);
    const collection = collectionOf(kind);
    await inParallel(names, (name) => stage.client.create(collection, bodyOf(kind, name, '0')));
    let edits = 0;
    const editing = (async () => {
      for (let round = 1; !stopper.signal.aborted; round++)
        await inParallel(names, async (name) => {
          if (stopper.signal.aborted) return;
          await stage.client.patch(`${collection}/${name}`, { spec: { value: `${round}` } });
          edits += 1;
        });
    })();
    const startMs = performance.now();
    const busy = await latencies(stage, requests);
    const editsPerSecond = (edits * 1_000) / (performance.now() - startMs);
    stopper.abort();
    await editing;
    return [
      { beside: 'an idle runtime', ...alone, editsPerSecond: 0 },
      { beside: `a runtime that reconciles ${resources} resources`, ...busy, editsPerSecond },
    ];
  } finally {
    stopper.abort();
    await runtime.stop();
  }
}

async function latencies({ converter, bare }: Stage, requests: number) {
  let printed = '';
  let errors = '';
  const url = `https://127.0.0.1:${converter.port}${webhookPath}`;
  const running = launchNow({
    command: process.execPath,
    args: [client, String(requests), url, bare.url],
    onOutput: (text) => {
      printed += text;
    },
    onErrors: (text) => {
      errors += text;
    },
  });
  const { code } = await running.ended;
  if (code !== 0) throw new Error(`The client ended with ${code}: ${errors}`);
  const { bytes, times } = JSON.parse(printed) as { bytes: number; times: number[][] };
  const [own = [], others = []] = times;
  return { bytes, ...percentiles(own), bare: percentiles(others) };
}

function percentiles(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}
