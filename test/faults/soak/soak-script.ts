import { setTimeout as sleep } from 'node:timers/promises';
import { PlaneRequestError } from '../../support/control-plane/index.ts';
import type { SeededRandom } from '../../support/model/seeded-random.ts';
import { onRequest, writes } from '../fault-case.ts';
import type { Lane } from '../lane.ts';
import {
  applyStubbornly,
  configMapPath,
  type Place,
  pathOfResource,
  resourceOf,
  settingsOf,
} from '../subject.ts';
import { randomFaults } from './random-faults.ts';
import { randomWish, resourceNames, type Wishes, wantedChildren, withWish } from './wishes.ts';

export interface SoakScriptOptions {
  readonly lane: Lane;
  readonly place: Place;
  readonly random: SeededRandom;
  /** What users want when it begins. */
  readonly wishes: Wishes;
}

type Step = (script: SoakScript) => Promise<void>;

/** Users, meddlers and faults, as the seed decides, against one place and its runtime. */
export class SoakScript {
  readonly lane: Lane;
  readonly place: Place;
  readonly random: SeededRandom;
  #wishes: Wishes;
  #alwaysWanted: ReadonlySet<string>;
  /** Children that somebody else has deleted. */
  readonly #taken = new Set<string>();
  #snapshot: { readonly folder: string; readonly wishes: Wishes } | undefined;
  #hasGoneBack = false;
  #killing: Promise<void> = Promise.resolve();
  readonly #log: string[] = [];

  constructor({ lane, place, random, wishes }: SoakScriptOptions) {
    this.lane = lane;
    this.place = place;
    this.random = random;
    this.#wishes = wishes;
    this.#alwaysWanted = wantedChildren(wishes);
  }

  get wishes(): Wishes {
    return this.#wishes;
  }

  /** The steps taken. */
  get log(): readonly string[] {
    return this.#log;
  }

  /** Children that were wanted all the time: the runtime has no reason to delete one. */
  get alwaysWanted(): ReadonlySet<string> {
    return this.#alwaysWanted;
  }

  /** Those of them that no other client has deleted either: they must still be the same ones. */
  get untouched(): ReadonlySet<string> {
    return new Set([...this.#alwaysWanted].filter((key) => !this.#taken.has(key)));
  }

  /** Was etcd restored? Then what was made since its snapshot is gone. */
  get hasGoneBack(): boolean {
    return this.#hasGoneBack;
  }

  /** So many steps with pauses between them; then all faults end, and a process is there. */
  async run(steps: number): Promise<void> {
    try {
      for (let step = 0; step < steps; step++) {
        const [name, act] = this.random.pick(allSteps) as (typeof allSteps)[number];
        this.note(name);
        await act(this);
        await sleep(this.random.below(300));
      }
    } finally {
      this.lane.proxy.clear();
      await this.#killing;
    }
  }

  note(text: string): void {
    this.#log.push(text);
  }

  wish(wishes: Wishes): void {
    this.#wishes = wishes;
    const wanted = wantedChildren(wishes);
    this.#alwaysWanted = new Set([...this.#alwaysWanted].filter((key) => wanted.has(key)));
  }

  take(key: string): void {
    this.#taken.add(key);
  }

  /** SIGKILL and another process. One at a time. */
  kill(): Promise<void> {
    this.#killing = this.#killing.then(async () => {
      await this.lane.kill();
      this.lane.startAgain();
    });
    return this.#killing;
  }

  async snapshotEtcd(): Promise<void> {
    this.#snapshot = { folder: await this.lane.plane.snapshotEtcd(), wishes: this.#wishes };
  }

