import assert from 'node:assert/strict';
import type { OperatorPlan } from '#compile';
import { Controller, type Priority, type ReconcileResult } from '#controller';
import type { LocatedDefinition, RolloutOptions } from '#definition';
import type { DeletionGuard, Operator, PruneCandidate } from '#reconcile';
import type { RevisionOperator, RevisionOperatorHooks } from '#runtime/revision-operator.ts';
import type { RolloutEvent } from '#runtime/rollout/rollout.ts';
import { type RolloutRecord, rolloutRecordOf } from '#runtime/rollout/rollout-view.ts';
import { RevisionOperators } from '#runtime/running/revision-operators.ts';
import { silentLogger as silent } from '#telemetry/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { definitionParser } from '../definition-parser.ts';
import { thingDefinition } from '../definitions.ts';
import { FakeClock, settle } from '../fake-clock.ts';
import { freshMetrics, silentLogger } from '../silent-telemetry.ts';

/** The operators of the harness do not use their plans. */
const samplePlan = {} as OperatorPlan;

/** A pass, as an operator of one revision has run it. */
export interface RanPass {
  readonly key: string;
  readonly uid: string;
  readonly revision: string;
  /** How many times the resource had been edited when the pass began. */
  readonly generation: number;
  /** Which text was the newest then. */
  readonly newest: string;
  /** Which process ran it: so many have ended before. */
  readonly process: number;
  /** Undefined: it runs. One that is aborted is not there any more, for it has done nothing. */
  outcome?: 'succeeded' | 'failed';
}

/** What a revision does to a resource. */
export interface Behaviour {
  readonly fails?: (key: string) => boolean;
  /** Objects that it does not want any more. */
  readonly deletes?: (key: string) => readonly string[];
}

/** A text of one definition; texts with other words have other revisions. */
export function textOf(
  word: string,
  rollout: Partial<RolloutOptions> = {},
  reports = true,
): LocatedDefinition {
  const body = `  vars: { word: ${word} }\n  controller: { rollout: ${JSON.stringify(rollout)} }\n`;
  const text = reports ? thingDefinition('thing', body) : foreignDefinition(body);
  const { definitions, diagnostics } = definitionParser.parse(text, 'thing.yaml');
  assert.deepEqual(diagnostics, []);
  const [located] = definitions;
  assert.ok(located);
  return located;
}

function foreignDefinition(body: string): string {
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: thing }
spec:
  for: { apiVersion: thing.example.com/v1, kind: Thing, selector: { matchLabels: { a: b } } }
