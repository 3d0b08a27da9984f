import assert from 'node:assert/strict';
import { Controller, type Outcome, type Priority } from '../../../src/controller/index.ts';
import type { LocatedDefinition, RolloutOptions } from '../../../src/definition/index.ts';
import type { DoomedObject, Operator } from '../../../src/reconcile/index.ts';
import {
  type Edition,
  type EditionHooks,
  type RolloutNews,
  Switchboard,
} from '../../../src/runtime/rollout/index.ts';
import { gvkOf } from '../../../src/util/gvk.ts';
import type { KubeObject } from '../../../src/util/kube-object.ts';
import { definitionParser } from '../definition-parser.ts';
import { thingDefinition } from '../definitions.ts';
import { FakeClock, settle } from '../fake-clock.ts';
import { freshMetrics, silentLogger } from '../silent-telemetry.ts';

/** A pass, as an operator of one revision has run it. */
export interface RanPass {
  readonly key: string;
  readonly uid: string;
  readonly revision: string;
  /** How many times the resource had been edited when the pass began. */
  readonly generation: number;
  /** Which text was the newest then. */
  readonly newest: string;
}

/** What a revision does to a resource. */
export interface Behaviour {
  readonly fails?: (key: string) => boolean;
  /** Objects that it does not want any more. */
  readonly deletes?: (key: string) => readonly string[];
}

/** A text of one definition; texts with other words have other revisions. */
export function textOf(word: string, rollout: Partial<RolloutOptions> = {}): LocatedDefinition {
  const body = `  vars: { word: ${word} }\n  controller: { rollout: ${JSON.stringify(rollout)} }\n`;
  const { definitions, diagnostics } = definitionParser.parse(
    thingDefinition('thing', body),
    'thing.yaml',
  );
  assert.deepEqual(diagnostics, []);
  const [located] = definitions;
  assert.ok(located);
  return located;
}

