import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ControlPlane,
  type PlaneClient,
  startControlPlane,
} from '../../test/support/control-plane/index.ts';
import { HomeostatProcess } from '../../test/support/homeostat-process.ts';
import { ChildWatch } from './child-watch.ts';
import {
  type BenchKind,
  bodyOf,
  collectionOf,
  emptyNamespace,
  goodKinds,
  namespace,
} from './definitions.ts';
import { HealthProbe } from './health-probe.ts';
import { type Metrics, readMetrics, sumOf } from './metrics.ts';
import { type DisturbedPlace, inParallel, type Neighbours, neighboursOf } from './neighbours.ts';

export interface RunOptions {
  /** Who shares the process with the good definitions: a name of `neighbours.ts`. */
  readonly beside: string;
  readonly goodDefinitions: number;
  /** Resources that each good definition has before the measurement. */
  readonly resourcesEach: number;
  readonly failingResources: number;
  readonly hotResources: number;
  /** Changes of good resources: creations and edits take turns. */
  readonly perSecond: number;
  readonly seconds: number;
  /** Begins to measure when the bad ones are created, and not when the hot ones have been found to be unstable. */
  readonly fromOnset: boolean;
}

export interface RunResult {
  readonly beside: string;
  /** From the answer to a creation or an edit until its child is there, in ms. */
  readonly latenciesMs: readonly number[];
  /** When each of these changes was answered, in ms since the measurement began. */
  readonly timesMs: readonly number[];
  /** Within the measurement. */
  readonly passes: Readonly<Record<'good' | 'other', number>>;
  /** The slowest answer of `/healthz`, in ms. */
  readonly healthMaxMs: number;
  /** How often the Lease changed hands; undefined: the process has ended without it. */
  readonly leaseTransitions: number | undefined;
  readonly cpuSeconds: number;
  /** What is to be noted of those beside. */
  readonly note?: string;
  /** Of the event loop, within the measurement. */
  readonly loopDelayP99Ms: number;
}

/** How long after the last change a child may come. */
const graceMs = 30_000;
const systemNamespace = 'homeostat-system';
const limitMs = 120_000;
/** The hot ones are found out when they make no more passes than that for so long. */
const calmPassesPerSecond = 20;
const calmMs = 2_000;
/** The first pass of an unstable resource and its immediate follow-ups. */
const passesBeforeUnstable = 6;

/** One run on a control plane of its own. */
export async function runOnce(options: RunOptions): Promise<RunResult> {
  const plane = await startControlPlane({ controllerManager: false });
  try {
    return await runOn(plane, options);
  } finally {
    await plane.stop();
  }
}

async function runOn(plane: ControlPlane, options: RunOptions): Promise<RunResult> {
  const client = plane.client();
  const good = goodKinds(options.goodDefinitions);
  const beside = neighboursOf(options.beside, {
    failing: options.failingResources,
    hot: options.hotResources,
  });
  await prepareNamespaces(client);
  const definitions = Object.fromEntries(
    [...good, ...beside.kinds].map(({ name, text }) => [`${name}.yaml`, text]),
  );
  const kubeconfig = plane.kubeconfigPath('operator');
  // Quiet logs: the pipe to this process is no part of what is measured.
  const flags = ['--leader-elect'];
  const homeostat = new HomeostatProcess({ kubeconfig, definitions, logLevel: 'info', flags });
  const children = new ChildWatch(client);
  try {
    await homeostat.whenReady(good.length + beside.kinds.length);
    await children.start();
    const names = await createResources(client, good, options.resourcesEach);
    await untilSeen(children, names);
    const url = await homeostat.url();
    await beside.create(client);
    if (!options.fromOnset) await untilFoundOut(url, beside);
    const before = await readMetrics(url);
    const disturbed = await whileDisturbed(beside, { client, url }, () =>
      changeAtPace({ client, good, names, children, options }),
    );
    const after = await readMetrics(url);
    const leaseTransitions = await transitionsOf(client);
    return { beside: options.beside, ...disturbed, leaseTransitions, ...costOf(before, after) };
  } finally {
    await children.stop();
    await homeostat.stop();
  }
}

async function prepareNamespaces(client: PlaneClient): Promise<void> {
  for (const name of [namespace, emptyNamespace, systemNamespace]) {
    await client.create('/api/v1/namespaces', { metadata: { name } });
  }
  const quotas = `/api/v1/namespaces/${emptyNamespace}/resourcequotas`;
  const hard = { 'count/configmaps': '0' };
  await client.create(quotas, { metadata: { name: 'nothing' }, spec: { hard } });
  // No controller fills it in here.
  const status = { hard, used: { 'count/configmaps': '0' } };
  await client.patch(`${quotas}/nothing/status`, { status });
}

interface Named {
  readonly kind: BenchKind;
  readonly name: string;
}

async function createResources(
  client: PlaneClient,
  kinds: readonly BenchKind[],
  each: number,
): Promise<readonly Named[]> {
  const names = kinds.flatMap((kind) =>
    Array.from({ length: each }, (_, index) => ({ kind, name: `${kind.name}-${index}` })),
  );
  await inParallel(names, ({ kind, name }) =>
    client.create(collectionOf(kind), bodyOf(kind, name, '0')),
  );
  return names;
}