${body}`;
}

export interface RolloutHarnessOptions {
  /** @default 4 */
  readonly concurrency?: number;
  /** False: of a kind whose status is not ours. @default true */
  readonly reports?: boolean;
}

/** Resources, and operators that do nothing but say that they were there: what is tested is whose turn it is. */
export class RolloutHarness {
  readonly clock = new FakeClock();
  readonly resources = new Map<string, KubeObject>();
  readonly passes: RanPass[] = [];
  readonly news: RolloutEvent[] = [];
  readonly wordOf = new Map<string, string>();
  board: RevisionOperators;
  controller: Controller;
  /** Awaited in the middle of every pass. */
  pace: (key: string) => Promise<void> = () => Promise.resolve();
  /** How many passes of one key run, of all operators together. */
  readonly running = new Map<string, number>();
  readonly live = new Set<string>();
  /** How often all was the newest revision's. */
  settled = 0;
  readonly deleted = new Set<string>();
  /** Keys of resources with children. */
  readonly parents = new Set<string>();
  /** Called before a pass deletes something. */
  onDelete: (key: string, word: string) => void = () => undefined;
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #listeners = new Map<string, RevisionOperatorHooks['enqueue']>();
  readonly #revisionOperators = new Map<string, () => RevisionOperator>();
  readonly #options: Required<RolloutHarnessOptions>;
  #uids = 0;
  #processes = 0;
  #stopper = new AbortController();
  #ended: Promise<void> | undefined;

  constructor({ concurrency = 4, reports = true }: RolloutHarnessOptions = {}) {
    this.#options = { concurrency, reports };
    this.board = this.#createBoard();
    this.controller = this.#createController();
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

  /** What a pass writes into the status of the resource. */
  report(key: string, definitionRevision: string, fails: boolean): void {
    const resource = this.resources.get(key);
    assert.ok(resource);
    const conditions = [{ type: 'Stalled', status: fails ? 'True' : 'False' }];
    this.resources.set(key, { ...resource, status: { definitionRevision, conditions } });
  }

  /** Somebody deletes it, and a finalizer keeps it. */
  terminate(key: string): void {
    const old = this.resources.get(key);
    if (old === undefined) return;
    const generation = (old.metadata.generation ?? 0) + 1;
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    this.#store(key, { ...old, metadata: { ...old.metadata, generation, deletionTimestamp } });
  }

  /** An event of a child, say. */
  wake(key: string): void {
    for (const enqueue of [...this.#listeners.values()]) enqueue(key, 'normal');
  }

  revisionOperator(
    word: string,
    rollout?: Partial<RolloutOptions>,
    behaviour: Behaviour = {},
  ): RevisionOperator {
    const located = textOf(word, rollout, this.#options.reports);
    const { revision } = located.definition;
    this.wordOf.set(revision, word);
    this.#behaviours.set(revision, behaviour);
    this.#revisionOperators.set(word, () => this.revisionOperator(word, rollout, behaviour));
    const id = `${word} ${this.#uids++}`;
    const prepared = { located, plan: samplePlan, unknownKinds: [], previousKinds: [] };
    const revisionOperator = this.board.create(prepared, (hooks) =>
      this.#operator({ id, word, revision }, hooks),
    );
    // As a watch that is shared and synced does.
    for (const key of this.resources.keys()) this.#listeners.get(id)?.(key, 'low');
    return revisionOperator;
  }

  begin(): void {
    this.#ended = this.controller.run(this.#stopper.signal);
    this.board.resume();
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

  /**
   * Ends the process and begins another one, which has nothing but the texts and the record of the roll-out. Killed, its passes come to
   * nothing; otherwise they end first.
   */
  async restart(isKilled: boolean): Promise<RolloutRecord | undefined> {
    const words = this.board.all.map(({ revision }) => this.wordOf.get(revision) ?? '');
    if (isKilled) this.controller.pause();
    this.#stopper.abort(new Error('The process ends'));
    await this.#ended;
    const { rollout: view } = this.board.shown;
    const record = view && rolloutRecordOf(view);
    this.board.stop();
    assert.deepEqual([...this.live], []);
    this.#processes += 1;
    this.#stopper = new AbortController();
    this.#ended = undefined;
    this.board = this.#createBoard();
    this.controller = this.#createController();
    const [newest, ...older] = words.map(
      (word) => this.#revisionOperators.get(word)?.() ?? assert.fail(),
    );
    assert.ok(newest);
    this.board.start(newest, older, record);
    this.begin();
    return record;
  }

  #createBoard(): RevisionOperators {
    return new RevisionOperators({
      clock: this.clock,
      logger: { ...silent, error: () => assert.fail('A preview has failed') },
      enqueue: (key: string, priority: Priority) => this.controller.enqueue(key, priority),
      passesEnded: () => this.controller.passesEnded(),
      canReconcile: () => this.#ended !== undefined,
      onEvent: (news) => this.news.push(news),
      onChange: () => undefined,
      onSettled: () => {
        this.settled += 1;
      },
    });
  }

  #createController(): Controller {
    return new Controller({
      name: 'thing',
      reconciler: this.board,
      clock: this.clock,
      metrics: freshMetrics(),
      logger: silentLogger(),
      concurrency: this.#options.concurrency,
    });
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
    hooks: RevisionOperatorHooks,
  ): Operator {
    this.live.add(id);
    this.#listeners.set(id, hooks.enqueue);
    const harness = this;
    const behaviour = () => this.#behaviours.get(revision) ?? {};
    let guard: DeletionGuard | undefined;
    const doomed = (key: string): readonly PruneCandidate[] =>
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
      guardDeletions: (next) => {
        guard = next;
      },
      retainPreviousKinds: () => undefined,
      hasChildren: () => false,
      hasChildrenOf: (key) => this.parents.has(key),
      get instances() {
        return harness.resources.size;
      },
      unmatchedInstances: 0,
      readiness: () => ({ ready: 0, unready: 0, unknown: 0 }),
      async reconcile(key, { signal }): Promise<ReconcileResult> {
        assert.ok(harness.live.has(id), `a pass with ${word}, which is not at work any more`);
        const resource = harness.resources.get(key);
        if (resource === undefined) return { kind: 'done' };
        const { uid = '', generation = 0 } = resource.metadata;
        const { newest } = harness;
        const pass: RanPass = {
          key,
          uid,
          revision: word,
          generation,
          newest,
          process: harness.#processes,
        };
        harness.passes.push(pass);
        const running = harness.running.get(key) ?? 0;
        assert.equal(running, 0, `two passes of ${key}`);
        harness.running.set(key, 1);
        await harness.pace(key);
        harness.running.delete(key);
        if (signal.aborted) harness.passes.splice(harness.passes.indexOf(pass), 1);
        signal.throwIfAborted();
        const deleted = doomed(key);
        const why = deleted.length === 0 ? undefined : guard?.blockingReason(key, deleted);
        if (why === undefined) guard?.onConverged(key);
        if (why === undefined && deleted.length > 0) harness.onDelete(key, word);
        if (why === undefined) for (const { uid } of deleted) harness.deleted.add(uid);
        const fails = behaviour().fails?.(key) === true;
        pass.outcome = fails ? 'failed' : 'succeeded';
        const now = harness.resources.get(key);
        if (harness.#options.reports && now?.metadata.uid === uid)
          harness.report(key, revision, fails);
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
