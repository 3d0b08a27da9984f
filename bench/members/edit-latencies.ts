import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../test/support/control-plane/index.ts';
import { ChildWatch } from '../isolation/child-watch.ts';
import { type BenchKind, bodyOf, collectionOf } from '../isolation/definitions.ts';

const perMember = 20;
const everyMs = 50;
const limitMs = 60_000;

/** Names of the resources in each member. */
export const resourceNames = Array.from({ length: perMember }, (_, index) => `late-${index}`);

/** Edits resources in members, in turns, and measures when their children have changed. */
export class EditLatencies {
  readonly #kind: BenchKind;
  readonly #members: readonly ControlPlane[];
  readonly #watches: readonly ChildWatch[];
  #turn = 0;

  constructor(kind: BenchKind, members: readonly ControlPlane[]) {
    this.#kind = kind;
    this.#members = members;
    this.#watches = members.map((member) => new ChildWatch(member.client()));
  }

  async start(): Promise<void> {
    for (const watch of this.#watches) await watch.start();
  }

  async stop(): Promise<void> {
    for (const watch of this.#watches) await watch.stop();
  }

  /** One series of edits: from each edit until its child has changed, in ms, ascending. */
  async measure(edits: number): Promise<readonly number[]> {
    const found: Promise<number>[] = [];
    for (let count = 0; count < edits; count++) {
      found.push(this.#edit());
      await sleep(everyMs);
    }
    return (await Promise.all(found)).sort((a, b) => a - b);
  }

  async #edit(): Promise<number> {
    const index = this.#turn % this.#members.length;
    const name = resourceNames[Math.floor(this.#turn / this.#members.length) % perMember] ?? '';
    const value = `turn-${this.#turn++}`;
    const path = `${collectionOf(this.#kind)}/${name}`;
    await this.#members[index]?.client().patch(path, { spec: { value } });
    const startMs = performance.now();
    for (;;) {
      const seenMs = this.#watches[index]?.seenMs(name, value);
      if (seenMs !== undefined) return Math.max(0, seenMs - startMs);
      if (performance.now() - startMs > limitMs) throw new Error(`"${value}" was not seen`);
      await sleep(1);
    }
  }
}

/** Creates the resources of a kind that is served everywhere. */
export async function createResources(
  kind: BenchKind,
  members: readonly ControlPlane[],
): Promise<void> {
  for (const member of members) {
    await member.client().untilList(`/apis/${kind.group}/v1/things`, () => true);
    for (const name of resourceNames)
      await member.client().create(collectionOf(kind), bodyOf(kind, name, 'a'));
  }
}