/** Resources, and operators that do nothing but say that they were there: what is tested is whose turn it is. */
export class RolloutWorld {
  readonly clock = new FakeClock();
  readonly resources = new Map<string, KubeObject>();
  readonly passes: RanPass[] = [];
  readonly news: RolloutNews[] = [];
  readonly wordOf = new Map<string, string>();
  readonly board: Switchboard;
  readonly controller: Controller;
  /** Awaited in the middle of every pass. */
  pace: (key: string) => Promise<void> = () => Promise.resolve();
  /** How many passes of one key run, of all operators together. */
  readonly running = new Map<string, number>();
  readonly live = new Set<string>();
  /** How often all was the newest revision's. */
  settled = 0;
  readonly deleted = new Set<string>();
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #listeners = new Map<string, EditionHooks['enqueue']>();
  #uids = 0;
  readonly #stopper = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(concurrency = 4) {
    this.board = new Switchboard({
      clock: this.clock,
      enqueue: (key: string, priority: Priority) => this.controller.enqueue(key, priority),
      passesEnded: () => this.controller.passesEnded(),
      mayWork: () => this.#ended !== undefined,
      onNews: (news) => this.news.push(news),
      onChange: () => undefined,
      onBug: (error) => assert.fail(error as Error),
      onSettled: () => {
        this.settled += 1;
      },
    });
    this.controller = new Controller({
      name: 'thing',
      reconciler: this.board,
      clock: this.clock,
      metrics: freshMetrics(),
      logger: silentLogger(),
      concurrency,
    });
  }

  get newest(): string {
    return this.wordOf.get(this.board.newest.revision) ?? '';
  }

  create(key: string, revision?: string): void {
    const metadata = { name: key, uid: `u${this.#uids++}`, generation: 1 };
    const status = revision === undefined ? {} : { status: { definitionRevision: revision } };
    this.#store(key, { apiVersion: 'example.com/v1', kind: 'Thing', metadata, ...status });
  }

  edit(key: string): void {
    const old = this.resources.get(key);
    if (old === undefined) return;
    const generation = (old.metadata.generation ?? 0) + 1;
    this.#store(key, { ...old, metadata: { ...old.metadata, generation } });
  }

  delete(key: string): void {
    if (!this.resources.delete(key)) return;
    this.wake(key);
  }

  /** An event of a child, say. */
  wake(key: string): void {
    for (const enqueue of [...this.#listeners.values()]) enqueue(key, 'normal');
  }

  edition(word: string, rollout?: Partial<RolloutOptions>, behaviour: Behaviour = {}): Edition {
    const located = textOf(word, rollout);
    const { revision } = located.definition;
    this.wordOf.set(revision, word);
    this.#behaviours.set(revision, behaviour);
    const id = `${word} ${this.#uids++}`;
    const edition = this.board.createEdition(located, (hooks) =>
      this.#operator({ id, word, revision }, hooks),
    );
    // As a watch that is shared and synced does.
    for (const key of this.resources.keys()) this.#listeners.get(id)?.(key, 'low');
    return edition;
  }

  begin(): void {
    this.#ended = this.controller.run(this.#stopper.signal);
    this.board.proceed();
  }

  /** Lets all go on that needs no time. */
  async calm(): Promise<void> {
    for (let rounds = 0; rounds < 30; rounds++) await settle();
  }

  async stop(): Promise<void> {
    this.#stopper.abort(new Error('The test is over'));
    await this.#ended;
    this.board.stop();
  }

  #store(key: string, object: KubeObject): void {
    this.resources.set(key, object);
    this.wake(key);
  }

  #operator(
    {
      id,
      word,
      revision,
    }: { readonly id: string; readonly word: string; readonly revision: string },
    hooks: EditionHooks,
  ): Operator {
    this.live.add(id);
    this.#listeners.set(id, hooks.enqueue);
    const world = this;
    const behaviour = () => this.#behaviours.get(revision) ?? {};
    const doomed = (key: string): readonly DoomedObject[] =>
      (behaviour().deletes?.(key) ?? [])
        .filter((uid) => !this.deleted.has(uid))
        .map((uid) => ({
          ref: { gvk: gvkOf('v1', 'ConfigMap'), name: uid },
          uid,
          childId: 'child',
        }));
    return {
      start: async () => undefined,
      stop: () => {
        this.live.delete(id);
        this.#listeners.delete(id);
      },
      startPreview: () => ({
        of: async (key) => ({ deletes: doomed(key), creates: 0, applies: 0, isComplete: true }),
        stop: () => undefined,
      }),
      problems: () => [],
      keys: () => this.resources.keys(),
      resource: (key) => this.resources.get(key),
      forget: () => undefined,
      keepFormerKinds: () => undefined,
      hasChildren: () => false,
      get instances() {
        return world.resources.size;
      },
      leftInPlace: 0,
      readiness: () => ({ ready: 0, unready: 0, unknown: 0 }),
      async reconcile(key, { signal }): Promise<Outcome> {
        assert.ok(world.live.has(id), `a pass with ${word}, which is not at work any more`);
        const resource = world.resources.get(key);
        if (resource === undefined) return { kind: 'done' };
        const { uid = '', generation = 0 } = resource.metadata;
        world.passes.push({ key, uid, revision: word, generation, newest: world.newest });
        const running = world.running.get(key) ?? 0;
        assert.equal(running, 0, `two passes of ${key}`);
        world.running.set(key, 1);
        await world.pace(key);
        world.running.delete(key);
        signal.throwIfAborted();
        const goes = doomed(key);
        const why = goes.length === 0 ? undefined : hooks.deletionGuard.whyNot(key, goes);
        if (why === undefined) hooks.deletionGuard.settled(key);
        if (why === undefined) for (const { uid } of goes) world.deleted.add(uid);
        const fails = behaviour().fails?.(key) === true;
        const now = world.resources.get(key);
        if (now !== undefined && now.metadata.uid === uid)
          world.resources.set(key, { ...now, status: { definitionRevision: revision } });
        hooks.onDecisions(key, {
          children: [],
          status: 'written',
          isReady: !fails,
          problemCodes: fails ? ['rejected'] : [],
        });
        return fails
          ? { kind: 'failed', afterMs: 600_000, reason: 'ApplyFailed' }
          : { kind: 'done' };
      },
    };
  }
}
