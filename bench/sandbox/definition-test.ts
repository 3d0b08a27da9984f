import { createDefinitionParser } from '#definition';
import { createKubeCluster } from '#kube';
import { RunningDefinition } from '#runtime';
import { startSandboxServer } from '#sandbox/node/index.ts';
import { createLogger, createMetricRegistry } from '#telemetry';
import { createSystemClock } from '#util/clock.ts';
import { gvkOf } from '#util/gvk.ts';
import { createSystemRandom } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { recordingGate } from '../../test/support/fakes/recording-gate.ts';
import { whenSynced } from '../../test/support/when-synced.ts';
import { benchSandbox } from './bench-sandbox.ts';
import { applyTo } from './objects.ts';
import type { Row } from './row.ts';

const resources = 300;
const children = 5;
const targetMs = 10;
const collection = '/apis/bench.example.com/v1/namespaces/default/boxes';

const definition = `
apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: box }
spec:
  crd:
    group: bench.example.com
    names: { kind: Box, plural: boxes }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, properties: { text: { type: string } } }
  children:
${Array.from({ length: children }, (_, index) => childText(index)).join('\n')}
`;

function childText(index: number): string {
  return `    - id: c${index}
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-${index}" }
        data: { text: "\${ spec.text }" }`;
}

/** A test of a definition: from a resource to its five children and its status, one after the other. */
export async function measureDefinitionTest(): Promise<readonly Row[]> {
  const sandbox = benchSandbox({ basePath: '/bench' });
  const server = await startSandboxServer({ sandbox, basePath: '/bench' });
  const [clock, random, metrics] = [
    createSystemClock(),
    createSystemRandom(),
    createMetricRegistry(),
  ];
  const logger = createLogger({ level: 'error' });
  const credentials = { load: () => Promise.resolve({ headers: {} }) };
  const config = { server: server.url, namespace: 'default', credentials };
  const cluster = createKubeCluster({ config, clock, random, logger, metrics });
  const { definitions, diagnostics } = createDefinitionParser().parse(definition, 'box.yaml');
  if (diagnostics.length > 0) throw new Error(diagnostics[0]?.message);
  const [located] = definitions;
  if (located === undefined) throw new Error('Expected a definition');
  const stopper = new AbortController();
  const unit = new RunningDefinition(
    {
      cluster,
      clock,
      random,
      logger,
      metrics,
      name: 'box',
      timeSlicer: unlimitedTimeSlicer,
      listener: { awaited: () => {}, changed: () => {}, counted: () => {} },
      gate: recordingGate(),
    },
    stopper.signal,
  );
  unit.want({ kind: 'run', desired: { located } });
  while (unit.view.state.kind !== 'running') await clock.sleep(5, stopper.signal);
  const informer = cluster.acquire({ gvk: gvkOf('bench.example.com/v1', 'Box') });
  await whenSynced(informer, stopper.signal);
  const times: number[] = [];
  for (let index = 0; index < resources; index++) {
    const name = `box-${index}`;
    const start = performance.now();
    const isReady = new Promise<void>((resolve) => {
      const unsubscribe = informer.subscribe(({ current, name: changed }) => {
        if (
          changed !== name ||
          !/"type":"Ready"/.test(JSON.stringify(current?.object.status ?? ''))
        )
          return;
        if (!/"status":"True"/.test(JSON.stringify(current?.object.status))) return;
        queueMicrotask(() => unsubscribe());
        resolve();
      });
    });
    applyTo(sandbox, collection, {
      apiVersion: 'bench.example.com/v1',
      kind: 'Box',
      metadata: { name },
      spec: { text: 'hello' },
    } as never);
    await isReady;
    times.push(performance.now() - start);
  }
  stopper.abort();
  await unit.stop();
  informer.release();
  await cluster.close();
  await server.stop();
  sandbox.stop();
  const median = times.slice(resources / 3).sort((a, b) => a - b)[Math.floor(resources / 3)] ?? 0;
  const value = Math.round(median * 10) / 10;
  return [
    {
      what: `a resource with ${children} children, until it is ready (median)`,
      value,
      unit: 'ms',
      target: `< ${targetMs}`,
      isMet: value < targetMs,
    },
  ];
}
