import { inParallel } from '../isolation/neighbours.ts';
import { callsOf, type Stage, sampleOf, samplesIn } from './stage.ts';

const versions = ['v1', 'v1alpha1'] as const;
/** Items of the list in each object: about 1 KiB. */
const rules = 12;

/** Where the API server takes the objects from. */
export type ListKind = 'cache' | 'first';

export interface ListResult {
  readonly kind: ListKind;
  /** By round, in ms. */
  readonly storedMs: readonly number[];
  readonly otherMs: readonly number[];
  /** In the other version, with a webhook that does nothing. */
  readonly bareMs: readonly number[];
  readonly bytes: number;
  /** Requests to the webhook for each list in the other version. */
  readonly calls: number;
}

/** Lists all objects in the stored version and in the other one, in turns. */
export async function benchLists(
  stage: Stage,
  { objects, rounds }: { readonly objects: number; readonly rounds: number },
): Promise<readonly ListResult[]> {
  const names = Array.from({ length: objects }, (_, index) => `sample-${index}`);
  await inParallel(names, (name) =>
    stage.client.create(samplesIn('v1'), sampleOf('v1', name, rules)),
  );
  // The cache of the other version has them all.
  for (const version of versions) await list(stage, version, objects);
  const results: ListResult[] = [];
  for (const kind of ['cache', 'first'] as const) {
    const count = kind === 'first' ? Math.min(3, rounds) : rounds;
    results.push(await rounded(stage, { kind, objects, rounds: count }));
  }
  return results;
}

async function rounded(
  stage: Stage,
  { kind, objects, rounds }: { kind: ListKind; objects: number; rounds: number },
): Promise<ListResult> {
  const result = { storedMs: [] as number[], otherMs: [] as number[], bareMs: [] as number[] };
  const turns = [
    ['storedMs', 'v1', 'homeostat'],
    ['otherMs', 'v1alpha1', 'homeostat'],
    ['bareMs', 'v1alpha1', 'bare'],
  ] as const;
  let bytes = 0;
  let calls = 0;
  // Without the first two, in which code and connections are new.
  for (let round = kind === 'cache' ? -2 : 0; round < rounds; round++)
    for (const [key, version, peer] of turns) {
      if (kind === 'cache' && peer === 'bare') continue;
      if (kind === 'first') await stage.touch(peer);
      const before = await callsOf(stage);
      const found = await list(stage, version, objects);
      if (round < 0) continue;
      result[key].push(found.ms);
      bytes = found.bytes;
      if (key === 'otherMs') calls = (await callsOf(stage)) - before;
    }
  return { kind, ...result, bytes, calls };
}

/** Reads the list to its end, without parsing it. */
async function list({ client }: Stage, version: string, objects: number) {
  const startMs = performance.now();
  for (;;) {
    const stream = await client.openStream({ method: 'GET', path: samplesIn(version) });
    let bytes = 0;
    let last = '';
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      last = chunk.toString('latin1').slice(-20);
    }
    // 429: the cache is being filled.
    if (stream.statusCode === 429) {
      await client.sleep(100);
      continue;
    }
    if (stream.statusCode !== 200 || bytes < objects * 500)
      throw new Error(`A list has status ${stream.statusCode} and ${bytes} bytes: ${last}`);
    return { ms: performance.now() - startMs, bytes };
  }
}
