import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../isolation/neighbours.ts';
import { MeasuredApi } from './measured-api.ts';
import { namesOf, objectsPath, pathOf } from './objects.ts';
import { type HttpStage, untilReady } from './stage.ts';

const healthy = 20;
const objectsOfDead = 50;
const editEveryMs = 50;
const limitMs = 60_000;
/** Of requests: the default of an endpoint. */
const timeoutMs = 10_000;

interface DeadEndpointOptions {
  /** Of one series. */
  readonly edits: number;
  readonly reps: number;
  /** Objects that are ready before. */
  readonly ready: number;
}

/** From an edit of an object of a healthy endpoint until the API has its value, in ms, ascending. */
export interface DeadEndpointResult {
  readonly alone: readonly number[];
  readonly besideDead: readonly number[];
}

/** Edits objects of 20 endpoints, without and with an endpoint beside them that accepts connections and never answers, in turns. */
export async function measureDeadEndpoint(
  stage: HttpStage,
  { edits, reps, ready }: DeadEndpointOptions,
): Promise<DeadEndpointResult> {
  const dead = await MeasuredApi.start({ delayMs: Number.POSITIVE_INFINITY });
  const homeostat = await stage.launch([dead.port]);
  const names = namesOf('healthy', healthy);
  const result = { alone: [] as number[], besideDead: [] as number[] };
  try {
    await inParallel(names, (name) => stage.addEndpoint(name));
    await inParallel(names, (name) =>
      stage.create([name], { of: name, value: 'first', every: '0' }),
    );
    await untilReady(homeostat, ready + healthy);
    await editAll(stage, names, { edits: healthy * 2, turn: 'warm' });
    await stage.addEndpoint('dead', dead.url);
    for (let rep = 0; rep < reps; rep++) {
      result.alone.push(...(await editAll(stage, names, { edits, turn: `alone-${rep}` })));
      // New ones in each turn: their backoff has not begun.
      const waiting = namesOf(`waiting-${rep}`, objectsOfDead);
      const before = dead.requests;
      await stage.create(waiting, { of: 'dead', value: 'a', every: '0' });
      while (dead.requests === before) await sleep(50);
      result.besideDead.push(...(await editAll(stage, names, { edits, turn: `beside-${rep}` })));
      await inParallel(waiting, (name) => stage.pause(name));
      await sleep(timeoutMs);
    }
  } finally {
    await homeostat.stop();
    await dead.stop();
  }
  for (const all of Object.values(result)) all.sort((a, b) => a - b);
  return result;
}

/** Edits the objects in turns, at a fixed pace. An object is not edited before its last edit has arrived: the API would see the later one only. */
async function editAll(
  stage: HttpStage,
  names: readonly string[],
  { edits, turn }: { readonly edits: number; readonly turn: string },
): Promise<readonly number[]> {
  const lastOf = new Map<string, Promise<number>>();
  const found: Promise<number>[] = [];
  for (let edit = 0; edit < edits; edit++) {
    const name = names[edit % names.length] ?? '';
    await lastOf.get(name);
    const arriving = editOne(stage, name, `${turn}-${edit}`);
    lastOf.set(name, arriving);
    found.push(arriving);
    await sleep(editEveryMs);
  }
  return Promise.all(found);
}

async function editOne({ client, api }: HttpStage, name: string, value: string): Promise<number> {
  const startMs = performance.now();
  await client.patch(`${objectsPath}/${name}`, { spec: { desired: { value } } });
  for (;;) {
    const arrivedMs = api.arrivedMs(pathOf(name), value);
    if (arrivedMs !== undefined) return arrivedMs - startMs;
    if (performance.now() - startMs > limitMs) throw new Error(`"${value}" has not arrived`);
    await sleep(1);
  }
}