  /** Back to the snapshot of this script, if there is one. */
  async restoreEtcd(): Promise<void> {
    if (this.#snapshot === undefined) return;
    await this.lane.plane.restoreEtcd(this.#snapshot.folder);
    this.wish(this.#snapshot.wishes);
    this.#hasGoneBack = true;
  }
}

const steps: readonly (readonly [weight: number, name: string, step: Step])[] = [
  [16, 'edit', edit],
  [5, 'delete', remove],
  [3, 'replace', replace],
  [3, 'settings', changeSettings],
  [12, 'meddle', meddle],
  [6, 'faults', injectFaults],
  [3, 'no faults', clearFaults],
  [2, 'cut all connections', cutAll],
  [2, 'reject connections', reject],
  [2, 'kill now', (script) => script.kill()],
  [2, 'kill at a write', killAtWrite],
  [2, 'stall', stall],
  [1, 'kill the API server', (script) => script.lane.plane.restartApiServer(0)],
  [1, 'snapshot of etcd', (script) => script.snapshotEtcd()],
  [1, 'restore etcd', (script) => script.restoreEtcd()],
];

const allSteps = steps.flatMap(([weight, name, step]) =>
  Array.from({ length: weight }, () => [name, step] as const),
);

async function edit(script: SoakScript): Promise<void> {
  const { random, place } = script;
  const name = random.pick(resourceNames) ?? '';
  const wish = randomWish(random);
  script.note(`  ${name} ${JSON.stringify(wish)}`);
  script.wish(withWish(script.wishes, name, wish));
  await applyStubbornly(place.client, resourceOf(place, name, wish));
}

async function remove(script: SoakScript): Promise<void> {
  const name = script.random.pick(resourceNames) ?? '';
  script.note(`  ${name}`);
  script.wish(withWish(script.wishes, name, undefined));
  await stubbornly(() => script.place.client.delete(pathOfResource(script.place, name)));
}

async function replace(script: SoakScript): Promise<void> {
  const { random, place } = script;
  const name = random.pick(resourceNames) ?? '';
  const wish = randomWish(random);
  script.note(`  ${name} ${JSON.stringify(wish)}`);
  script.wish(withWish(script.wishes, name, undefined));
  await stubbornly(() => place.client.delete(pathOfResource(place, name)));
  script.wish(withWish(script.wishes, name, wish));
  await applyStubbornly(place.client, resourceOf(place, name, wish));
}

async function changeSettings(script: SoakScript): Promise<void> {
  const settings = `value ${script.random.below(5)}`;
  script.wish({ ...script.wishes, settings });
  await applyStubbornly(script.place.client, settingsOf(script.place, settings));
}

/**
 * Somebody else changes or deletes a child. Taking our label away is left to the matrix: a child that is not wanted any
 * more before the label is back has no owner among us, and stays until its owner is deleted.
 */
async function meddle(script: SoakScript): Promise<void> {
  const { random, place } = script;
  const key = random.pick([...wantedChildren(script.wishes)]);
  if (key === undefined) return;
  const [plural = '', name = ''] = key.split('/');
  const path =
    plural === 'configmaps'
      ? configMapPath(place, name)
      : `/apis/apps/v1/namespaces/${place.namespace}/deployments/${name}`;
  const what = random.pick(['change', 'delete'] as const);
  script.note(`  ${what} ${key}`);
  if (what === 'delete') script.take(key);
  await stubbornly(async () => {
    if (what === 'delete') return place.client.delete(path);
    return place.client.patch(path, plural === 'configmaps' ? otherData : otherReplicas);
  });
}

const otherData = { data: { greeting: null, part: null } };
const otherReplicas = { spec: { replicas: 1 } };

async function injectFaults(script: SoakScript): Promise<void> {
  for (const fault of randomFaults(script.random)) {
    script.note(`  ${fault.name}`);
    script.lane.proxy.inject(fault);
  }
}

async function clearFaults({ lane }: SoakScript): Promise<void> {
  lane.proxy.clear();
}

async function cutAll({ lane }: SoakScript): Promise<void> {
  lane.proxy.cutAll();
}

async function reject({ lane, random }: SoakScript): Promise<void> {
  await lane.proxy.reject();
  await sleep(random.below(3_000));
  await lane.proxy.accept();
}

async function killAtWrite(script: SoakScript): Promise<void> {
  const { lane, random } = script;
  const fate = random.pick(['forward', 'drop'] as const) ?? 'drop';
  lane.proxy.inject(
    onRequest(
      'kill',
      {
        kind: 'call',
        async run() {
          await script.kill();
          return fate;
        },
      },
      { when: writes, after: random.below(8), times: 1 },
    ),
  );
}

async function stall({ lane }: SoakScript): Promise<void> {
  const { pid } = lane.homeostat;
  if (signalIfThere(pid, 'SIGSTOP')) await sleep(1_500);
  signalIfThere(pid, 'SIGCONT');
}

/** False when the process has just been killed. */
function signalIfThere(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Until a server answers; that it is not there, or was changed at the same time, is fine. */
async function stubbornly(request: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      await request();
      return;
    } catch (error) {
      if (error instanceof PlaneRequestError && [404, 409].includes(error.status)) return;
      if (performance.now() > deadline) throw error;
      await sleep(100);
    }
  }
}
