import type { KubeObject } from '#util/kube-object.ts';
import { callsOf, type Stage, sampleOf, samplesIn } from './stage.ts';

type Version = 'v1' | 'v1alpha1';

export interface WriteResult {
  readonly write: string;
  /** Requests to the webhook, by the version of the write and the versions that managers of the object have used. */
  readonly calls: Readonly<Record<Column, number>>;
}

export const columns = [
  'stored version, managers in it',
  'stored version, managers in both',
  'other version, managers in it',
  'other version, managers in both',
] as const;
type Column = (typeof columns)[number];

/** Counts the requests to the webhook of each write. */
export async function benchWrites(stage: Stage): Promise<readonly WriteResult[]> {
  const counted = new Map<string, Partial<Record<Column, number>>>();
  // The first request of all fills the caches.
  for (const version of ['v1', 'v1alpha1'] as const) await stage.client.list(samplesIn(version));
  for (const column of columns) {
    const version = column.startsWith('stored') ? 'v1' : 'v1alpha1';
    const other = version === 'v1' ? 'v1alpha1' : 'v1';
    const name = `written-${columns.indexOf(column)}`;
    const hasBoth = column.endsWith('both');
    const prepare = async () => {
      if (hasBoth) await applyAs(stage, other, name, 'other');
    };
    const actions = writesOf(stage, version, name);
    for (const [write, act] of Object.entries(actions)) {
      const calls = await callsDuring(stage, act);
      counted.set(write, { ...counted.get(write), [column]: calls });
      if (write === 'create') await prepare();
    }
  }
  return [...counted].map(([write, calls]) => ({ write, calls: calls as WriteResult['calls'] }));
}

function writesOf(stage: Stage, version: Version, name: string) {
  const { client } = stage;
  const path = `${samplesIn(version)}/${name}`;
  return {
    create: () => client.create(samplesIn(version), sampleOf(version, name, 2)),
    'get, for comparison': () => client.get(path),
    'update (get and PUT)': async () => {
      const found = await client.must<KubeObject>({ method: 'GET', path });
      const annotations = { round: 'two' };
      const body = { ...found, metadata: { ...found.metadata, annotations } };
      await client.must({ method: 'PUT', path, body });
    },
    apply: () => applyAs(stage, version, name, 'manager', 3),
    'apply without a change': () => applyAs(stage, version, name, 'manager', 3),
    'status (merge patch)': () => client.patch(`${path}/status`, { status: { count: 5 } }),
    delete: () => client.delete(path),
  };
}

async function applyAs(
  { client }: Stage,
  version: Version,
  name: string,
  fieldManager: string,
  rules = 2,
): Promise<void> {
  await client.apply(sampleOf(version, name, rules) as unknown as KubeObject, { fieldManager });
}

async function callsDuring(stage: Stage, act: () => Promise<unknown>): Promise<number> {
  const before = await settled(stage);
  await act();
  return (await settled(stage)) - before;
}

/** The number of requests once it no longer grows: the caches are filled after the write. */
async function settled(stage: Stage): Promise<number> {
  for (let last = await callsOf(stage); ; ) {
    const now = await callsOf(stage);
    if (now === last) return now;
    last = now;
  }
}
