import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definesCrd } from '#definition';
import { KubeError } from '#kube/roles.ts';
import { definitionLabel } from '#reconcile';
import { createLogger } from '#telemetry';
import { createSystemRandom } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import {
  convertedDefinition,
  convertedTypes,
} from '../../../../test/support/conversion/converted-world.ts';
import { webhookError } from '../../../../test/support/conversion/server-error.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../../test/support/fakes/quiet-cluster.ts';
import { recordingGate } from '../../../../test/support/fakes/recording-gate.ts';
import { freshMetrics } from '../../../../test/support/silent-telemetry.ts';
import { specOf, versionsOf } from '../crd/conversion/crd-parts.ts';
import { RunningDefinition } from './running-definition.ts';

const located = convertedDefinition();
const { definition } = located;
assert.ok(definesCrd(definition));
const { crd, gvk } = definition.kind;

/** A definition whose conversions fail in each trial. */
function setUp() {
  const cluster = new QuietCluster(convertedTypes);
  const clock = new FakeClock();
  const conditions = ['Established', 'NamesAccepted'].map((type) => ({ type, status: 'True' }));
  cluster.server.put({
    ...crd,
    metadata: { ...crd.metadata, labels: { [definitionLabel]: definition.name } },
    spec: { ...specOf(crd), versions: versionsOf(crd).slice(0, 1) },
    status: { conditions, storedVersions: ['v1'] },
  });
  /** Monotonic times of the trials, in s. */
  const trials: number[] = [];
  const dryRunApply = () => {
    trials.push(clock.monotonicMs() / 1_000);
    return Promise.reject(webhookError);
  };
  const stopper = new AbortController();
  const running = new RunningDefinition(
    {
      name: definition.name,
      listener: { awaited: () => {}, changed: () => {}, counted: () => {} },
      cluster: Object.assign(cluster, { dryRunApply }),
      clock,
      random: createSystemRandom(),
      timeSlicer: unlimitedTimeSlicer,
      logger: createLogger({ level: 'error', destination: { write: () => {} } }),
      metrics: freshMetrics(),
      conversion: { clientConfig: () => ({ url: 'https://here' }), trialMs: 0 },
      gate: recordingGate({ kinds: { resources: [gvk], children: [] }, onRecorded: () => {} }),
    },
    stopper.signal,
  );
  running.want({ kind: 'run', desired: { located } });
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      for (let round = 0; round < 5; round++) {
        await settle();
        cluster.deliver();
      }
      await clock.advance(1_000);
    }
  };
  const stop = async () => {
    stopper.abort();
    await running.stop();
    assert.equal(clock.pending, 0);
  };
  return { cluster, running, trials, pass, stop };
}

/** The waits between the trials, rounded: some steps of a trial wait for a moment. */
const waitsOf = (trials: readonly number[]) =>
  trials.slice(1).map((time, index) => Math.floor(time - (trials[index] ?? 0)));

test('runtime/running/running-retries: a trial is repeated with its own delays', async () => {
  const { running, trials, pass, stop } = setUp();
  await pass(80);
  const { state } = running.view;
  assert.match('message' in state ? state.message : '', /because conversions fail/);
  assert.deepEqual(waitsOf(trials).slice(0, 4), [5, 10, 20, 40]);
  await stop();
});

test('runtime/running/running-retries: many other rejections before a trial do not delay the next one', async () => {
  const { cluster, running, trials, pass, stop } = setUp();
  const rejected = new KubeError('rejected', 'no', { status: 422 });
  cluster.fault = ({ verb, kind }) =>
    verb === 'apply' && kind === 'CustomResourceDefinition' ? rejected : undefined;
  await pass(300);
  const { state } = running.view;
  assert.match('message' in state ? state.message : '', /API server rejects/);
  assert.deepEqual(trials, []);
  cluster.fault = () => undefined;
  await pass(80);
  assert.deepEqual(waitsOf(trials).slice(0, 3), [5, 10, 20]);
  await stop();
});