/** Runs `act` while the neighbours do what they do, and asks for `/healthz` beside it. */
async function whileDisturbed(
  beside: Neighbours,
  place: DisturbedPlace,
  act: () => Promise<Measured>,
): Promise<Measured & Pick<RunResult, 'healthMaxMs' | 'note'>> {
  const stop = new AbortController();
  const disturbed = beside.disturb(place, stop.signal);
  const health = new HealthProbe(place.url);
  try {
    const measured = await act();
    const healthMaxMs = await health.stop();
    stop.abort();
    const note = await disturbed;
    return { ...measured, healthMaxMs, ...(note !== undefined && { note }) };
  } finally {
    stop.abort();
    await disturbed;
  }
}

/** Undefined: it has never been there. */
async function transitionsOf(client: PlaneClient): Promise<number | undefined> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${systemNamespace}/leases/homeostat`;
  const lease = await client.get(path);
  const { leaseTransitions } = (lease?.spec ?? {}) as { readonly leaseTransitions?: number };
  return leaseTransitions;
}

/** Every hot resource has made its immediate follow-ups and counts as unstable, and what they all did at once is over. */
async function untilFoundOut(url: string, { hotResources = 0 }: Neighbours): Promise<void> {
  if (hotResources === 0) return;
  const deadlineMs = performance.now() + limitMs;
  const immediatePasses = hotResources * passesBeforeUnstable;
  let isCalm = false;
  let passes = 0;
  while (passes < immediatePasses || !isCalm) {
    if (performance.now() > deadlineMs) throw new Error('The hot resources do not get on');
    await sleep(calmMs);
    const now = passesOf(await readMetrics(url), isOther);
    isCalm = now - passes <= (calmMs / 1_000) * calmPassesPerSecond;
    passes = now;
  }
}

async function untilSeen(children: ChildWatch, names: readonly Named[]): Promise<void> {
  const deadlineMs = performance.now() + graceMs;
  while (names.some(({ name }) => children.seenMs(name, '0') === undefined)) {
    if (performance.now() > deadlineMs) throw new Error('Children of good resources are missing');
    await sleep(50);
  }
}

interface PacedChanges {
  readonly client: PlaneClient;
  readonly good: readonly BenchKind[];
  readonly names: readonly Named[];
  readonly children: ChildWatch;
  readonly options: RunOptions;
}

interface Change {
  readonly name: string;
  readonly value: string;
  readonly answeredMs: number;
}

type Measured = Pick<RunResult, 'latenciesMs' | 'timesMs'>;

async function changeAtPace(paced: PacedChanges): Promise<Measured> {
  const { options, children } = paced;
  const total = options.perSecond * options.seconds;
  const startMs = performance.now();
  const changes: Promise<Change>[] = [];
  for (let index = 0; index < total; index++) {
    const dueMs = startMs + (index * 1_000) / options.perSecond;
    await sleep(Math.max(0, dueMs - performance.now()));
    changes.push(change(paced, index));
  }
  const made = await Promise.all(changes);
  return {
    latenciesMs: await latenciesOf(made, children),
    timesMs: made.map(({ answeredMs }) => answeredMs - startMs),
  };
}

async function change({ client, good, names }: PacedChanges, index: number): Promise<Change> {
  const half = Math.floor(index / 2);
  if (index % 2 === 0) {
    const kind = good[half % good.length] as BenchKind;
    const name = `${kind.name}-new-${half}`;
    await client.create(collectionOf(kind), bodyOf(kind, name, '0'));
    return { name, value: '0', answeredMs: performance.now() };
  }
  // Across the definitions, then across the resources of each.
  const each = names.length / good.length;
  const { kind, name } = names[
    (half % good.length) * each + (Math.floor(half / good.length) % each)
  ] as Named;
  const value = `edit-${half}`;
  await client.patch(`${collectionOf(kind)}/${name}`, { spec: { value } });
  return { name, value, answeredMs: performance.now() };
}

async function latenciesOf(
  changes: readonly Change[],
  children: ChildWatch,
): Promise<readonly number[]> {
  const deadlineMs = performance.now() + graceMs;
  const isSeen = ({ name, value }: Change) => children.seenMs(name, value) !== undefined;
  while (!changes.every(isSeen)) {
    if (performance.now() > deadlineMs) {
      throw new Error(`${changes.filter((made) => !isSeen(made)).length} children never came`);
    }
    await sleep(50);
  }
  return changes.map(({ name, value, answeredMs }) =>
    Math.max(0, (children.seenMs(name, value) ?? 0) - answeredMs),
  );
}

type Choice = (controller: string) => boolean;

const isGood: Choice = (controller) => controller.startsWith('good-');
const isOther: Choice = (controller) => !isGood(controller);

function passesOf(metrics: Metrics, isChosen: Choice): number {
  const total = 'controller_runtime_reconcile_total';
  return sumOf(metrics, total, ({ controller = '' }) => isChosen(controller));
}

function costOf(before: Metrics, after: Metrics) {
  const passes = (isChosen: Choice) => passesOf(after, isChosen) - passesOf(before, isChosen);
  const cpuSeconds = (metrics: Metrics) => sumOf(metrics, 'process_cpu_seconds_total', () => true);
  const delaySeconds = sumOf(
    after,
    'homeostat_event_loop_delay_seconds',
    ({ quantile }) => quantile === '0.99',
  );
  return {
    passes: { good: passes(isGood), other: passes(isOther) },
    cpuSeconds: cpuSeconds(after) - cpuSeconds(before),
    loopDelayP99Ms: delaySeconds * 1_000,
  };
}
